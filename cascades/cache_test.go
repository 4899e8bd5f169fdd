package cascades

import (
	"errors"
	"fmt"
	"math"
	"path"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/seed61713e19/capstan/cascades/syntax"
)

// TestMemo checks that the cache does not change the diagnostics of a file,
// whatever was read before. The cache must not hold more than two readings
// need.
func TestMemo(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/mistakes.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var cache Cache
	for range 2 {
		for _, f := range archive.Files {
			if path.Ext(f.Name) == ".said" {
				continue
			}
			want := diagnosticsOf(f, nil)
			for range 2 {
				if got := diagnosticsOf(f, &cache); got != want {
					t.Errorf("%s: got\n%s\nwant\n%s", f.Name, got, want)
				}
			}
		}
	}

	cache = Cache{}
	template := func(i int, rest string) txtar.File {
		return txtar.File{Name: "x.yaml", Data: fmt.Appendf(nil, "cascade_id: x\nphases: [{name: a, instructions: \"{{ input.n%d }}\"%s}]\n", i, rest)}
	}
	for i := range 50 {
		diagnosticsOf(template(i, fmt.Sprintf(", output_schema: {const: %d}, wards: {post: [{expr: len(content) > %d}]}", i, i)), &cache)
		diagnosticsOf(template(i, ", oops: [}"), &cache) // not YAML: the cache forgets nothing
		diagnosticsOf(template(i, ", oops: [}}"), &cache)
	}
	cached := len(cache.templates.now) + len(cache.templates.before)
	if _, still := cache.templates.before["{{ input.n49 }}"]; cached > 1 || !still {
		t.Errorf("%d templates are kept: %v, %v", cached, cache.templates.now, cache.templates.before)
	}
	if e, s := len(cache.expressions.now)+len(cache.expressions.before), len(cache.schemas.now)+len(cache.schemas.before); e > 1 || s > 1 {
		t.Errorf("%d expressions and %d schemas are kept", e, s)
	}
	// The cache has every compiled template, expression and schema.
	cache = Cache{}
	diagnosticsOf(template(0, ", output_schema: {type: string}, rules: {turn_prompt: x}, wards: {turn: [{schema: {type: object}}], post: [{expr: content == 'x'}, {expr: content == 'y'}]}"), &cache)
	cache.templates.turn()
	cache.expressions.turn()
	cache.schemas.turn()
	if len(cache.templates.before) != 2 || len(cache.expressions.before) != 2 || len(cache.schemas.before) != 2 {
		t.Errorf("there are %d templates, %d expressions and %d schemas", len(cache.templates.before), len(cache.expressions.before), len(cache.schemas.before))
	}
	// The cache holds errors, and a correction replaces an error.
	each := "cascade_id: x\nphases: [{name: a, instructions: x, wards: {post: [{expr: \"%s == 'x'\"}]}}]\n"
	for _, name := range []string{"content", "contnt", "content"} {
		got := diagnosticsOf(txtar.File{Name: "x.yaml", Data: fmt.Appendf(nil, each, name)}, &cache)
		if strings.Contains(got, "unknown name") != (name == "contnt") {
			t.Errorf("%s: got %s", name, got)
		}
	}
}

// TestMemoCompilesOnce checks that a value is compiled once if the current or
// the previous reading needs it.
func TestMemoCompilesOnce(t *testing.T) {
	var again memory[int]
	compiled := 0
	for range 3 {
		for range 2 {
			_, _ = again.of("x", func() (int, error) { compiled++; return 0, nil })
		}
		again.turn()
	}
	if compiled != 1 {
		t.Errorf("it is compiled %d times", compiled)
	}
}

// TestMemoNotJSON checks the cache with values that JSON cannot
// represent. They must not share an entry.
func TestMemoNotJSON(t *testing.T) {
	var cache Cache
	for _, kind := range []string{"string", "number"} {
		s, err := cache.schema(map[string]any{"type": kind, "default": math.Inf(1)})
		if err != nil {
			t.Fatal(err)
		}
		if broken, err := s.Check(nil, "a text"); err != nil || len(broken) > 0 != (kind == "number") {
			t.Errorf("a text as a %s: %v, %v", kind, broken, err)
		}
	}
}

// diagnosticsOf returns the diagnostics of a file that is read with a cache.
func diagnosticsOf(f txtar.File, cache *Cache) string {
	k := known()
	k.Cache = cache
	c, err := Parse(f.Name, f.Data, files(nil), k)
	var list syntax.Diagnostics
	if !errors.As(err, &list) {
		list = c.Warnings
	}
	return list.Error()
}
