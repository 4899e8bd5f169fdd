package builtins

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/seed61713e19/capstan/internal/patterns"
	"github.com/seed61713e19/capstan/internal/reading"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/internal/tables"
)

// numbersOf returns the numbers of a document outside code and addresses.
func numbersOf(d *reading.Document) []part {
	var list []part
	inTexts(d, "0123456789", func(d *reading.Document, line int) {
		for i := range d.Blocks {
			b := &d.Blocks[i]
			if b.Kind == reading.CodeBlock {
				continue
			}
			for _, p := range numbersIn(masked(b, reading.CodeSpan, reading.Autolink)) {
				p.line = cmp.Or(line, d.Line(b.Offset(p.line)))
				list = append(list, p)
			}
		}
	})
	if whole := d.Whole(); whole != nil {
		list = jsonNumbers(list, whole.Value, d.Line(whole.Start))
	}
	return list
}

// jsonNumbers appends the numbers of a JSON value that are not in strings.
func jsonNumbers(list []part, v any, line int) []part {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			list = jsonNumbers(list, item, line)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			list = jsonNumbers(list, v[name], line)
		}
	case nil, bool, string:
	default:
		text, _ := schema.Encode(v)
		for _, p := range numbersIn(string(text)) {
			p.line = line
			list = append(list, p)
		}
	}
	return list
}

// masked returns the text of a block with blanks in place of the elements of
// some kinds.
func masked(b *reading.Block, kinds ...reading.InlineKind) string {
	text := []byte(b.Text)
	for _, in := range b.Inlines {
		if slices.Contains(kinds, in.Kind) {
			for i := in.Text.Start; i < in.Text.End; i++ {
				text[i] = ' '
			}
		}
	}
	return string(text)
}

// numbersIn returns the numbers of a text, and both ends of a range. The line
// of each part is its offset. A full hour has no minutes: 15:00 is 15.
func numbersIn(text string) []part {
	var list []part
	text = version().ReplaceAllString(text, " $1")
	numbers := reading.Numbers(text)
	for i, n := range numbers {
		minutes := n.Start > 0 && text[n.Start-1] == ':'
		if minutes && n.In(text) == "00" {
			continue
		}
		end := n.End
		if i+1 < len(numbers) && numbers[i+1].Start == n.End+1 && text[n.End] == ':' {
			end = numbers[i+1].End // the end of the minutes
		}
		keys := n.Readings
		if late, found := halfOfDay(text[end:]); found && !minutes && n.Value >= 1 && n.Value <= 12 {
			keys = []string{strconv.Itoa(int(n.Value)%12 + late)}
		}
		list = append(list, part{n.In(text), keys, n.Start})
		if n.To != nil {
			list = append(list, part{n.To.In(text), n.To.Readings, n.To.Start})
		}
	}
	return list
}

// version matches a version with the letter before it.
var version = patterns.Lazy(`\b[vV](\d+\.\d)`)

// hoursToAdd maps the word after a 12-hour time to the hours to add.
var hoursToAdd = sync.OnceValue(func() map[string]int {
	words := map[string]int{}
	for _, r := range tables.Rows(hoursTable) {
		words[r["words"]] = map[string]int{"before noon": 0, "after noon": 12}[r["kind"]]
	}
	return words
})

// halfOfDay returns the hours that the word at the start of a text adds to the
// time before it.
func halfOfDay(text string) (hours int, found bool) {
	word := strings.TrimLeft(text[:min(len(text), 8)], " \u00a0\u202f")
	end := strings.IndexFunc(word, func(r rune) bool { return r != '.' && !unicode.IsLetter(r) })
	if end >= 0 {
		word = word[:end]
	}
	hours, found = hoursToAdd()[strings.ReplaceAll(strings.ToLower(word), ".", "")]
	return hours, found
}
