package reading

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// CutLabel cuts a line of the form "label: value" or "label = value" at its sign. Without a
// sign in the first 100 bytes, or with a sentence's end before it, found is false.
func CutLabel(line string) (label, value string, found bool) {
	for at := 0; at < min(len(line), maxLabelBytes); {
		r, size := utf8.DecodeRuneInString(line[at:])
		next, _ := utf8.DecodeRuneInString(line[at+size:])
		switch {
		case r == '：', (r == ':' || r == '=') && !unicode.IsDigit(next):
			return line[:at], strings.TrimSpace(line[at+size:]), strings.IndexFunc(line[:at], unicode.IsLetter) >= 0
		case (terminal(r) || r == ';') && unicode.IsSpace(next):
			return "", "", false
		}
		at += size
	}
	return "", "", false
}

const maxLabelBytes = 100

// A Value is a number that is the value of a label.
type Value struct {
	Number
	Signed   bool // with a sign of its own
	Decimals int  // that are shown
}

// maxLinks is the maximum number of signs of an equation. maxValue is the maximum
// distance of a value in bytes, and maxOperator that of an operator after it.
const (
	maxLinks    = 12
	maxValue    = 80
	maxOperator = 40
)

// ValueOf returns the number that the text behind a label is or begins with, nil if
// there is none. In an equation, and behind arrows, the last number is the value; a
// formula without a result has none. about reports whether a word such as "about" can
// stand before the number.
func ValueOf(text string, about func(word string) bool) *Value {
	if inner, ok := strings.CutPrefix(text, "("); ok && strings.HasSuffix(inner, ")") && !strings.ContainsAny(inner, "+*/×=") {
		if v := begins(strings.TrimSuffix(inner, ")"), about); v != nil { // as accountants write losses
			v.Value, v.Signed = -v.Value, true
			return v
		}
	}
	v := begins(text, about)
	direct := v != nil && !operates(text[v.End:min(len(text), v.End+maxOperator)])
	links := equations(text)
	if direct {
		for _, l := range links {
			if l.Start < v.End { // before the number
				continue
			}
			if strings.TrimSpace(l.In(text)) == "=" || strings.ContainsAny(text[v.End:l.Start], ".;,(") && !strings.HasPrefix(text[v.End:], " (") {
				break
			}
			if after := begins(text[l.End:], about); after != nil {
				return after
			}
		}
		return v
	}
	for i := len(links) - 1; i >= 0; i-- {
		formula := text[:links[i].Start]
		if !strings.ContainsAny(formula, "/×*+(−-÷") || strings.Contains(formula, ", ") ||
			strings.Contains(formula, "; ") || strings.Contains(formula, ". ") {
			continue
		}
		if after := begins(text[links[i].End:], about); after != nil && !operates(text[links[i].End+after.End:]) {
			return after
		}
	}
	return nil
}

// equations returns the first equals signs and arrows of a text, with the blanks behind them.
func equations(text string) []Span {
	var list []Span
	for at := 0; at < len(text) && len(list) < maxLinks; {
		next := strings.IndexAny(text[at:], "=→-")
		if next < 0 {
			break
		}
		at += next
		end := at
		switch rest := text[at:]; {
		case strings.HasPrefix(rest, "→"):
			end += len("→")
		case strings.HasPrefix(rest, "->"), strings.HasPrefix(rest, "=>"):
			end += len("->")
		case rest[0] == '=':
			end++
		default:
			at++
			continue
		}
		end += len(text[end:]) - len(strings.TrimLeft(text[end:], " \t"))
		list = append(list, Span{at, end})
		at = end
	}
	return list
}

// operates reports whether a text begins with an operator and an operand, after a unit.
func operates(text string) bool {
	rest := strings.TrimLeft(text, " \t")
	letters := 0
	rest = strings.TrimLeftFunc(rest, func(r rune) bool {
		letters++
		return letters <= 14 && (unicode.IsLetter(r) || r == '%' || r == ' ' || r == '\t')
	})
	rest = strings.TrimLeft(strings.TrimPrefix(rest, ")"), " \t")
	r, size := utf8.DecodeRuneInString(rest)
	if !strings.ContainsRune("/×*·+^÷−–-", r) || size == 0 {
		return false
	}
	operand, _ := utf8.DecodeRuneInString(strings.TrimLeft(rest[size:], " \t"))
	return operand >= '0' && operand <= '9' || strings.ContainsRune("($€£", operand)
}

// begins returns the number that a text begins with, after a currency or a word that about
// reports.
func begins(text string, about func(word string) bool) *Value {
	text = text[:min(len(text), maxValue)]
	numbers := Numbers(text)
	if len(numbers) == 0 {
		return nil
	}
	v := &Value{Number: numbers[0]}
	before := text[:strings.IndexFunc(text, unicode.IsDigit)]
	v.Signed = strings.ContainsAny(before, "-−+")
	for _, word := range strings.FieldsFunc(before, func(r rune) bool { return !unicode.IsLetter(r) }) {
		currency := strings.ToUpper(word) == word && (len(word) == 3 || strings.Contains(text, word+"$"))
		if !currency && !about(strings.ToLower(word)) {
			return nil
		}
		before = strings.Replace(before, word, "", 1)
	}
	if strings.Trim(before, " \t~≈≃*_\"'`$€£¥₹.\\[{-−+") != "" {
		return nil
	}
	shown := v.In(text)
	if at := strings.LastIndexAny(shown, ".,"); at >= 0 && (len(shown)-at != len(",000") || strings.Contains(v.Readings[0], ".")) {
		v.Decimals = len(shown) - at - 1
	}
	return v
}
