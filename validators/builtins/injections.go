package builtins

import (
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/validators/reading"
)

// An injection is a phrase as a sequence of word sets: one word of each, in
// this order, with at most gap others between two.
type injection struct {
	words [][]string
	gap   int
	order bool // it is one only where an order begins: what directives override, and what you did not follow, is told
}

func phrase(gap int, sets ...string) injection {
	words := make([][]string, len(sets))
	for i, set := range sets {
		for word := range strings.FieldsSeq(set) {
			words[i] = append(words[i], plainWord(word))
		}
	}
	return injection{words: words, gap: gap}
}

func order(gap int, sets ...string) injection {
	p := phrase(gap, sets...)
	p.order = true
	return p
}

// leading are words that an order begins behind.
var leading = strings.Fields("please and then now just so but must kindly immediately simply instead also always")

// ordering tells whether an order may begin behind a word and what stands between.
func ordering(before, between string) bool {
	return before == "" || strings.Trim(between, " \t\r\n*_`") != "" || strings.Contains(between, "\n\n") || slices.Contains(leading, before)
}

// injectionPhrases are what attempts to override a prompt say. They are few
// and need several words each, so that ordinary prose does not say them.
var injectionPhrases = sync.OnceValue(func() []injection {
	const (
		ignore = "ignore disregard forget"
		except = "override bypass"
		former = "previous prior earlier preceding above"
		orders = "instructions instruction prompt prompts directions directives"
	)
	return append(translated(),
		phrase(3, ignore, former, orders),
		order(3, except, former, orders),
		phrase(3, except, "all any every your my", former, orders),
		phrase(1, ignore, "all any every the my your", orders, "above before previously"),
		order(1, except, "all any every the my your", orders, "above before previously"),
		phrase(1, "ignore disregard", "all any", former, "guidelines rules messages"),
		phrase(0, "ignore disregard", "your", "instructions rules guidelines programming"),
		phrase(1, ignore+" "+except, "your the", "system", "prompt instructions"),
		phrase(0, "ignore disregard forget", "everything", "above before previously"),
		order(2, "don't", "follow obey", former, orders),
		order(2, "do", "not", "follow obey", former, orders),
		phrase(2, "must should shall", "not", "follow obey", former, orders),
		phrase(1, "reveal show print repeat output display leak disclose", "your", "system hidden initial original secret", "prompt instructions"),
		phrase(0, "reveal show print repeat output display leak disclose", "the", "system", "prompt"),
		phrase(0, "you", "are", "now", "dan jailbroken unrestricted unfiltered"),
		phrase(1, "you", "are", "now", "in", "developer god dan jailbreak debug", "mode"),
		phrase(1, "pretend act", "you", "have", "no", "restrictions rules guidelines limits filters"),
	)
})

// injections finds the phrases, each within a sentence. Each is reported where
// it stands first.
func injections(found *findings, text string) {
	phrases := injectionPhrases()
	tries := make([]try, len(phrases))
	starts := firstWords()
	done := make([]bool, len(phrases))
	end, before := 0, ""
	for at, word := range words(text) {
		between := text[end:at]
		if between != " " && strings.ContainsAny(between, ".!?;。！？；") {
			clear(tries)
		}
		end = at + len(word)
		word = plainWord(word)
		for i := range phrases {
			if tries[i].matched == 0 || done[i] {
				continue
			}
			if tries[i].next(phrases[i], word); tries[i].matched == len(phrases[i].words) {
				done[i] = true
				found.add(lineAt(text, tries[i].start), "the text tries to override instructions: %s", quote(text[tries[i].start:end]))
			}
		}
		for _, i := range starts[word] {
			if !phrases[i].order || ordering(before, between) {
				tries[i] = try{start: at, matched: 1}
			}
		}
		before = word
	}
}

// plainWord is a word as the phrases have it, and as a reader sees it; none of
// theirs is long.
func plainWord(word string) string {
	if len(word) < 80 && strings.ContainsFunc(word, func(r rune) bool { return r >= utf8.RuneSelf && r != '’' }) {
		word = reading.Visible(word)
	}
	if len(word) > 30 {
		return "-"
	}
	return strings.ReplaceAll(strings.ToLower(word), "’", "'")
}

// firstWords are the phrases that begin with a word.
var firstWords = sync.OnceValue(func() map[string][]int {
	starts := map[string][]int{}
	for i, p := range injectionPhrases() {
		for _, word := range p.words[0] {
			starts[word] = append(starts[word], i)
		}
	}
	return starts
})

// A try is a phrase half read.
type try struct{ start, matched, skipped int }

// next goes on with the next word, or gives up.
func (t *try) next(p injection, word string) {
	if slices.Contains(p.words[t.matched], word) {
		t.matched, t.skipped = t.matched+1, 0
		return
	}
	if t.skipped++; t.skipped > p.gap {
		t.matched = 0
	}
}
