package edit

import (
	"regexp"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/internal/textdiff"
	"github.com/seed61713e19/capstan/validators/patterns"
)

const (
	maxFormat = 300   // bytes of a mark_format
	gapWord   = "GAP" // the word of a marker, unless mark_format has another
)

// A format is a mark_format: the word of a gap marker, the pattern of a marker, and
// the pattern of its lookalikes.
type format struct {
	good *regexp.Regexp // nil without a mark_format
	like *regexp.Regexp
}

var (
	placeholder = patterns.Lazy(`<[^<>!/\s][^<>]*>|\{\{?[^{}]*\}?\}|\.\.\.|…`)
	letters     = patterns.Lazy(`\p{L}{2,}`)
	separator   = patterns.Lazy(`^[\s:|/–—-]*`)
	bracketed   = patterns.Lazy(`\[[^\[\]\n]{1,200}\]`)
	otherUse    = patterns.Lazy(`^\[(?:[ xX]|\^.*|[\d, –-]+)\]$`) // a box, a footnote, a citation
)

// newFormat reads a mark_format such as "[GAP: <what is missing>]" or
// "<!-- GAP {id}: {reason} -->", alone or in a sentence.
func newFormat(text string) format {
	text = strings.TrimSpace(text)
	mark := gapWord
	if w := letters().FindString(placeholder().ReplaceAllString(text, " ")); w != "" && !strings.Contains(text, gapWord) {
		mark = w
	}
	any := regexp.QuoteMeta(mark) + "|" + gapWord
	f := format{like: regexp.MustCompile(`(?:[\[({<【〔《「『⟦«]{1,3}|<!--)[^\p{L}\p{N}\n]{0,6}(?i:` + any +
		`)(?:[^\p{L}\p{N}]|$)|(?:^|[^\p{L}\p{N}])(?:` + any + `)[ \t]*:`)}
	if text == "" {
		return f
	}
	if loc := f.like.FindStringIndex(text); loc != nil {
		text = strings.TrimLeft(text[loc[0]:], " \t\n,;.")
	}
	f.good = markerPattern(text, mark)
	return f
}

// markerPattern makes a pattern of a format: the opening, the word, the content, the
// closing. A placeholder is any content. Without placeholders all behind the word is one.
func markerPattern(text, mark string) *regexp.Regexp {
	open, body, found := strings.Cut(text, mark)
	if !found {
		return nil
	}
	open = strings.TrimSpace(open)
	closing := "-->"
	if !strings.HasPrefix(open, "<!--") {
		closing = ""
		for _, c := range open {
			closing = map[rune]string{'[': "]", '(': ")", '{': "}", '<': ">"}[c] + closing
		}
	}
	filled := `[ \t]*[^\s][^\n]*`
	if closing != "" {
		end := regexp.QuoteMeta(closing[len(closing)-1:])
		filled = `\s*[^\s` + end + `][^` + end + `]*?`
		masked := placeholder().ReplaceAllStringFunc(body, func(s string) string { return strings.Repeat(".", len(s)) })
		if i := strings.Index(masked, closing); i >= 0 {
			body = body[:i]
		}
	}
	if body = strings.TrimSpace(body); body != "" && !placeholder().MatchString(body) {
		body = separator().FindString(body) + "…"
	}
	pattern, at := loose(open)+regexp.QuoteMeta(mark), 0
	for _, loc := range placeholder().FindAllStringIndex(body, -1) {
		pattern += loose(body[at:loc[0]]) + filled
		at = loc[1]
	}
	re, err := regexp.Compile(pattern + loose(body[at:]) + `\s*` + regexp.QuoteMeta(closing))
	if err != nil {
		return nil
	}
	return re
}

// loose quotes a literal in which white space may be longer or missing.
func loose(s string) string {
	quoted := []string{`\s*`}
	for f := range strings.FieldsSeq(s) {
		quoted = append(quoted, regexp.QuoteMeta(f))
	}
	return strings.Join(append(quoted, ""), `\s*`)
}

// find returns the markers of a text: those of the format, those against it, and
// other text in square brackets.
func (f format) find(text string) (good, bad, open []string) {
	if f.good != nil {
		text = f.good.ReplaceAllStringFunc(text, func(s string) string {
			good = append(good, clean(s))
			return "\n"
		})
	}
	for _, p := range append([]*regexp.Regexp{f.like}, gapPatterns()...) {
		text = p.ReplaceAllStringFunc(text, func(s string) string {
			bad = append(bad, clean(s))
			return "\n"
		})
	}
	for _, loc := range bracketed().FindAllStringIndex(text, -1) {
		s := text[loc[0]:loc[1]]
		if rest := text[loc[1]:]; !otherUse().MatchString(s) && (rest == "" || !strings.Contains("([:", rest[:1])) {
			open = append(open, clean(s))
		}
	}
	return good, bad, open
}

// fresh returns the elements of a list that another list has less often.
func fresh(list, known []string) []string {
	known = slices.Clone(known)
	return slices.DeleteFunc(list, func(s string) bool {
		i := slices.Index(known, s)
		if i >= 0 {
			known = slices.Delete(known, i, i+1)
		}
		return i >= 0
	})
}

// gaps checks the gap markers that the changes of a candidate text add.
func (in *input) gaps() graded {
	g := graded{result: Pass}
	if in.ActivePart != PartText || len(in.unreadable) > 0 {
		return g
	}
	f := newFormat(in.status.Gap.MarkFormat)
	var old, now strings.Builder
	for _, c := range in.changes {
		if !c.code {
			old.WriteString(textdiff.Normal(c.old) + "\n\n")
			now.WriteString(textdiff.Normal(c.now) + "\n\n")
		}
	}
	if in.uncompared != nil {
		old.WriteString(in.source)
		now.WriteString(in.candidate)
	}
	good, bad, open := f.find(now.String())
	oldGood, oldBad, oldOpen := f.find(old.String())
	note := func(result Result, format string, list, known []string) {
		list = fresh(list, known)
		for i, s := range list[:min(len(list), maxDifferences)] {
			if i == 0 {
				g.result = worst(g.result, result)
			}
			g.notes = append(g.notes, format+": "+brief(s))
		}
	}
	note(Pass, "new gap marker", good, oldGood)
	if f.good == nil {
		note(Warn, "a new gap marker has no mark_format to follow", bad, oldBad)
	} else {
		note(Fail, "a new gap marker does not follow mark_format \""+brief(in.status.Gap.MarkFormat)+"\"", bad, oldBad)
	}
	note(Warn, "new text in brackets may be a gap without a marker", open, oldOpen)
	return g
}
