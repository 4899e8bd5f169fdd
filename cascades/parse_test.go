package cascades

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/internal/codes"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/wards"
)

// TestFull checks the parsed form of a file with every key.
func TestFull(t *testing.T) {
	c, err := Load("full.yaml", folder("testdata/good"), known())
	if err != nil {
		t.Fatal(err)
	}
	if c.ID != "blog_post" || c.Model.String() != "gpt-5-mini" || c.Budget != (Budget{40, 200000, 1.5, 10 * time.Minute, 20}) {
		t.Errorf("cascade: %q %q %+v", c.ID, c.Model, c.Budget)
	}
	if in := c.Inputs[1]; in.Name != "publish" || in.Schema == nil || !in.HasDefault || in.Default != false {
		t.Errorf("input: %+v", in)
	}
	p, i := c.Phase("draft")
	if i != 1 || !p.Chooses() {
		t.Fatalf("draft is phase %d, chooses %v", i, p.Chooses())
	}
	r := p.Rules
	if r.MaxTurns != 3 || r.MaxAttempts != 3 || !r.Capped || r.OnExhausted != "give_up" || r.Timeout != 90*time.Second {
		t.Errorf("rules: %+v", r)
	}
	if w := r.Loop.Ward; w.Name != "long_enough" || w.Moment != wards.LoopUntil || w.MaxAttempts != 3 || w.Silent {
		t.Errorf("loop_until: %+v", w)
	}
	if w := p.SchemaWard; w == nil || w.MaxAttempts != 3 || w.Mode != wards.Retry {
		t.Errorf("output_schema: %+v", w)
	}
	var posts []string
	for _, check := range p.Wards.Post {
		posts = append(posts, fmt.Sprintf("%s %s %d", check.Ward.Name, check.Ward.Mode, check.Ward.MaxAttempts))
	}
	want := []string{"content_safety blocking 3", "grammar_check retry 3", "style_check advisory 3", "style_check shadow 3", "expr blocking 3", "truth blocking 3",
		"exec blocking 3", "cascade blocking 3", "schema blocking 3", "word_count blocking 3", "word_count blocking 3"}
	if !reflect.DeepEqual(posts, want) {
		t.Errorf("post-wards: %q", posts)
	}
	if polish, _ := c.Phase("polish"); polish.Chooses() || !polish.Rules.Loop.Ward.Silent || polish.Rules.MaxAttempts != 3 || polish.Rules.Capped {
		t.Errorf("polish: %+v", polish.Rules)
	}
	if gate, _ := c.Phase("gate"); gate.Tool == nil || gate.Tool.Validator == nil || gate.Tool.Validator.Check == nil {
		t.Errorf("gate: %+v", gate.Tool)
	}
	if sub, _ := c.Phase("outline"); len(sub.Subs) != 1 || sub.Subs[0].Cascade.ID != "research" {
		t.Errorf("sub-cascades: %+v", sub.Subs)
	}
}

// TestFiles checks that a cascade stores each of its files once, and that these
// files load.
func TestFiles(t *testing.T) {
	c, err := Load("full.yaml", folder("testdata/good"), known())
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, f := range c.Files {
		if seen[f.Name] || len(f.Text) == 0 {
			t.Errorf("%s is kept twice, or without its text", f.Name)
		}
		seen[f.Name] = true
	}
	if c.Files[0].Name != "full.yaml" || !seen["parts/research.yaml"] {
		t.Errorf("kept %v", seen)
	}
	again, err := Load(c.Files[0].Name, Unpacked(c.Files), known())
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(again.Files, c.Files) || again.Plan("", nil).Text() != c.Plan("", nil).Text() {
		t.Error("it is another cascade")
	}
	if sub, _ := c.Phase("outline"); sub.Subs[0].Cascade.Files != nil {
		t.Error("a nested cascade keeps files of its own")
	}
	if _, err := Unpacked(c.Files)("other.yaml"); err == nil {
		t.Error("a file that is not kept opens")
	}
}

