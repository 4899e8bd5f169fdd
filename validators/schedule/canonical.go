package schedule

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// appendCanonical writes a plain value in the one form that all its JSON
// spellings have in common: keys sorted, no white space, 15.0 as 15.
func appendCanonical(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...)
	case bool:
		return strconv.AppendBool(b, v)
	case string:
		return appendText(b, v)
	case []any:
		b = append(b, '[')
		for i, e := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendCanonical(b, e)
		}
		return append(b, ']')
	case map[string]any:
		return appendObject(b, v, slices.Sorted(maps.Keys(v)), false)
	default:
		if f, ok := whole(v); ok {
			return strconv.AppendInt(b, f, 10)
		}
		f, _ := number(v)
		return appendNumber(b, f)
	}
}

// appendObject writes an object by its sorted keys; sparse leaves nulls out.
func appendObject(b []byte, object map[string]any, keys []string, sparse bool) []byte {
	b = append(b, '{')
	first := true
	for _, key := range keys {
		value := object[key]
		if sparse && value == nil {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(appendText(b, key), ':')
		b = appendCanonical(b, value)
	}
	return append(b, '}')
}

// appendNumber writes whole numbers as such, whatever they were written like.
func appendNumber(b []byte, f float64) []byte {
	if f == math.Trunc(f) && math.Abs(f) < 1<<63 {
		return strconv.AppendInt(b, int64(f), 10)
	}
	return strconv.AppendFloat(b, f, 'g', -1, 64)
}

const hexDigits = "0123456789abcdef"

func appendText(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		b = append(b, s[from:i]...)
		if c < ' ' {
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		} else {
			b = append(b, '\\', c)
		}
		from = i + 1
	}
	return append(append(b, s[from:]...), '"')
}

// whole gives the value of an integer type.
func whole(v any) (int64, bool) {
	switch v := v.(type) {
	case int:
		return int64(v), true
	case int64:
		return v, true
	}
	return 0, false
}

// number gives the value of a plain number.
func number(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, !math.IsNaN(v) && !math.IsInf(v, 0)
	case json.Number:
		f, err := v.Float64()
		return f, err == nil
	}
	n, ok := whole(v)
	return float64(n), ok
}

// itemsHash is the SHA-256 of the canonical items in the order of date, time,
// send type and caption: the same for every spelling and order of the same
// items, another if any field of any of them differs. A null field is one that
// is not there.
func itemsHash(items []item) string {
	type row struct {
		at         int64
		key        string
		start, end int
	}
	rows := make([]row, len(items))
	text := make([]byte, 0, 256*len(items))
	for i := range items {
		start := len(text)
		text = items[i].appendCanonical(text)
		rows[i] = row{items[i].at, items[i].key, start, len(text)}
	}
	slices.SortFunc(rows, func(a, b row) int {
		if a.at != b.at {
			return cmp.Compare(a.at, b.at)
		}
		// An item's canonical form begins with its caption.
		return cmp.Or(strings.Compare(a.key, b.key), bytes.Compare(text[a.start:a.end], text[b.start:b.end]))
	})
	sum := sha256.New()
	for _, r := range rows {
		sum.Write(text[r.start:r.end])
		sum.Write([]byte{'\n'})
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// appendCanonical writes an item without its null fields.
func (it *item) appendCanonical(b []byte) []byte {
	if !it.simple {
		return appendObject(b, it.raw, slices.Sorted(maps.Keys(it.raw)), true)
	}
	b = append(b, '{')
	if it.caption != nil {
		b = appendCanonical(append(b, `"caption_id":`...), it.caption)
	}
	if !it.noContent {
		b = appendText(append(comma(b), `"content_type":`...), it.content)
	}
	for _, field := range []struct {
		name  string
		value float64
	}{{`"days_since_last_use":`, it.unused}, {`"performance_score":`, it.performance}, {`"price":`, it.price}} {
		if !math.IsNaN(field.value) {
			b = appendNumber(append(comma(b), field.name...), field.value)
		}
	}
	for _, field := range []struct{ name, value string }{{`"scheduled_date":`, it.date}, {`"scheduled_time":`, it.time}, {`"send_type_key":`, it.key}} {
		if field.value != "" {
			b = appendText(append(comma(b), field.name...), field.value)
		}
	}
	return append(b, '}')
}

// comma parts a field from the one before it.
func comma(b []byte) []byte {
	if b[len(b)-1] == '{' {
		return b
	}
	return append(b, ',')
}

// captionOrder is a caption's id as a text.
func captionOrder(v any) string {
	if v == nil {
		return ""
	}
	return string(appendCanonical(nil, v))
}

// namesHash is the SHA-256 of a set of names, sorted.
func namesHash(names []string) string {
	sorted := slices.Compact(slices.Sorted(slices.Values(names)))
	var text []byte
	for _, name := range sorted {
		text = append(appendText(text, name), '\n')
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// show is a value in a message.
func show(v any) string {
	switch v := v.(type) {
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	case string:
		return strconv.Quote(clip(v))
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("a %T", v)
	}
	return clip(string(text))
}
