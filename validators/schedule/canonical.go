package schedule

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf16"

	"github.com/go-json-experiment/json/jsontext"
)

// appendCanonical writes a plain value in its RFC 8785 form, as
// [signatures.Canonical] does: keys sorted, no white space, 15.0 as 15. It is
// written here once more because a schedule has up to 200,000 items.
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
		return appendObject(b, v, sortedKeys(v), false)
	default:
		if f, ok := whole(v); ok {
			return strconv.AppendInt(b, f, 10)
		}
		if f, ok := number(v); ok {
			return appendNumber(b, f)
		}
		return fmt.Append(b, v)
	}
}

// sortedKeys gives an object's keys in the order of their UTF-16 code units,
// which is that of their bytes but for the characters behind U+FFFF.
func sortedKeys(object map[string]any) []string {
	keys := slices.Sorted(maps.Keys(object))
	for _, key := range keys {
		if strings.ContainsFunc(key, func(r rune) bool { return r > 0xFFFF }) {
			slices.SortFunc(keys, func(a, b string) int { return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b))) })
			break
		}
	}
	return keys
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

// appendNumber writes a number as ECMAScript does.
func appendNumber(b []byte, f float64) []byte {
	if f == math.Trunc(f) && small(f) {
		return strconv.AppendInt(b, int64(f), 10)
	}
	return append(b, jsontext.Float(f).String()...)
}

// appendText quotes a text, of which most have nothing to escape.
func appendText(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' {
			b, _ = jsontext.AppendQuote(b, s) // what is no UTF-8 is refused before it counts
			return b
		}
	}
	return append(append(append(b, '"'), s...), '"')
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
	rows := ordered(items)
	sum := sha256.New()
	var texts [4][]byte                // of the portions, and a block has no more of them
	const block = len(texts) * portion // so many are written down before they are hashed
	for start := 0; start < len(rows); start += block {
		part := rows[start:min(start+block, len(rows))]
		var all sync.WaitGroup
		n := 0
		for from, to := range portions(len(part)) {
			text := &texts[n]
			all.Go(func() { *text = lines((*text)[:0], items, part[from:to]) })
			n++
		}
		all.Wait()
		for _, text := range texts[:n] {
			sum.Write(text)
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// lines writes items, one a line.
func lines(b []byte, items []item, rows []row) []byte {
	b = slices.Grow(b, 200*len(rows))
	for _, r := range rows {
		b = append(items[r.index].appendCanonical(b), '\n')
	}
	return b
}

// A row is an item's place in the order of hashing.
type row struct {
	at      int64
	key     string
	caption int64 // 0 for one that is not a number
	index   int
}

func byTime(a, b row) int { return cmp.Compare(a.at, b.at) }

// byUse is for rows of one time.
func byUse(a, b row) int {
	if c := strings.Compare(a.key, b.key); c != 0 {
		return c
	}
	return cmp.Compare(a.caption, b.caption)
}

// ordered gives the items' places. Most schedules come in the order of their
// times, so that only what is sent at one time is left to sort; what is the same
// so far goes by the canonical form.
func ordered(items []item) []row {
	rows := make([]row, len(items))
	for i := range items {
		rows[i] = row{items[i].at, items[i].key, captionNumber(items[i].caption), i}
	}
	if !slices.IsSortedFunc(rows, byTime) {
		slices.SortFunc(rows, byTime)
	}
	for once := range runs(rows, byTime) {
		slices.SortFunc(once, byUse)
		for same := range runs(once, byUse) {
			byText(items, same)
		}
	}
	return rows
}

// captionNumber is a caption's number, or 0.
func captionNumber(caption any) int64 {
	if n, ok := whole(caption); ok {
		return n
	}
	f, _ := caption.(float64)
	return int64(f)
}

// runs are the parts of sorted rows, of two and more, that compare as equal.
func runs(rows []row, compare func(a, b row) int) iter.Seq[[]row] {
	return func(yield func([]row) bool) {
		for start, end := 0, 0; start < len(rows); start = end {
			for end = start + 1; end < len(rows) && compare(rows[start], rows[end]) == 0; {
				end++
			}
			if end-start > 1 && !yield(rows[start:end]) {
				return
			}
		}
	}
}

func byText(items []item, rows []row) {
	text := make(map[int]string, len(rows))
	for _, r := range rows {
		text[r.index] = string(items[r.index].appendCanonical(nil))
	}
	slices.SortFunc(rows, func(a, b row) int { return strings.Compare(text[a.index], text[b.index]) })
}

// appendCanonical writes an item without its null fields.
func (it *item) appendCanonical(b []byte) []byte {
	if !it.simple {
		return appendObject(b, it.raw, sortedKeys(it.raw), true)
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
