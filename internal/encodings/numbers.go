package encodings

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed61713e19/capstan/internal/jsonvalue"
)

// A Numeral is a spelling of a number that JSON must not show, and its
// replacement mark.
type Numeral struct {
	Text, Mark string

	value float64 // NaN if equal numbers may be shown: 00000001 is also 1
}

// Numerals returns the spellings of a text that is a number: the text itself
// and its JSON encoding. It returns nil if the text is no number. mark returns
// the mark of the first and of the second spelling. Shorter spellings than
// least are left out.
func Numerals(text string, least int, mark func(i int) string) []Numeral {
	if strings.Trim(text, "0123456789.eE+-") != "" || len(text) < least {
		return nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return nil
	}
	encoded, _ := json.Marshal(f)
	switch {
	case len(encoded) < least:
		return []Numeral{{text, mark(0), math.NaN()}}
	case string(encoded) == text:
		return []Numeral{{text, mark(0), f}}
	}
	return []Numeral{{text, mark(0), math.NaN()}, {string(encoded), mark(1), f}}
}

// HideNumbers returns JSON with a string in place of each number that contains, or
// equals, one of the numerals. The string has the numeral's mark where the numeral
// was. If there is no such number, HideNumbers returns raw itself.
func HideNumbers(raw []byte, numerals []Numeral) []byte {
	return hideNumbers(raw, numerals, func(int) bool { return true })
}

// HideNumbersAs is [HideNumbers] for JSON that must be readable afterwards,
// such as a struct with number fields. It leaves a number unchanged if reads
// returns false for the result.
func HideNumbersAs(raw []byte, numerals []Numeral, reads func([]byte) bool) []byte {
	found := 0
	hidden := hideNumbers(raw, numerals, func(int) bool { found++; return true })
	if found == 0 || reads(hidden) {
		return hidden
	}
	hide := make([]bool, found)
	var search func(from, to int)
	search = func(from, to int) {
		if reads(hideNumbers(raw, numerals, func(i int) bool { return from <= i && i < to })) {
			for i := from; i < to; i++ {
				hide[i] = true
			}
		} else if middle := (from + to) / 2; middle > from {
			search(from, middle)
			search(middle, to)
		}
	}
	search(0, found)
	return hideNumbers(raw, numerals, func(i int) bool { return hide[i] })
}

// hideNumbers calls hide with the index of each number that it finds.
func hideNumbers(raw []byte, numerals []Numeral, hide func(i int) bool) []byte {
	if len(numerals) == 0 {
		return raw
	}
	pairs := make([]string, 0, 2*len(numerals))
	for _, n := range numerals {
		pairs = append(pairs, n.Text, n.Mark)
	}
	marks, found := strings.NewReplacer(pairs...), -1
	return rewriteNumbers(raw, func(token []byte) []byte {
		text := string(token)
		marked := marks.Replace(text)
		if marked == text {
			f, err := strconv.ParseFloat(text, 64)
			i := slices.IndexFunc(numerals, func(n Numeral) bool { return f == n.value || f == -n.value })
			if err != nil || i < 0 {
				return nil
			}
			marked = numerals[i].Mark
		}
		if found++; !hide(found) {
			return nil
		}
		return jsonvalue.AppendText(nil, marked)
	})
}

// HideNumbersWithin is [HideNumbers] for a text that may be a JSON object or array.
// It returns any other text as it is.
func HideNumbersWithin(text string, numerals []Numeral) string {
	if len(numerals) == 0 {
		return text
	}
	if start := strings.TrimLeft(text, " \t\r\n"); start == "" || start[0] != '{' && start[0] != '[' || !json.Valid([]byte(text)) {
		return text
	}
	return string(HideNumbers([]byte(text), numerals))
}

// rewriteNumbers returns JSON with the numbers replaced for which change returns a
// token.
func rewriteNumbers(raw []byte, change func(token []byte) []byte) []byte {
	var out []byte
	copied := 0
	for i := 0; i < len(raw); {
		switch c := raw[i]; {
		case c == '"':
			i = closing(raw, i)
		case c == '-' || c >= '0' && c <= '9':
			end := i + 1
			for end < len(raw) && bytes.IndexByte([]byte("0123456789.eE+-"), raw[end]) >= 0 {
				end++
			}
			if token := change(raw[i:end]); token != nil {
				out = append(append(out, raw[copied:i]...), token...)
				copied = end
			}
			i = end
		default:
			i++
		}
	}
	if copied == 0 {
		return raw
	}
	return append(out, raw[copied:]...)
}
