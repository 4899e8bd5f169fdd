package edit

import (
	"regexp"
	"strings"
)

// gapWord is what a gap marker is called where the policy does not say.
const gapWord = "GAP"

// maxFormat is the longest mark_format, in bytes.
const maxFormat = 300

// A markFormat is how a gap policy wants gaps marked.
type markFormat struct {
	word string         // the word of a marker, in lower case
	like *regexp.Regexp // what looks like a marker
	good *regexp.Regexp // what is one; nil where the policy does not say
}

var (
	placeholder = regexp.MustCompile(`<[^<>!/\s][^<>]*>|\{\{?[^{}]*\}?\}|\.\.\.|…`)
	letters     = regexp.MustCompile(`\p{L}{2,}`)
	separator   = regexp.MustCompile(`^[\s:|/–—-]*`)
)

// newMarkFormat reads a format such as "[GAP: <what is missing>]" or
// "<!-- GAP {id}: {reason} -->", alone or in a sentence.
func newMarkFormat(format string) markFormat {
	format = strings.TrimSpace(format)
	word := gapWord
	if w := letters.FindString(placeholder.ReplaceAllString(format, " ")); w != "" && !strings.Contains(format, gapWord) {
		word = w
	}
	m := markFormat{word: strings.ToLower(word), like: markerLike(word)}
	if format == "" {
		return m
	}
	if loc := m.like.FindStringIndex(format); loc != nil {
		format = strings.TrimLeft(format[loc[0]:], " \t\n,;.")
	}
	m.good = markerPattern(format, word)
	return m
}

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
	hidden := placeholder.ReplaceAllStringFunc(body, func(s string) string { return strings.Repeat(".", len(s)) })
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
	locs := placeholder.FindAllStringIndex(body, -1)
	if locs == nil {
		return loose(separator.FindString(body)) + filled
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
	for _, f := range strings.Fields(s) {
		quoted = append(quoted, regexp.QuoteMeta(f))
	}
	return strings.Join(append(quoted, ""), `\s*`)
}
