package journal

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/runner/event"
)

// A Hit is where a run has the words of a [Filter] first, and what stands around
// them: in the input of a run_started, in what a model was asked (model_called) or
// said (model_replied), in a verdict, in an output.
type Hit struct {
	Seq    int64      `json:"seq"`
	Kind   event.Kind `json:"kind"`
	Path   event.Path `json:"path,omitempty"`
	Phase  string     `json:"phase,omitempty"`
	Before string     `json:"before"` // on one line; it begins with … where more is before it
	Words  string     `json:"words"`  // as they stand there
	After  string     `json:"after"`
}

// Place is the phase, where there is one, and what of it has the words.
func (h Hit) Place() string {
	what, ok := map[event.Kind]string{
		event.RunStarted: "input", event.ModelCalled: "asked", event.ModelReplied: "reply", event.ToolCalled: "call of a tool",
		event.ToolReplied: "result of a tool", event.AttemptFinished: "text", event.PhaseFinished: "output", event.RunFinished: "output",
		event.Waiting: "question", event.Answered: "answer",
	}[h.Kind]
	if !ok {
		what = strings.ReplaceAll(string(h.Kind), "_", " ")
	}
	if phase := cmp.Or(h.Phase, h.Path.First()); phase != "" {
		return phase + ", " + what
	}
	return what
}

// fold gives a text of which another that differs in its case alone gives the same,
// with as many characters.
func fold(text string) string {
	return strings.Map(func(r rune) rune {
		if r <= unicode.MaxASCII {
			if 'a' <= r && r <= 'z' {
				r -= 'a' - 'A'
			}
			return r
		}
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, text)
}

// locate finds folded words in a text: the byte of the text where they begin, -1 for
// none, and how many bytes of it they are.
func locate(text, words string) (at, n int) {
	folded := fold(text)
	i := strings.Index(folded, words)
	if i < 0 {
		return -1, 0
	}
	at = skip(text, utf8.RuneCountInString(folded[:i]))
	return at, skip(text[at:], utf8.RuneCountInString(words))
}

// skip is where a text goes on behind some of its characters.
func skip(text string, characters int) int {
	for i := range text {
		if characters--; characters < 0 {
			return i
		}
	}
	return len(text)
}

// shownAround is how many bytes are shown on either side of the words, and at most of them.
const shownAround = 60

// around is what stands in a text around a part of it.
func around(text string, at, n int) (before, words, after string) {
	from, to := max(0, at-shownAround), min(len(text), at+n+shownAround)
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	before, words, after = text[from:at], text[at:at+n], text[at+n:to]
	if from > 0 {
		before = "…" + before
	}
	if to < len(text) {
		after += "…"
	}
	return before, words, after
}

// onOneLine has a blank for each run of white space.
func onOneLine(text string) string {
	var b strings.Builder
	blank := false
	for _, r := range text {
		if space := unicode.IsSpace(r); !space {
			b.WriteRune(r)
			blank = false
		} else if !blank {
			b.WriteByte(' ')
			blank = true
		}
	}
	return b.String()
}
