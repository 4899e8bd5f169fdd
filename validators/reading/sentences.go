package reading

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/validators/patterns"
)

// A Span is a part of a source, by its bytes.
type Span struct{ From, To int }

// In is what the source has there.
func (s Span) In(source string) string { return source[s.From:s.To] }

// Prose is a paragraph of a source where it stands: lines behind each other that
// are no heading, code, table or HTML, or one item of a list.
type Prose struct {
	Span
	Sentences []Span // in their order, of all of it
}

// ProseOf are the stretches of prose of a source, told by its lines alone, so that
// they are found in a text that is broken, too. It is linear in the text.
func ProseOf(source string) []Prose {
	var out []Prose
	fence, open, at := "", false, 0
	for line := range strings.SplitAfterSeq(source, "\n") {
		from := at
		at += len(line)
		text := strings.TrimSpace(line)
		mark := fenceMark(text)
		switch {
		case fence != "":
			if mark != "" && mark[0] == fence[0] && len(mark) >= len(fence) && strings.Trim(text, mark[:1]) == "" {
				fence = ""
			}
			open = false
			continue
		case mark != "":
			fence, open = mark, false
			continue
		case notProse(line, text, open):
			open = false
			continue
		}
		begin := from + strings.Index(line, text)
		marker := len(text) - len(strings.TrimLeft(unmarked(text), " "))
		if open && marker == 0 {
			out[len(out)-1].To = begin + len(text)
			continue
		}
		out = append(out, Prose{Span: Span{begin + marker, begin + len(text)}})
		open = true
	}
	for i := range out {
		out[i].Sentences = sentencesOf(source, out[i].Span)
	}
	return out
}

// fenceMark is the mark that a line begins or ends a code block with.
func fenceMark(text string) string {
	for _, sign := range []string{"`", "~"} {
		if n := len(text) - len(strings.TrimLeft(text, sign)); n >= 3 {
			return text[:n]
		}
	}
	return ""
}

func notProse(line, text string, open bool) bool {
	switch {
	case text == "":
		return true
	case strings.ContainsRune("#|<", rune(text[0])):
		return true
	case !open && (strings.HasPrefix(line, "    ") || line[0] == '\t') && unmarked(text) == text:
		return true // code
	case !open && text[0] == '[' && definition().MatchString(text):
		return true
	}
	return strings.Trim(text, "-=*_ ") == "" // a rule, or what underlines a heading
}

// definition is a line that says where a link leads; [^1]: begins a footnote.
var definition = patterns.Lazy(`^\[[^\]^][^\]]*\]:\s*\S+(?:\s+(?:"[^"]*"|'[^']*'|\([^)]*\)))?$`)

// unmarked is a line without the marks of a list or a quotation.
func unmarked(text string) string {
	for {
		rest := text
		if digits := len(text) - len(strings.TrimLeft(text, "0123456789")); digits > 0 && digits < len(text)-1 && (text[digits] == '.' || text[digits] == ')') && text[digits+1] == ' ' {
			rest = text[digits+2:]
		} else if len(text) > 1 && strings.IndexByte("-*+", text[0]) >= 0 && text[1] == ' ' {
			rest = text[2:]
		} else if text[0] == '>' {
			rest = text[1:]
		}
		if rest = strings.TrimLeft(rest, " "); rest == text || rest == "" {
			return text
		}
		text = rest
	}
}

// sentencesOf splits a paragraph behind each end of a sentence, and what closes with
// it. He said "Go." ends with the quote; Dr. A. Smith, e.g. and 3.5 end none.
func sentencesOf(source string, p Span) []Span {
	var out []Span
	from := p.From
	for i := p.From; i < p.To; {
		r, size := utf8.DecodeRuneInString(source[i:p.To])
		i += size
		if !Terminal(r) {
			continue
		}
		for i < p.To { // what closes with the sentence belongs to it
			r, size := utf8.DecodeRuneInString(source[i:p.To])
			if !Terminal(r) && !strings.ContainsRune("\"'”’»)]*_“", r) {
				break
			}
			i += size
		}
		if i < p.To && (!blank(source[i]) && r < utf8.RuneSelf || shortened(source[from:i])) {
			continue
		}
		out = append(out, Span{from, i})
		for i < p.To && blank(source[i]) {
			i++
		}
		from = i
	}
	if from < p.To {
		out = append(out, Span{from, p.To})
	}
	return out
}

func blank(b byte) bool { return b == ' ' || b == '\n' || b == '\t' || b == '\r' }

// Terminal tells whether a sentence may end with the sign.
func Terminal(r rune) bool { return strings.ContainsRune(".!?…。！？।؟", r) }

// shortened tells whether what a text ends with is no end of a sentence: an
// abbreviation, an initial or a number.
func shortened(text string) bool {
	word := text[strings.LastIndexAny(text, " \n\t(")+1:]
	word, dotted := strings.CutSuffix(word, ".")
	if !dotted {
		return false
	}
	letters := []rune(word)
	switch strings.ToLower(word) {
	case "e.g", "i.e", "etc", "cf", "vs", "mr", "mrs", "ms", "dr", "st", "no", "fig", "ca", "approx", "z.b", "bzw", "inc", "ltd", "vol", "pp", "al":
		return true
	}
	return len(letters) == 1 && unicode.IsUpper(letters[0]) && letters[0] != 'I'
}
