package templates

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/flosch/pongo2/v6"
)

func rendered(source string, vars map[string]any) (string, error) {
	t, err := Parse(source)
	if err != nil {
		return "", err
	}
	return t.Render(vars)
}

func TestConcurrentUse(t *testing.T) {
	var group sync.WaitGroup
	shared, err := Parse("{% for x in xs %}{{ loop.index }}{{ x|upper }}{% endfor %}{{ n }}")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 8 {
		group.Go(func() {
			// pongo2 writes to a set whenever it parses: each goroutine has its own.
			own := pongo2.NewSet("own", pongo2.DefaultLoader)
			for range 50 {
				want := fmt.Sprintf("1A2B%d", i)
				if got, err := shared.Render(map[string]any{"xs": []string{"a", "b"}, "n": i}); err != nil || got != want {
					t.Errorf("%q, %v; want %q", got, err, want)
				}
				if _, err := Parse("{% if a %}{{ b }}{% endif %}"); err != nil {
					t.Error(err)
				}
				// An embedder's own pongo2 still works.
				if got, err := own.RenderTemplateString("{% for x in xs %}{{ x|upper }}{% endfor %}", pongo2.Context{"xs": []string{"a"}}); err != nil || got != "A" {
					t.Errorf("%q, %v", got, err)
				}
			}
		})
	}
	group.Wait()
}

func TestTagOutsideOfOurTemplates(t *testing.T) {
	for _, source := range []string{"{%capstan%}{%e%}", "{% capstan %}x{% n %}{% e %}", "{% capstan 0 0 %}", "{% n %}"} {
		document, err := pongo2.FromString(source)
		if err == nil {
			_, err = document.Execute(nil)
		}
		if err == nil {
			t.Errorf("%s is executed", source)
		}
	}
}

func TestPlainTextCostsNothing(t *testing.T) {
	plain, err := Parse(strings.Repeat("{ no tag } ", 1000) + "\n")
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() { sink, _ = plain.Render(nil) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestTypicalIsCheap(t *testing.T) {
	parsed, err := Parse(typical)
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() { sink, _ = parsed.Render(article) }); n > 20 {
		t.Errorf("%v allocations", n)
	}
}

// TestCarriedByPongo2 checks that a template renders the same with pongo2 as
// with Jinja2.
func TestCarriedByPongo2(t *testing.T) {
	text, err := os.ReadFile("internal/jinja/testdata/jinja.json")
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var cases []struct {
		Name, Template string
		Vars           map[string]any
		Want           *string
	}
	if err := decoder.Decode(&cases); err != nil {
		t.Fatal(err)
	}
	carried := 0
	for _, c := range cases {
		got, err := rendered(c.Template, c.Vars)
		if (err == nil) != (c.Want != nil) || err == nil && got != *c.Want {
			t.Errorf("%s: %q gives %q, %v", c.Name, c.Template, got, err)
		}
		if parsed, err := Parse(c.Template); err == nil && parsed.document != nil {
			carried++
		}
	}
	if carried < 100 {
		t.Errorf("pongo2 carried only %d of %d templates", carried, len(cases))
	}
}

// TestBlocksAlone checks that a template without blocks has no document.
func TestBlocksAlone(t *testing.T) {
	for source, carried := range map[string]bool{"text": false, "{{ a }}": false, "{% set a = 1 %}{{ a }}": false, "{% print 1 %}": false,
		"{% if a %}{% endif %}": true, "{% set a %}{% endset %}": true, "{% macro m() %}{% endmacro %}": true} {
		parsed, err := Parse(source)
		if err != nil || (parsed.document != nil) != carried {
			t.Errorf("%s: carried is %v, %v", source, parsed.document != nil, err)
		}
	}
}

// TestMistakenIsNotRendered checks that a template with a mistake never renders
// its own source.
func TestMistakenIsNotRendered(t *testing.T) {
	parsed, err := Parse("{{ a|uper }}")
	if err == nil || parsed == nil {
		t.Fatal(parsed, err)
	}
	if text, err := parsed.Render(map[string]any{"a": "x"}); err == nil {
		t.Errorf("got %q", text)
	}
}

// TestShapes checks that templates with the same blocks share only a document,
// even concurrently, and that few documents are cached.
func TestShapes(t *testing.T) {
	parsed := func(source string) *Template {
		one, err := Parse(source)
		if err != nil {
			t.Fatal(err)
		}
		return one
	}
	one, two := parsed("{% if a %}A{{ a }}{% else %}none{% endif %}"), parsed("{% if b %}B{{ b }}{% else %}not one{% endif %}")
	other := parsed("{% for x in a %}{{ x }}{% endfor %}")
	if one.document != two.document || one.document == other.document {
		t.Errorf("shared %t, other %t", one.document == two.document, one.document == other.document)
	}
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			for of, want := range map[*Template]string{one: fmt.Sprint("A", i+1), two: "not one"} {
				if got, err := of.Render(map[string]any{"a": i + 1, "b": false}); got != want || err != nil {
					t.Errorf("got %s (%v), want %s", got, err, want)
				}
			}
		})
	}
	all.Wait()
	kinds := []string{"{% if a %}{% endif %}", "{% if a %}{% else %}{% endif %}"}
	for n := range 2 * maxShapes {
		var source strings.Builder
		for bit := range 10 {
			source.WriteString(kinds[n>>bit&1])
		}
		parsed(source.String())
	}
	documents, err := skeletons()
	if err != nil || len(documents.seen) > maxShapes {
		t.Errorf("%d documents are cached (%v)", len(documents.seen), err)
	}
	for shape := range documents.seen {
		if len(shape) > maxShape {
			t.Errorf("a document of %d bytes is cached", len(shape))
		}
	}
}