// TestNames checks that a name finds the file's validator before a built-in. A
// definition must not use another definition.
func TestNames(t *testing.T) {
	c := parsed(t, `
cascade_id: x
validators:
  max_length: {use: max_length, with: {max: 3}}
  grammar_check: {expr: "true"}
phases:
- name: a
  instructions: x
  rules: {loop_until: grammar_check}
  wards: {post: [{validator: max_length}, {use: grammar_check}]}
`, nil)
	p := c.Phases[0]
	if v := p.Rules.Loop.Validator; !v.Pure || v.Criteria != nil {
		t.Errorf("loop_until did not find the file's own: %+v", v)
	}
	if v := p.Wards.Post[0].Validator; v.Check == nil || !v.Pure {
		t.Errorf("validator did not find the file's own: %+v", v)
	}
	if v := p.Wards.Post[1].Validator; v.Criteria == nil {
		t.Errorf("use did not find the built-in: %+v", v)
	}
}

// TestDocumentBounds checks the maximum size of a file.
func TestDocumentBounds(t *testing.T) {
	for size, whole := range map[int]bool{syntax.MaxSource: true, syntax.MaxSource + 1: false} {
		text := "a: 1\n#" + strings.Repeat("-", size-6)
		if doc, err := Document("x.yaml", []byte(text)); (doc != nil && err == nil) != whole || err != nil && !strings.HasPrefix(err.Error(), "x.yaml:1:1: ") {
			t.Errorf("of %d bytes: %v", size, err)
		}
	}
}

