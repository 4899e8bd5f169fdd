package openai

import (
	"bytes"
	"encoding/json"
	"iter"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// What endpoints send is read member by member, so that a field of another
// kind than expected costs that field and not the answer, and so that a list
// of millions costs no more memory than its text. All of it takes JSON that
// was found valid.

// members walks an object's members in their order. What is no object has
// none.
func members(raw []byte) iter.Seq2[[]byte, []byte] { return walk(raw, '{', '}') }

// elements walks a list: names are nil. What is no list has none.
func elements(raw []byte) iter.Seq2[[]byte, []byte] { return walk(raw, '[', ']') }

func walk(raw []byte, opens, closes byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		i := space(raw, 0)
		if i == len(raw) || raw[i] != opens {
			return
		}
		for i = space(raw, i+1); raw[i] != closes; i = space(raw, i) {
			var name []byte
			end := skip(raw, i)
			if opens == '{' {
				name = raw[i+1 : end-1]
				if bytes.IndexByte(name, '\\') >= 0 || !utf8.Valid(name) {
					plain, _ := text(raw[i:end])
					name = []byte(plain)
				}
				i = space(raw, space(raw, end)+1)
				end = skip(raw, i)
			}
			if !yield(name, raw[i:end]) {
				return
			}
			if i = space(raw, end); raw[i] == ',' {
				i++
			}
		}
	}
}

// space is where the white space at i ends.
func space(raw []byte, i int) int {
	for i < len(raw) && (raw[i] == ' ' || raw[i] == '\n' || raw[i] == '\t' || raw[i] == '\r') {
		i++
	}
	return i
}

// skip is where the value at i ends.
func skip(raw []byte, i int) int {
	for depth := 0; i < len(raw); {
		switch raw[i] {
		case '"':
			i = closing(raw, i)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			i++
		case ',', ':', ' ', '\n', '\t', '\r':
			i++
			continue // within a value: it ends with something else
		default:
			for i < len(raw) && strings.IndexByte(",:]} \n\t\r", raw[i]) < 0 {
				i++
			}
		}
		if depth == 0 {
			break
		}
	}
	return i
}

// closing is where the string at i ends. The next quote is its end unless
// something before it is escaped, which may be that quote.
func closing(raw []byte, i int) int {
	for i++; i < len(raw); {
		quote := bytes.IndexByte(raw[i:], '"')
		if quote < 0 {
			break
		}
		slash := bytes.IndexByte(raw[i:i+quote], '\\')
		if slash < 0 {
			return i + quote + 1
		}
		i += slash + 2 // behind what is escaped
	}
	return len(raw)
}

// valid says whether raw is one JSON document.
func valid(raw []byte) bool {
	return jsontext.Value(raw).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// text is what a string says; of anything else there is none.
func text(raw []byte) (said string, ok bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	if within := raw[1 : len(raw)-1]; bytes.IndexByte(within, '\\') < 0 && utf8.Valid(within) {
		return string(within), true
	}
	if plain, err := jsontext.AppendUnquote(nil, raw); err == nil {
		return string(plain), true
	}
	return said, json.Unmarshal(raw, &said) == nil // it has what is no UTF-8
}

// word is what a string says, or any other value as it stands there; "" for
// null.
func word(raw []byte) string {
	if said, ok := text(raw); ok {
		return said
	}
	if string(raw) == "null" {
		return ""
	}
	return string(raw)
}

// hollow tells of a value that says nothing.
func hollow(raw []byte) bool {
	return string(raw) == "null" || string(raw) == "false" || string(raw) == `""` || len(bytes.Trim(raw, "[]{} \n\t\r")) == 0
}

// most is what a number of tokens is at most: so many that any budget is
// spent, so few that no sum of them wraps, in a database neither.
const most = 1 << 40

// count is a number of tokens, from 0: as 12, 12.0 or "12". ok is false of
// what is none. One that is too large is the largest.
func count(raw []byte) (n int, ok bool) {
	if digits := bytes.TrimLeft(raw, "0123456789"); len(digits) == 0 && len(raw) > 0 && len(raw) <= 12 {
		for _, c := range raw {
			n = 10*n + int(c-'0')
		}
		return min(n, most), true
	}
	f, ok := number(raw)
	if !ok || f != math.Trunc(f) {
		return 0, false
	}
	return int(min(f, most)), true
}

// number is a number from 0, or one in a string.
func number(raw []byte) (f float64, ok bool) {
	f, err := strconv.ParseFloat(word(raw), 64)
	if err != nil && !math.IsInf(f, 1) || !(f >= 0) {
		return 0, false
	}
	return min(f, math.MaxFloat64), true
}
