package cascades

import (
	"fmt"
	"path"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/cascades/internal/reader"
	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/validators"
)

// identities loads a cascade and returns the digests of its gates by phase and
// name.
func identities(t *testing.T, name string, files map[string]string, chosen Chosen) map[string]string {
	t.Helper()
	read := map[string]int{}
	open := func(name string) ([]byte, error) {
		read[name]++
		if text, ok := files[name]; ok {
			return []byte(text), nil
		}
		return nil, fmt.Errorf("%s is not there", name)
	}
	k := known()
	k.Root = path.Join(path.Dir(name), "root")
	c, err := Load(name, open, k)
	if err != nil {
		t.Fatal(err)
	}
	clear(read)
	list, err := c.Gates(chosen, open)
	if err != nil {
		t.Fatal(err)
	}
	for name, n := range read {
		if n > 1 { // a program may be large
			t.Errorf("%s is read %d times", name, n)
		}
	}
	found := map[string]string{}
	for _, g := range list {
		if !strings.HasPrefix(g.Digest, "sha256:") || len(g.Digest) != len("sha256:")+64 {
			t.Errorf("%s %s: digest %q", g.Phase, g.Name, g.Digest)
		}
		if g.Mode == "" || g.Moment == "" {
			t.Errorf("%s %s: a gate %q at %q", g.Phase, g.Name, g.Mode, g.Moment)
		}
		found[g.Phase+" "+g.Place+" "+g.Name] = g.Digest
	}
	return found
}

const gated = `
cascade_id: gated
model: small
validators:
  long: {expr: "len(content) > 5", reason: longer}
  tone: {judge: "@tone.md", votes: 3}
  house: {exec: [/at/runs, "", check.py, --strict, /at/style.txt], with: {a: 1, many: 12345678901234567890}}
  rooted: {exec: [/at/runs, check.py], cwd: root}
  whole: {cascade: sub/facts.yaml}
  short: {use: max_length, with: {max: 10}}
phases:
  - name: draft
    instructions: Write about {{ input.topic }}
    output_schema: {type: object}
    rules: {loop_until: long}
    wards:
      pre: [{validator: non_empty}]
      post:
        - {validator: tone, mode: retry}
        - {validator: house}
        - {validator: rooted}
        - {validator: whole}
        - {validator: short}
        - {expr: "len(content) < 100"}
  - {name: gate, tool: max_length, inputs: {max: 9}}
`

func gatedFiles() map[string]string {
	return map[string]string{
		"x/post.yaml": gated, "x/tone.md": "Is it friendly?", "x/check.py": "print(1)", "x/root/check.py": "print(2)", "/at/runs": "what runs them",
		"x/sub/facts.yaml": "cascade_id: facts\nphases: [{name: look, instructions: '@look.md'}]", "x/sub/look.md": "Look: {{ input.content }}",
	}
}

// TestIdentityChanges checks that each change of a gate changes its digest, and
// no other digest.
func TestIdentityChanges(t *testing.T) {
	was := identities(t, "x/post.yaml", gatedFiles(), "")
	if len(was) != 10 {
		t.Fatalf("got %d gates, want 10: %v", len(was), was)
	}
	for _, test := range []struct {
		name, file, old, to string
		chosen              Chosen
		changed             string // the last words of the changed gates, in order
	}{
		{name: "a comment", file: "x/post.yaml", old: "cascade_id: gated", to: "cascade_id: gated # yes"},
		{name: "another spelling", file: "x/post.yaml", old: "{use: max_length, with: {max: 10}}", to: "\n    with: {\"max\": 0xA}\n    use: 'max_length'"},
		{name: "a description", file: "x/post.yaml", old: "reason: longer}", to: "reason: longer, description: of length}"},
		{name: "a mode", file: "x/post.yaml", old: "mode: retry", to: "mode: advisory"},
		{name: "an expression", file: "x/post.yaml", old: "> 5", to: "> 6", changed: "long"},
		{name: "a parameter", file: "x/post.yaml", old: "max: 10", to: "max: 11", changed: "short"},
		{name: "a schema", file: "x/post.yaml", old: "type: object", to: "type: array", changed: "output_schema"},
		{name: "an inline expression", file: "x/post.yaml", old: "< 100", to: "< 101", changed: "expr"},
		{name: "a prompt's file", file: "x/tone.md", old: "friendly", to: "kind", changed: "tone"},
		{name: "votes", file: "x/post.yaml", old: "votes: 3", to: "votes: 5", changed: "tone"},
		{name: "a judge's parameters", file: "x/post.yaml", old: "votes: 3", to: "votes: 3, model: {name: small, temperature: 0}", changed: "tone"},
		{name: "the file's model", file: "x/post.yaml", old: "model: small", to: "model: big", changed: "tone whole"},
		{name: "another model", chosen: "big", changed: "tone whole"},
		{name: "a renamed model", chosen: "small=big", changed: "tone whole"},
		{name: "a model that a phase within may name", chosen: "other=big", changed: "whole"},
		{name: "a program", file: "x/check.py", old: "1", to: "2", changed: "house"},
		{name: "a file that there was not, empty", file: "/at/style.txt", changed: "house"},
		{name: "a program of the root", file: "x/root/check.py", old: "2", to: "3", changed: "rooted"},
		{name: "a program's argument", file: "x/post.yaml", old: "--strict", to: "--lax", changed: "house"},
		{name: "a program's parameter", file: "x/post.yaml", old: "67890", to: "67891", changed: "house"},
		{name: "a cascade's file", file: "x/sub/look.md", old: "Look", to: "See", changed: "whole"},
	} {
		files := gatedFiles()
		if test.file != "" {
			if !strings.Contains(files[test.file], test.old) {
				t.Fatalf("%s: no %q", test.name, test.old)
			}
			files[test.file] = strings.Replace(files[test.file], test.old, test.to, 1)
		}
		is := identities(t, "x/post.yaml", files, test.chosen)
		for key, digest := range is {
			words := strings.Fields(key)
			want := strings.Contains(" "+test.changed+" ", " "+words[len(words)-1]+" ")
			if changed := was[key] != digest; changed != want {
				t.Errorf("%s: %s changed %v, want %v", test.name, key, changed, want)
			}
		}
	}
}