// TestValues checks that a text with a single plain variable has the value of the variable.
func TestValues(t *testing.T) {
	c := parsed(t, `
cascade_id: x
tools: {show: {exec: [cat]}}
phases:
- name: a
  tool: show
  inputs: {path: "{{ input.path }}", list: "{{ input.list }}", text: "n {{ input.list }}", deep: [{n: "{{- input.deep.n -}}"}], whole: "{{ state }}", at: "@{{input.path}}", n: 3, f: 1.5, b: true, z: null, d: 2024-01-02, hex: 0x10, half: .5, plus: +2.0, wide: 0x1FFFFFFFFFFFFFFFF, far: 1e400, quoted: "1e400", tagged: !!str 5}
`, nil)
	inputs := c.Phases[0].Inputs
	if inputs.Static() {
		t.Error("static though there are templates")
	}
	if !inputs.Reads("input") || inputs.Reads("lineage") {
		t.Error("reads input alone")
	}
	state := map[string]any{"s": 1}
	got, err := inputs.Render(map[string]any{"input": map[string]any{"path": "p", "list": []any{1, 2}, "deep": map[string]any{"n": 7}}, "state": state})
	want := map[string]any{"path": "p", "list": []any{1, 2}, "text": "n [1, 2]", "deep": []any{map[string]any{"n": 7}}, "at": "@p", "whole": map[string]any{"s": 1},
		"n": 3, "f": 1.5, "b": true, "z": nil, "d": "2024-01-02", "hex": 16, "half": 0.5, "plus": json.Number("2.0"), "wide": "0x1FFFFFFFFFFFFFFFF", "far": json.Number("1e400"), "quoted": "1e400", "tagged": "5"}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %#v, %v\nwant %#v", got, err, want)
	}
	if got["whole"].(map[string]any)["s"] = 2; state["s"] != 1 {
		t.Error("what is rendered of the state is the state itself")
	}
	for want, vars := range map[string]map[string]any{
		"path: {{ input.path }}: input.path is undefined":          {"input": map[string]any{"list": 1, "deep": map[string]any{"n": 7}}},
		"path: {{ input.path }}: input has no field path":          {"input": "x"},
		"whole: {{ state }}: state is undefined":                   {},
		"deep: n: {{- input.deep.n -}}: input.deep.n is undefined": {"input": map[string]any{"deep": map[string]any{}}},
	} {
		name, _, _ := strings.Cut(want, ":")
		one := Values{name: inputs[name]}
		if _, err := one.Render(vars); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestWholeNames checks that a relative name finds a file next to the file that
// names it, and an absolute name finds it anywhere.
func TestWholeNames(t *testing.T) {
	const inner = "cascade_id: inner\nphases: [{name: a, instructions: x}]\n"
	const outer = "cascade_id: outer\nphases: [{name: a, instructions: x, sub_cascades: [{ref: /abs/one.yaml}, {ref: ../two.yaml}, {ref: three.yaml}]}]\n"
	if _, err := Load("dir/outer.yaml", files(map[string]string{"dir/outer.yaml": outer, "/abs/one.yaml": inner, "two.yaml": inner, "dir/three.yaml": inner}), known()); err != nil {
		t.Error(err)
	}
}

// TestUse checks that a validator has the same effect with and without a file.
func TestUse(t *testing.T) {
	for name, c := range map[string]struct {
		with                     map[string]any
		refused, asks, publishes bool
	}{
		"max_length": {with: map[string]any{"max": 3}}, "grammar_check": {asks: true},
		"min_length": {with: map[string]any{"mx": 3}, refused: true}, "nobody": {refused: true}, "broken": {refused: true},
		"quality_check": {with: map[string]any{"strict": true}, refused: true}, "style_check": {with: map[string]any{}, asks: true},
		"edit_verifier": {with: map[string]any{"active_part": "text"}, publishes: true},
	} {
		k := known()
		k.Validators = validators.NewSet(append(k.Validators.List(), validators.NewJudge("broken", "", "{{"))...)
		v, err := Use(name, c.with, k)
		if (err != nil) != c.refused || err == nil && (v.Name != name || v.Description == "" || (v.Criteria != nil) != c.asks || (v.Check == nil) != c.asks || v.Pure == (c.asks || c.publishes) || len(v.Faults) > 0 != c.publishes) {
			t.Errorf("%s: got %+v, %v", name, v, err)
		}
	}
}

// TestPublished checks that a validator in a file has the faults that it
// publishes.
func TestPublished(t *testing.T) {
	c := parsed(t, "cascade_id: x\nphases: [{name: a, compose: x, wards: {post: [{validator: edit_verifier, with: {active_part: text}}, {validator: non_empty}]}}]", nil)
	if posts := c.Phases[0].Wards.Post; len(posts[0].Validator.Faults) == 0 || len(posts[1].Validator.Faults) > 0 {
		t.Errorf("they publish %v and %v", posts[0].Validator.Faults, posts[1].Validator.Faults)
	}
}

// TestJSON checks that a JSON file is read as JSON, and the positions of its
// mistakes.
func TestJSON(t *testing.T) {
	c, err := Load("windlass_wards.json", folder("testdata/good"), known())
	if err != nil {
		t.Fatal(err)
	}
	if want := "All three modes together 😀 and a slash/"; c.Description != want {
		t.Errorf("description %q, want %q", c.Description, want)
	}
	key := strings.Repeat("k", 5000)
	tests := []struct{ name, source, want string }{
		{"a.json", "{\n\t\"cascade_id\":\"x\",\n\t\"é😀\\ud83d\\ude00\": 1, \"nope\": 2, \"phases\":[{\"name\":\"a\",\"instructions\":\"b\"}]\n}",
			"a.json:3:2: the cascade has no key \"é😀😀\" [unknown-key]\na.json:3:23: the cascade has no key \"nope\" [unknown-key]"},
		{"a.json", `{"cascade_id":"x","phases":[{"name":"a","instructions":"a\n\"\u00e9\ud83d\ude00\/ {{ nope }}"}]}`, "a.json:1:86: template: no variable is called \"nope\""},
		{"a.json", `{"cascade_id":"x","` + key + `":1,"phases":[{"name":"a","instructions":"b"}]}`, "a.json:1:19: the cascade has no key \"kkk"},
		{"a.json", `{"cascade_id":"x","cascade_id":"y","phases":[{"name":"a","instructions":"b"}]}`, "a.json:1:19: key \"cascade_id\" stands twice in the cascade [duplicate]"},
		{"a.json", "{\n \"cascade_id\": \"x\",\n \"phases\": [\n}", "a.json:4:1: JSON: invalid character '}' looking for beginning of value [syntax]"},
		{"a.json", `{"cascade_id":"x","phases":[]} trailing`, "a.json:1:32: JSON: invalid character 't' after top-level value [syntax]"},
		{"a.json", `{"<<": {"cascade_id":"x"}, "phases":[{"name":"a","instructions":"b"}]}`, "the cascade has no key \"<<\""},
		{"a.yaml", `{"cascade_id": "x", "phases": [{"name": "a", "instructions": "b",}], }`, ""},
	}
	for _, test := range tests {
		got := found(t, test.name, test.source).Error()
		if test.want == "" && got != "" || !strings.Contains(got, test.want) {
			t.Errorf("%.100s\ngot  %.300s\nwant %s", test.source, got, test.want)
		}
	}
}

// TestEncodings checks that line ends and byte order marks change nothing.
func TestEncodings(t *testing.T) {
	plain := "cascade_id: x\nphases:\n- name: ä\n  instructions: |\n    a\n    {{ nope }}\n  rules: {on_exhausted: lst}\n"
	want := found(t, "x.yaml", plain)
	if len(want) != 2 {
		t.Fatalf("want two mistakes, got %v", want)
	}
	for name, source := range map[string]string{
		"byte order mark": "\ufeff" + plain,
		"CRLF":            strings.ReplaceAll(plain, "\n", "\r\n"),
		"both":            "\ufeff" + strings.ReplaceAll(plain, "\n", "\r\n"),
		"no last newline": strings.TrimSuffix(plain, "\n"),
	} {
		if got := found(t, "x.yaml", source); !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n%v\nwant\n%v", name, got, want)
		}
	}
}

