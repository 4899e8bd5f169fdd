package cascades

import (
	"errors"
	"fmt"
	"math"
	"path"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestMemo holds that what is remembered of a file changes nothing of what is said
// of it, whatever was read before, and is bounded by what two readings need.
func TestMemo(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/mistakes.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var memo Memo
	for range 2 {
		for _, f := range archive.Files {
			if path.Ext(f.Name) == ".said" {
				continue
			}
			want := said(f, nil)
			for range 2 {
				if got := said(f, &memo); got != want {
					t.Errorf("of %s is said\n%s\nnot\n%s", f.Name, got, want)
				}
			}
		}
	}

	memo = Memo{}
	template := func(i int, rest string) txtar.File {
		return txtar.File{Name: "x.yaml", Data: fmt.Appendf(nil, "cascade_id: x\nphases: [{name: a, instructions: \"{{ input.n%d }}\"%s}]\n", i, rest)}
	}
	for i := range 50 {
		said(template(i, fmt.Sprintf(", output_schema: {const: %d}, wards: {post: [{expr: len(content) > %d}]}", i, i)), &memo)
		said(template(i, ", oops: [}"), &memo) // no YAML: nothing is forgotten
		said(template(i, ", oops: [}}"), &memo)
	}
	kept := len(memo.templates.now) + len(memo.templates.before)
	if _, still := memo.templates.before["{{ input.n49 }}"]; kept > 1 || !still {
		t.Errorf("%d templates are kept: %v, %v", kept, memo.templates.now, memo.templates.before)
	}
	if e, s := len(memo.expressions.now)+len(memo.expressions.before), len(memo.schemas.now)+len(memo.schemas.before); e > 1 || s > 1 {
		t.Errorf("%d expressions and %d schemas are kept", e, s)
	}
	// Of each kind all that was compiled is at hand.
	memo = Memo{}
	said(template(0, ", output_schema: {type: string}, rules: {turn_prompt: x}, wards: {turn: [{schema: {type: object}}], post: [{expr: content == 'x'}, {expr: content == 'y'}]}"), &memo)
	memo.templates.turn()
	memo.expressions.turn()
	memo.schemas.turn()
	if len(memo.templates.before) != 2 || len(memo.expressions.before) != 2 || len(memo.schemas.before) != 2 {
		t.Errorf("there are %d templates, %d expressions and %d schemas", len(memo.templates.before), len(memo.expressions.before), len(memo.schemas.before))
	}
	// What is wrong is remembered, and that it was mended.
	each := "cascade_id: x\nphases: [{name: a, instructions: x, wards: {post: [{expr: \"%s == 'x'\"}]}}]\n"
	for _, name := range []string{"content", "contnt", "content"} {
		got := said(txtar.File{Name: "x.yaml", Data: fmt.Appendf(nil, each, name)}, &memo)
		if strings.Contains(got, "unknown name") != (name == "contnt") {
			t.Errorf("of %s is said %s", name, got)
		}
	}
}

// What a reading needs again, or the one before needed, is compiled once.
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

// What JSON cannot say is taken for nothing else.
func TestMemoOfWhatIsNoJSON(t *testing.T) {
	var memo Memo
	for _, kind := range []string{"string", "number"} {
		s, err := memo.schema(map[string]any{"type": kind, "default": math.Inf(1)})
		if err != nil {
			t.Fatal(err)
		}
		if broken, err := s.Check(nil, "a text"); err != nil || len(broken) > 0 != (kind == "number") {
			t.Errorf("a text as a %s: %v, %v", kind, broken, err)
		}
	}
}

// said is all that is said of a file that is read with what is remembered.
func said(f txtar.File, memo *Memo) string {
	k := known()
	k.Memo = memo
	c, err := Parse(f.Name, f.Data, files(nil), k)
	var list Diagnostics
	if !errors.As(err, &list) {
		list = c.Warnings
	}
	return list.Error()
}