// TestIdentityStays checks that digests do not depend on the path to the
// cascade.
func TestIdentityStays(t *testing.T) {
	was := identities(t, "x/post.yaml", gatedFiles(), "")
	moved := map[string]string{}
	for name, text := range gatedFiles() {
		if within, beside := strings.CutPrefix(name, "x"); beside {
			name = "/home/me/y" + within
		}
		moved[name] = text
	}
	for key, digest := range identities(t, "/home/me/y/post.yaml", moved, "") {
		if was[key] != digest {
			t.Errorf("%s is another from another place", key)
		}
	}
	here := map[string]string{}
	for name, text := range gatedFiles() {
		here[strings.TrimPrefix(name, "x/")] = text
	}
	for key, digest := range identities(t, "post.yaml", here, "") {
		if was[key] != digest {
			t.Errorf("%s is another from its own folder", key)
		}
	}
}

// TestIdentityOfSharedCascades checks that a cascade belongs to both gates that
// name it.
func TestIdentityOfSharedCascades(t *testing.T) {
	files := map[string]string{
		"a.yaml":    "cascade_id: a\nmodel: m\nphases:\n  - {name: p, instructions: x, wards: {post: [{cascade: one.yaml}, {cascade: two.yaml}]}}",
		"one.yaml":  "cascade_id: one\nphases: [{name: q, instructions: x, sub_cascades: [{ref: deep.yaml}]}]",
		"two.yaml":  "cascade_id: two\nphases: [{name: q, instructions: x, sub_cascades: [{ref: deep.yaml}]}]",
		"deep.yaml": "cascade_id: deep\nphases: [{name: r, instructions: one}]",
	}
	was := identities(t, "a.yaml", files, "")
	files["deep.yaml"] = strings.Replace(files["deep.yaml"], "one", "two", 1)
	for key, digest := range identities(t, "a.yaml", files, "") {
		if was[key] == digest {
			t.Errorf("%s is the same though a cascade within it is not", key)
		}
	}
}

// TestIdentityFails checks that a text which is not UTF-8 has no digest, and
// that the error names the first such gate. It also checks that invalid
// criteria of a judge are reported at the ward.
func TestIdentityFails(t *testing.T) {
	k := known()
	k.Validators = k.Validators.With(validators.NewJudge("odd", "", "Is it \xff?"), validators.NewJudge("even", "", "Is it \xfe?"))
	c, err := Parse("x.yaml", []byte("cascade_id: x\nphases: [{name: a, compose: x, wards: {post: [{validator: odd}, {validator: even}, {validator: non_empty}]}}]"), nil, k)
	if err != nil {
		t.Fatal(err)
	}
	k.Validators = k.Validators.With(validators.NewJudge("odd", "", "Is it {{ fine?"))
	if _, err := Parse("x.yaml", c.Source, nil, k); err == nil || !strings.Contains(err.Error(), "x.yaml:2:59: the criteria of odd: ") {
		t.Errorf("criteria that are no template: got %v", err)
	}
	gates, err := c.Gates("", nil)
	if err == nil || err.Error() != `phase a: odd: "Is it \xff?" is not UTF-8` || len(gates) != 3 || gates[0].Digest != "" || gates[2].Digest == "" {
		t.Errorf("got %v, %v", gates, err)
	}
}

// TestOneLine checks that expressions on one line appear once, and that a long
// line is cut.
func TestOneLine(t *testing.T) {
	long := strings.Repeat("x", 80)
	if got := reader.Short(long + long); got != long+long[:40]+" …" {
		t.Errorf("a first line is cut to %q", got)
	}
	for want, texts := range map[string][]string{"": {"", ""}, "a | b": {"a", "", "b", "a"}, long: {long}, long[1:] + "…": {long + "x"}} {
		if got := reports.OneExpression(texts); got != want {
			t.Errorf("%q: got %q", texts, got)
		}
	}
}