// TestOrder checks that diagnostics are in file order, and begin with the
// loaded file.
func TestOrder(t *testing.T) {
	_, err := Load("z.yaml", files(map[string]string{
		"z.yaml": "cascade_id: z\nvalidators: {v: {cascade: a.yaml}}\nphases:\n- {name: a, instructions: x, handoffs: [q]}\n- {name: b, instructions: x, nope: 1, rules: {loop_until: v}, sub_cascades: [{ref: a.yaml}]}\n",
		"a.yaml": "cascade_id: a\nnope: 1\nphases: [{name: a, instructions: x}]\n",
	}), known())
	var got []string
	for _, d := range err.(syntax.Diagnostics) {
		got = append(got, fmt.Sprintf("%s:%d %s", d.File, d.Line, d.Code))
	}
	want := []string{"z.yaml:4 unknown-phase", "z.yaml:5 unknown-key", "a.yaml:2 unknown-key"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestChooses checks when the model selects the next phase.
func TestChooses(t *testing.T) {
	tests := map[string]bool{
		"[]":                                false,
		"[a]":                               false,
		"[a, b]":                            true,
		"[{target: a, description: x}]":     true,
		"[{target: a, when: 'true'}]":       false,
		"[{target: a, when: 'true'}, b]":    false,
		"[{target: a, when: 'true'}, a, b]": true,
		"[{target: a, when: 'true', description: x}]": false,
	}
	for handoffs, want := range tests {
		c := parsed(t, "cascade_id: x\nphases:\n- {name: a, instructions: x, handoffs: "+handoffs+"}\n- {name: b, instructions: x}\n", nil)
		if got := c.Phases[0].Chooses(); got != want {
			t.Errorf("%s: %v", handoffs, got)
		}
	}
}

// TestExamples checks that the shipped cascades parse.
func TestExamples(t *testing.T) {
	for _, name := range glob(t, "examples/*.yaml") {
		if strings.HasSuffix(name, ".scripted.yaml") {
			continue
		}
		if _, err := Load(filepath.Base(name), folder("examples"), known()); err != nil {
			t.Error(err)
		}
	}
}

// TestLoadNothing checks that the message names a missing file and has no
// position.
func TestLoadNothing(t *testing.T) {
	_, err := Load("none.yaml", files(nil), known())
	var list syntax.Diagnostics
	if !errors.As(err, &list) || len(list) != 1 || list[0].Position != (syntax.Position{File: "none.yaml"}) || list[0].Code != codes.File || list[0].String() != "no such file: none.yaml" || !list.Broken() {
		t.Errorf("got %#v", err)
	}
}
