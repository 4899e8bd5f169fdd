package reading

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sentences returns the sentences of a part of the source. A sentence ends with its
// mark, and with the quotation marks and brackets that close after it, before white
// space. A full stop does not end a sentence after an initial or an abbreviation of the
// table, or if a lower-case letter follows. An empty line ends one.
func (d *Document) Sentences(s Span) []Span {
	var list []Span
	from := s.Start
	add := func(end int) {
		if part := (Span{from, end}); strings.TrimSpace(part.In(d.Source)) != "" {
			text := part.In(d.Source)
			part.Start += len(text) - len(strings.TrimLeft(text, " \t\r\n"))
			part.End = part.Start + len(strings.TrimSpace(text))
			list = append(list, part)
		}
		from = end
	}
	for at := s.Start; at < s.End; {
		r, size := utf8.DecodeRuneInString(d.Source[at:s.End])
		at += size
		if r == '\n' && emptyLine(d.Source[at:s.End]) {
			add(at)
			continue
		}
		if !terminal(r) {
			continue
		}
		for at < s.End {
			closing, size := utf8.DecodeRuneInString(d.Source[at:s.End])
			if !terminal(closing) && !strings.ContainsRune("\"'”’»)]*_“", closing) {
				break
			}
			at += size
		}
		if ends(r, d.Source[from:at], d.Source[at:s.End]) {
			add(at)
		}
	}
	add(s.End)
	return list
}

// terminal reports whether a sentence can end with a character.
func terminal(r rune) bool { return strings.ContainsRune(".!?…。！？।؟", r) }

func emptyLine(text string) bool {
	line, _, _ := strings.Cut(text[:min(len(text), maxAround)], "\n")
	return strings.TrimSpace(line) == "" && len(line) < maxAround
}

// ends reports whether a mark ends a sentence, by the text before and after it.
func ends(mark rune, before, after string) bool {
	if mark >= utf8.RuneSelf && mark != '…' {
		return true
	}
	if after == "" {
		return true
	}
	if first, _ := utf8.DecodeRuneInString(after); !unicode.IsSpace(first) {
		return false
	}
	rest := strings.TrimLeft(after[:min(len(after), maxAround)], " \t\r\n*_\"'“‘«([")
	if next, _ := utf8.DecodeRuneInString(rest); unicode.IsLower(next) && mark != '!' && mark != '?' {
		return false
	}
	before = before[max(0, len(before)-maxAround):]
	word := before[strings.LastIndexAny(before, " \n\t(")+1:]
	word, dotted := strings.CutSuffix(word, ".")
	if !dotted || mark != '.' {
		return true
	}
	letters := []rune(word)
	if len(letters) == 1 && unicode.IsUpper(letters[0]) && letters[0] != 'I' {
		return false
	}
	return !abbreviations()[strings.ToLower(word)]
}
