package markers

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/seed61713e19/capstan/validators/patterns"
)

// gapWord is what a gap marker is called where the policy does not say.
const gapWord = "GAP"

// maxParagraph is the longest paragraph in which markers are looked for that are
// not called by the policy's word, in bytes.
const maxParagraph = 64 << 10

// MaxFormat is the longest mark_format that anybody should give, in bytes.
const MaxFormat = 300

// A Format is how a gap policy wants gaps marked. Make one with [Parse].
type Format struct {
	word   string                // the word of a marker, in lower case
	like   func() *regexp.Regexp // what looks like a marker
	hidden func() *regexp.Regexp // what looks like one that is not to be known for one
	good   *regexp.Regexp        // what is one; nil where the policy does not say
}

var (
	placeholder = patterns.Lazy(`<[^<>!/\s][^<>]*>|\{\{?[^{}]*\}?\}|\.\.\.|…`)
	letters     = patterns.Lazy(`\p{L}{2,}`)
	separator   = patterns.Lazy(`^[\s:|/–—-]*`)

	// Those of the word that nearly every policy has: to compile them was a tenth of
	// what it takes to verify a small edit.
	gapLike   = lazily(markerLike, gapWord)
	gapHidden = lazily(markerHidden, gapWord)
)

func lazily(compiled func(word string) *regexp.Regexp, word string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return compiled(word) })
}

// Parse reads a format such as "[GAP: <what is missing>]" or
// "<!-- GAP {id}: {reason} -->", alone or in a sentence. Every text is one: of "",
// and of one that does not say what a marker is, [Format.Says] is false.
func Parse(format string) Format {
	format = strings.TrimSpace(format)
	word := gapWord
	if w := letters().FindString(placeholder().ReplaceAllString(format, " ")); w != "" && !strings.Contains(format, gapWord) {
		word = w
	}
	m := Format{word: strings.ToLower(word), like: gapLike, hidden: gapHidden}
	if word != gapWord {
		m.like, m.hidden = lazily(markerLike, word), lazily(markerHidden, word)
	}
	if format == "" {
		return m
	}
	if loc := m.like().FindStringIndex(format); loc != nil {
		format = strings.TrimLeft(format[loc[0]:], " \t\n,;.")
	}
	m.good = markerPattern(format, word)
	return m
}

// Says tells whether the format says what a marker is; without it none can keep
// to it.
func (m Format) Says() bool { return m.good != nil }

// Named tells whether a word is that of the format's markers.
func (m Format) Named(word string) bool { return m.Says() && strings.EqualFold(word, m.word) }

// markerLike matches what somebody may have meant as a marker: the word behind
// a bracket, or before a colon.
func markerLike(word string) *regexp.Regexp {
	any := regexp.QuoteMeta(word)
	if word != gapWord {
		any += "|" + gapWord
	}
	return regexp.MustCompile(`[\[({<]{1,3}[^\p{L}\p{N}\n]{0,6}(?:(?:` + any + `)(?:[^\p{L}\p{N}]|$)|(?i:` + any + `)[ \t]*:)` +
		`|(?:^|[^\p{L}\p{N}])(?:` + any + `)[ \t]*:`)
}

// markerHidden matches the word in any brackets, in small letters or with its
// letters apart.
func markerHidden(word string) *regexp.Regexp {
	any := apart(word)
	if word != gapWord {
		any += "|" + apart(gapWord)
	}
	return regexp.MustCompile(`(?:[\[({<【〔〖〈《⟦⟨«‹「『]{1,3}|<!--)[^\p{L}\p{N}\n]{0,6}(?i:` + any + `)(?:\s*[\])}>】〕〗〉》⟧⟩»›」』]|[^\p{L}\p{N}]|$)`)
}

// apart matches the letters of a word with a mark between them, or none.
func apart(word string) string {
	var b strings.Builder
	for i, r := range word {
		if i > 0 {
			b.WriteString(`[ ._*/-]?`)
		}
		b.WriteString(regexp.QuoteMeta(string(r)))
	}
	return b.String()
}

// evasions are the marks of a gap that people make where no policy tells them
// how.
var evasions = patterns.Lazy(`\bT[. ]?B[. ]?[DCA]\b|\b(?:TODO|FIXME|XXX+)\b|(?i:\b(?:todo|to do)[ \t]*:)|\?{3,}|[\[(]\?+[\])]` +
	`|(?i:[\[({<【]{0,3}\s*(?:citations?|sources?|references?|evidence|proof|clarification)[ -](?:is |are )?needed\b)` +
	`|(?i:[\[({<【]\s*(?:missing|placeholder|tbd|tbc|todo|to do|fixme|to be \p{L}+|open question|unclear|fill (?:this )?in|insert|needs? (?:a )?(?:citation|source|reference)|quelle fehlt|beleg fehlt|à compléter|por definir|待定)\b[^\])}>】\n]*[\])}>】]+)` +
	`|(?i:lorem ipsum)`)

