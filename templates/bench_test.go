package templates

import (
	"strings"
	"testing"
)

var sink string

func benchmark(b *testing.B, source string, vars map[string]any) {
	b.Helper()
	t, err := Parse(source)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if sink, err = t.Render(vars); err != nil {
			b.Fatal(err)
		}
	}
}

var article = map[string]any{
	"input":   map[string]any{"topic": "gophers", "tone": "friendly"},
	"outputs": map[string]any{"draft": strings.Repeat("A sentence about gophers. ", 100)},
	"turn":    1,
}

const typical = `Write about {{ input.topic }} in a {{ input.tone }} tone.
{% if turn == 1 %}Check for major issues.{% else %}Polish it.{% endif %}`

func BenchmarkRenderPlain(b *testing.B) {
	benchmark(b, strings.Repeat("Write a blog post. ", 50)+"\n", article)
}

func BenchmarkRenderTypical(b *testing.B) { benchmark(b, typical, article) }

func BenchmarkRenderLoop(b *testing.B) {
	rows := make([]any, 100)
	for i := range rows {
		rows[i] = map[string]any{"name": "row", "value": i}
	}
	benchmark(b, `{% for row in rows %}{{ loop.index }}. {{ row.name }}: {{ row.value }}
{% endfor %}`, map[string]any{"rows": rows})
}

func BenchmarkRenderLongText(b *testing.B) {
	benchmark(b, "Judge this:\n{{ content }}\n", map[string]any{"content": strings.Repeat("0123456789abcdef", 1<<16)})
}

func BenchmarkParseTypical(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(typical); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseMegabyte(b *testing.B) {
	source := strings.Repeat("{{ a }} {% if a %}b{% endif %}\n", 1<<20/31)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(source); err != nil {
			b.Fatal(err)
		}
	}
}
