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

	"github.com/seed61713e19/capstan/validators/schedule/statements"
)

// itemsHash is the SHA-256 of the canonical items in the order of date, time,
// send type and caption: the same for every order of the items and every spelling
// of their JSON, another if any field of any of them differs, be it 08:00Z for
// 08:00. A null field is one that is not there.
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
	return string(statements.Append(nil, v))
}

// namesHash is the SHA-256 of a set of names, sorted.
func namesHash(names []string) string {
	sorted := slices.Compact(slices.Sorted(slices.Values(names)))
	var text []byte
	for _, name := range sorted {
		text = append(statements.AppendText(text, name), '\n')
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