// openThings are words that may say that something is open; they are prose as
// often.
var openThings = patterns.Lazy(`(?i)\b(?:is |are |remains? )?(?:yet |still )?to be (?:determined|defined|decided|confirmed|announced|supplied|specified|filled in)\b|\b(?:placeholder|fill (?:this|that) in later|insert [^.\n]{1,40} here)\b`)

// suspect tells whether a paragraph in small letters may have a marker that is
// not called by the policy's word.
func suspect(lower string) bool {
	// A longer text is not read either, which is told.
	return len(lower) <= maxParagraph && slices.ContainsFunc([]string{"gap", "todo", "to do", "tb", "t.b", "t b", "fixme", "xxx", "???", "[", "(", "{", "<", "【", "〔", "〖", "〈", "《", "⟦", "⟨", "«", "‹", "「", "『", "needed", "lorem"},
		func(mark string) bool { return strings.Contains(lower, mark) })
}

// OpenWords are the words of a candidate that say something is open, and that
// the source does not have as often, at most so many of them.
func OpenWords(source, candidate string, most int) []string {
	olds, news := differing(source, candidate)
	known := map[string]int{}
	for _, p := range olds {
		for _, s := range openThings().FindAllString(p, -1) {
			known[strings.ToLower(s)]++
		}
	}
	var out []string
	for _, p := range news {
		if len(p) > maxParagraph {
			continue
		}
		for _, s := range openThings().FindAllString(p, -1) {
			if known[strings.ToLower(s)]--; known[strings.ToLower(s)] < 0 && len(out) < most {
				out = append(out, oneLine(s))
			}
		}
	}
	return out
}

// markerPattern makes an expression of a format: what opens a marker, the
// word, what may stand there, what closes it. Without placeholders everything
// between word and closing is one.
func markerPattern(format, word string) *regexp.Regexp {
	open, body, found := strings.Cut(format, word)
	if !found {
		return nil
	}
	closing := mirrored(open)
	body = until(strings.TrimSpace(body), closing)
	// What fills a placeholder ends where the marker does, or the line.
	filled := `[ \t]*[^\s][^\n]*`
	if closing != "" {
		end := regexp.QuoteMeta(closing[len(closing)-1:])
		filled = `\s*[^\s` + end + `][^` + end + `]*?`
	}
	re, err := regexp.Compile(loose(open) + regexp.QuoteMeta(word) + fill(body, filled) + `\s*` + regexp.QuoteMeta(closing))
	if err != nil {
		return nil
	}
	return re
}

// mirrored is what closes what open opens.
func mirrored(open string) string {
	open = strings.TrimSpace(open)
	if strings.HasPrefix(open, "<!--") {
		return "-->"
	}
	pairs := map[byte]string{'[': "]", '(': ")", '{': "}", '<': ">"}
	var b strings.Builder
	for i := len(open) - 1; i >= 0; i-- {
		b.WriteString(pairs[open[i]])
	}
	return b.String()
}

// until cuts body at the first closing that is not within a placeholder.
func until(body, closing string) string {
	if closing == "" {
		return body
	}
	hidden := placeholder().ReplaceAllStringFunc(body, func(s string) string { return strings.Repeat(".", len(s)) })
	if i := strings.Index(hidden, closing); i >= 0 {
		return strings.TrimSpace(body[:i])
	}
	return body
}

// fill makes an expression of what stands between the word and the closing.
func fill(body, filled string) string {
	if body == "" {
		return ""
	}
	locs := placeholder().FindAllStringIndex(body, -1)
	if locs == nil {
		return loose(separator().FindString(body)) + filled
	}
	var b strings.Builder
	at := 0
	for _, loc := range locs {
		b.WriteString(loose(body[at:loc[0]]) + filled)
		at = loc[1]
	}
	return b.String() + loose(body[at:])
}

// loose quotes a literal; white space in and around it may be more or none.
func loose(s string) string {
	quoted := []string{`\s*`}
	for f := range strings.FieldsSeq(s) {
		quoted = append(quoted, regexp.QuoteMeta(f))
	}
	return strings.Join(append(quoted, ""), `\s*`)
}
