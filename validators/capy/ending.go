package capy

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/validators/capy/reading"
)

// An ending is a text's last paragraph, as the first check sees it.
type ending struct{ *reading.Ending }

// How many words make a line prose, and a label's text a sentence.
const (
	fewWords  = 4
	manyWords = 20
)

// broken says how the text breaks off, or "".
func (e ending) broken() string {
	t := bytes.TrimRight(e.Text, " \t\r")
	t = t[max(0, len(t)-2000):]
	switch e.Kind {
	case reading.EndRow:
		if !e.Bar && e.Barred {
			return fmt.Sprintf("its last line is a table's row without its end: %q", tail(t))
		}
		return ""
	case reading.EndRule:
		if e.Bare {
			return "its last table has no rows"
		}
		return ""
	case reading.EndOther:
		if len(t) == 0 || t[0] != '<' || t[len(t)-1] == '>' {
			return ""
		}
		return e.strong(t) // text in a tag that is not closed
	}
	if len(bytes.Trim(t, "*`")) == 0 {
		return "its last line has nothing in it: " + fmt.Sprintf("%q", tail(e.Raw))
	}
	if e.Unbalanced() {
		return fmt.Sprintf("its last JSON has no end: %q", tail(t))
	}
	if marker(t) {
		return ""
	}
	if why := e.strong(t); why != "" {
		return why
	}
	if e.First != reading.EndProse || closed(t) || e.label() || e.signOff() || e.Words+wide(t) < fewWords && e.Lines == 1 || e.Words <= fewWords && e.Greeted() {
		return ""
	}
	return fmt.Sprintf("its last sentence has no end: %q", tail(t))
}

// wide counts words of a script that has no spaces between them.
func wide(t []byte) int {
	n := 0
	for _, r := range string(t) {
		if r >= 0x2E80 && r < 0xFB00 {
			n++
		}
	}
	return n / 3
}

// strong are the signs that a line is cut wherever it stands.
func (e ending) strong(t []byte) string {
	last := t[len(t)-1]
	bare := bytes.TrimRight(t, "*_` ")
	switch {
	case last == ',':
		return fmt.Sprintf("its last line ends in a comma: %q", tail(t))
	case last == '(' || last == '[' || last == '{':
		return fmt.Sprintf("its last line ends in an open bracket: %q", tail(t))
	case bytes.Count(t, []byte("**"))%2 == 1, t[0] == '*' && bytes.Count(t, []byte{'*'})%2 == 1:
		return fmt.Sprintf("its last line ends inside emphasis: %q", tail(t))
	case bytes.Count(t, []byte{'`'})%2 == 1:
		return fmt.Sprintf("its last line ends inside code: %q", tail(t))
	case within(t) && !closed(t):
		return fmt.Sprintf("its last line ends inside a parenthesis: %q", tail(t))
	case t[0] == '"' && bytes.Contains(t, []byte(`":`)) && e.First == reading.EndProse:
		return fmt.Sprintf("its last line is a piece of JSON: %q", tail(t))
	}
	if len(bare) < len(t) {
		return ""
	}
	start := len(t)
	for start > 0 && word(t[start-1]) {
		start--
	}
	if start > 0 && start < len(t) && t[start-1] == ' ' {
		if w := t[start:]; always[string(w)] || e.First == reading.EndProse && connecting[string(w)] {
			return fmt.Sprintf("its last line ends in a connecting word: %q", tail(t))
		}
	}
	return ""
}

// within says that a parenthesis of a line is not closed in it.
func within(t []byte) bool {
	depth := 0
	for _, c := range t {
		switch {
		case c == '(':
			depth++
		case c == ')' && depth > 0:
			depth--
		}
	}
	return depth > 0
}

var (
	always     = reading.Set("the", "an", "and", "or", "because", "which", "whose", "than", "although", "while", "whereas", "a")
	connecting = reading.Set("of", "to", "in", "on", "for", "with", "by", "from", "at", "as", "that", "is", "are", "was", "were", "will", "would", "should", "could", "can", "may", "might", "must", "has", "have", "had",
		"be", "been", "but", "if", "when", "where", "into", "its", "their", "this", "these", "our", "not", "between", "through", "via", "per", "both", "such", "also", "more", "very", "over", "under", "about", "against", "during")
)

// marker is a line that says that the text ends here.
func marker(t []byte) bool {
	t = bytes.Trim(t, " *_`~=-—–#<>/!")
	if len(t) == 0 {
		return true
	}
	t = bytes.TrimLeft(t, "[( ")
	return len(t) < 160 && slices.ContainsFunc([]string{"end of", "end", "fin", "eof", "### end"}, func(s string) bool {
		n, ok := foldPrefix(t, s)
		return ok && (n == len(t) || !word(t[n])) && t[len(t)-1] != ','
	})
}

