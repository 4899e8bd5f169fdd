package templates

import (
	"strings"
	"testing"

	"github.com/flosch/pongo2/v6"
)

var sink string

var article = map[string]any{
	"input":   map[string]any{"topic": "gophers", "tone": "friendly"},
	"outputs": map[string]any{"draft": strings.Repeat("A sentence about gophers. ", 100)},
	"turn":    1,
}

const typical = `Write about {{ input.topic }} in a {{ input.tone }} tone.
{% if turn == 1 %}Check for major issues.{% else %}Polish it.{% endif %}`

// rivals lists templates, each with its form in plain pongo2.
var rivals = []struct {
	name, template, theirs string
	vars                   map[string]any
}{
	{"Plain", strings.Repeat("Write a blog post. ", 50) + "\n", strings.Repeat("Write a blog post. ", 50) + "\n", article},
	{"Typical", typical, typical, article},
	{"Loop", rowsLoop, strings.ReplaceAll(rowsLoop, "loop.index", "forloop.Counter"), map[string]any{"rows": manyRows()}},
	{"LongText", "Judge this:\n{{ content }}\n", "Judge this:\n{{ content|safe }}\n", map[string]any{"content": strings.Repeat("0123456789abcdef", 1<<16)}},
	{"Megabyte", megabyte, megabyte, map[string]any{"a": "x"}},
}

const rowsLoop = `{% for row in rows %}{{ loop.index }}. {{ row.name }}: {{ row.value }}
{% endfor %}`

var megabyte = strings.Repeat("{{ a }} {% if a %}b{% endif %}\n", 1<<20/31)

func manyRows() []any {
	rows := make([]any, 100)
	for i := range rows {
		rows[i] = map[string]any{"name": "row", "value": i}
	}
	return rows
}

// BenchmarkPongo2 parses and renders each template with this package and with
// pongo2 alone.
func BenchmarkPongo2(b *testing.B) {
	set := pongo2.NewSet("plain", noFiles{})
	for _, c := range rivals {
		b.Run("Parse/"+c.name+"/ours", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse(c.template); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("Parse/"+c.name+"/pongo2", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := set.FromString(c.theirs); err != nil {
					b.Fatal(err)
				}
			}
		})
		parsed, err := Parse(c.template)
		if err != nil {
			b.Fatal(err)
		}
		theirs, err := set.FromString(c.theirs)
		if err != nil {
			b.Fatal(err)
		}
		b.Run("Render/"+c.name+"/ours", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if sink, err = parsed.Render(c.vars); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("Render/"+c.name+"/pongo2", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if sink, err = theirs.Execute(pongo2.Context(c.vars)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
