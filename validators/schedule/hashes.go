package schedule

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/seed61713e19/capstan/validators/schedule/internal/statements"
)

// itemsHash returns the SHA-256 of the canonical items, ordered by date, time, send type and
// caption. It does not depend on the order of the items or on the spelling of their JSON. It
// differs if any field of any item differs. Even 08:00Z and 08:00 are different. A null field
// counts as missing.
func itemsHash(items []item) string {
	rows := ordered(items)
	sum := sha256.New()
	var texts [4][]byte                // one for each portion of a block
	const block = len(texts) * portion // number of items that are encoded before they are hashed
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

// lines appends items, one in each line.
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
	caption int64 // 0 if it is not a number
	index   int
}

func byTime(a, b row) int { return cmp.Compare(a.at, b.at) }

// byUse compares rows of the same time.
func byUse(a, b row) int {
	if c := strings.Compare(a.key, b.key); c != 0 {
		return c
	}
	return cmp.Compare(a.caption, b.caption)
}

// ordered returns the items' places in order. Most schedules are already
// ordered by time, so only items of the same time are sorted. Remaining ties
// are resolved by the canonical form.
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

// captionNumber returns a caption's number, or 0.
func captionNumber(caption any) int64 {
	switch n := caption.(type) {
	case int:
		return int64(n)
	case int64:
		return n
	case float64:
		return int64(n)
	}
	return 0
}

// runs yields the parts of sorted rows, of two or more, that compare as equal.
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

// appendCanonical appends the canonical form of an item without its null
// fields.
func (it *item) appendCanonical(b []byte) []byte {
	if !it.simple {
		return statements.AppendSparse(b, it.raw)
	}
	b = append(b, '{')
	if it.caption != nil {
		b = statements.Append(append(b, `"caption_id":`...), it.caption)
	}
	if !it.noContent {
		b = statements.AppendText(append(comma(b), `"content_type":`...), it.content)
	}
	for _, field := range []struct {
		name  string
		value float64
	}{{`"days_since_last_use":`, it.unused}, {`"performance_score":`, it.performance}, {`"price":`, it.price}} {
		if !math.IsNaN(field.value) {
			b = statements.AppendNumber(append(comma(b), field.name...), field.value)
		}
	}
	for _, field := range []struct{ name, value string }{{`"scheduled_date":`, it.date}, {`"scheduled_time":`, it.time}, {`"send_type_key":`, it.key}} {
		if field.value != "" {
			b = statements.AppendText(append(comma(b), field.name...), field.value)
		}
	}
	return append(b, '}')
}

// comma appends a comma unless the object is empty.
func comma(b []byte) []byte {
	if b[len(b)-1] == '{' {
		return b
	}
	return append(b, ',')
}

// captionOrder returns a caption's id as text.
func captionOrder(v any) string {
	if v == nil {
		return ""
	}
	return string(statements.Append(nil, v))
}

// namesHash returns the SHA-256 of a sorted set of names.
func namesHash(names []string) string {
	sorted := slices.Compact(slices.Sorted(slices.Values(names)))
	var text []byte
	for _, name := range sorted {
		text = append(statements.AppendText(text, name), '\n')
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// show returns a value for a message.
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