// closed says that a line ends as sentences do, or as what needs no end.
func closed(t []byte) bool {
	t = bytes.TrimRight(t, " \t")
	if bare := bytes.TrimRight(t, "*_"); len(bare) < len(t) {
		if t[0] == '*' || t[0] == '_' || figure(bare[bytes.LastIndexByte(bare, '*')+1:]) {
			return true // all of it is emphasised, or a figure at its end
		}
		t = bare
	}
	if result(t) {
		return true
	}
	end := bytes.TrimRight(t, "*_`\"')]}>»”’")
	if bytes.HasSuffix(end, []byte("...")) || bytes.HasSuffix(end, []byte("…")) || len(t) == 0 {
		return false
	}
	if len(end) < len(t) {
		return true // code, a link, a quotation or parenthesis ends here
	}
	switch t[len(t)-1] {
	case '.', '!', '?', '|', '$', '\\':
		return true
	}
	if r, size := utf8.DecodeLastRune(t); size > 1 {
		return closingRune(r)
	}
	start := bytes.LastIndexByte(t, ' ') + 1
	return bytes.Contains(t[start:], []byte("://")) || bytes.HasPrefix(t, []byte("[^"))
}

// figure says that a text is no more than a number and a word.
func figure(t []byte) bool { return hasNumber(t) && reading.CountWords(t) <= 2 }

// result says that a line ends in what an equation comes to.
func result(t []byte) bool {
	i := bytes.LastIndexAny(t, "=≈")
	return i > 0 && (t[len(t)-1] == '%' || digit(t[len(t)-1])) && reading.CountWords(t[i:]) < fewWords
}

// closingRune are full stops of other scripts, and signs: a tick, a flag, a box.
func closingRune(r rune) bool {
	switch r {
	case '。', '！', '？', '．', '」', '』', '）':
		return true
	}
	return r != '→' && pictured(r)
}

// pictured says that a rune is an arrow, a tick, a flag or a picture.
func pictured(r rune) bool { return r >= 0x2190 && r <= 0x2BFF || r >= 0x1F000 }

// label says that the paragraph is a label and a short value: Next stage:
// BASE_T2.
func (e ending) label() bool {
	if e.Lines > 1 && !bytes.HasPrefix(e.Text, []byte("**")) {
		return false
	}
	t := e.Text
	colon := bytes.IndexByte(t[:min(len(t), 60)], ':')
	if colon <= 0 || colon == len(t)-1 {
		return false
	}
	words := reading.CountWords(t[colon+1 : min(len(t), colon+600)])
	if bytes.HasPrefix(t, []byte("**")) {
		return words < manyWords
	}
	return reading.CountWords(t[:colon]) <= 4 && words <= 8
}

// signOff says that the paragraph is a line such as "Generated by …", or "🚀 Ready for T2".
func (e ending) signOff() bool {
	if e.Lines > 1 || e.Words > 10 {
		return false
	}
	if r, size := utf8.DecodeRune(e.Text); size > 2 && pictured(r) {
		return true
	}
	switch string(bytes.ToLower(firstWord(e.Text))) {
	case "generated", "prepared", "completed", "report", "version", "document", "output", "copyright", "signed", "disclaimer":
		return true
	case "analysis":
		return bytes.Contains(e.Text, []byte("complete"))
	}
	for _, c := range e.Text[:min(len(e.Text), 400)] {
		if c >= 'a' && c <= 'z' {
			return false
		}
	}
	return word(e.Text[0])
}

func tail(t []byte) string {
	if len(t) <= 60 {
		return reading.Clip(string(t), 80)
	}
	return "…" + reading.Clip(strings.ToValidUTF8(string(t[len(t)-60:]), ""), 80)
}

// word says that a byte is an ASCII letter or digit.
func word(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' }

// firstWord is the letters and digits that a text begins with.
func firstWord(t []byte) []byte {
	end := 0
	for end < len(t) && end < 64 && word(t[end]) {
		end++
	}
	return t[:end]
}

// foldPrefix says whether a text begins with a lower-case one, in any case,
// and how long that is. Most texts do not: the first letter tells.
func foldPrefix(t []byte, s string) (int, bool) {
	return len(s), len(t) >= len(s) && t[0]|0x20 == s[0]|0x20 && strings.EqualFold(string(t[:len(s)]), s)
}
