package encodings

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/seed61713e19/capstan/runner/model"
)

// A Numeral is a spelling of a number that JSON must not show, and the mark that
// stands for it.
type Numeral struct{ Text, Mark string }

// Numerals returns the spellings of a text that is a number: as it is, and as JSON
// encodes it. It returns nil if the text is no number, or one of fewer characters than
// least.
func Numerals(text string, least int) []string {
	if strings.Trim(text, "0123456789.eE+-") != "" {
		return nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return nil
	}
	encoded, _ := json.Marshal(f)
	switch {
	case len(encoded) < least: // 00000001 is also 1
		return nil
	case string(encoded) == text:
		return []string{text}
	}
	return []string{text, string(encoded)}
}

// HideNumbers returns JSON with a string in place of each number that contains, or
// equals, one of the numerals. The string has the numeral's mark where the numeral
// was. If there is no such number, HideNumbers returns raw itself.
func HideNumbers(raw []byte, numerals []Numeral) []byte {
	if len(numerals) == 0 {
		return raw
	}
	pairs, values := make([]string, 0, 2*len(numerals)), make([]float64, len(numerals))
	for i, n := range numerals {
		pairs = append(pairs, n.Text, n.Mark)
		values[i], _ = strconv.ParseFloat(n.Text, 64)
	}
	marks := strings.NewReplacer(pairs...)
	return rewriteNumbers(raw, func(token []byte) []byte {
		text := string(token)
		if marked := marks.Replace(text); marked != text {
			return model.AppendText(nil, marked)
		}
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			for i, value := range values {
				if f == value || f == -value {
					return model.AppendText(nil, numerals[i].Mark)
				}
			}
		}
		return nil
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
	kept := 0
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
				out = append(append(out, raw[kept:i]...), token...)
				kept = end
			}
			i = end
		default:
			i++
		}
	}
	if kept == 0 {
		return raw
	}
	return append(out, raw[kept:]...)
}
