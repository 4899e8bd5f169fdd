package syntax_test

import (
	"strconv"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/syntax"
)

// outline returns the keys and texts of a tree with their paths: path:key and path=text.
func outline(f *syntax.File, n *yaml.Node, path string, list []string) []string {
	within := func(name string) string { return strings.TrimPrefix(path+"/"+name, "/") }
	text := func(n *yaml.Node, mark string) {
		for _, part := range f.Texts(n) {
			list = append(list, path+mark+f.Slice(part))
		}
	}
	switch n.Kind {
	case yaml.DocumentNode:
		return outline(f, n.Content[0], path, list)
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			text(n.Content[i], ":")
			list = outline(f, n.Content[i+1], within(n.Content[i].Value), list)
		}
	case yaml.SequenceNode:
		for i, e := range n.Content {
			list = outline(f, e, within(strconv.Itoa(i)), list)
		}
	default:
		text(n, "=")
	}
	return list
}

const sample = `cascade_id: sample
validators:
  tone: {judge: "Is it friendly?", "votes": 3}
phases:
- name: draft   # the first
  instructions: |
    Write on {{ input.topic }}:
      - as it is
  handoffs: [polish, {target: draft, when: 'outputs["draft"] != "it''s"'}]
  wards: {post: [
      {validator: tone},
    ]}
- - x
- name: polish
  "instructions": "over
    two lines {{ outputs.draft.title }}"
`

// TestTreeBeforeMistake checks that a mistake at the end of a file does not
// change the keys and texts before the mistake.
func TestTreeBeforeMistake(t *testing.T) {
	for _, source := range []string{
		sample,
		"a: 1\nb: [x, {y: z}, ]\n",
		"- a\n-   - b\n    - c: d\n      e: f\n- {}\n",
		"a: >-\n  one\n  two\nb: plain\n  text # comment\n",
		"a: &x \"y\"\nb: !!str z\n",
		"'a': 'it''s'\n\"b\" : \"\\\"\"\nc:\n- d\n",
		"%YAML 1.2\n---\n# note\na: 1\n",
		"é: 𝒹é\r\nb: c\r\n",
	} {
		whole := syntax.New("x.yaml", []byte(source))
		root, mistake := whole.Tree()
		if mistake != nil {
			t.Errorf("%s: %+v", source, mistake)
			continue
		}
		end, last := "zz: [", ":zz"
		if root.Content[0].Kind == yaml.SequenceNode {
			end, last = "- [", ""
		}
		broken := syntax.New("x.yaml", []byte(source+end))
		partial, mistake := broken.Tree()
		if mistake == nil {
			t.Errorf("%s: no mistake", source+end)
		}
		want := strings.TrimSpace(strings.Join(append(outline(whole, root, "", nil), last), "\n"))
		if got := strings.Join(outline(broken, partial, "", nil), "\n"); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}

// TestTreeOfMistake checks the keys and texts of files that are not YAML.
func TestTreeOfMistake(t *testing.T) {
	for source, want := range map[string]string{
		"a:\n  b: 1\n  c\n  d: 2\n":          ":a a:b a/b=1 a:c a:d a/d=2",
		"a: [x, {y: z\nb: 1\n":               ":a a/0=x a/1:y a/1/y=z :b b=1",
		"a: {x: 1, y\n  z: 2}\nb: \"":        ":a a:x a/x=1 a:y a:z a/z=2 :b b=",
		"a: \"x y\nb: 'it's'\n":              ":a a=x_y :b b=it",
		"a:\n  - x\n  y\n  z: 1\n":           ":a a/0=x a/1=y a/2:z a/2/z=1",
		"a: x\n- y\n- z: 1\n":                ":a a/0=x a/1=y a/2:z a/2/z=1",
		"a: x\n  b: 1\n":                     ":a a:x a:b a/b=1",
		"- a: |\n    b\n\tc\n- d: }\n- [":    "0:a 0/a=b 0:c 1:d 1/d=}",
		"a: @x\nb: *\n":                      ":a a=@x :b b=*",
		"{\"a\": [1, 2,, \"b\": {\"c\": \"d": ":a a/0=1 a/1=2 a/2=b a/3=:_{\"c\":_\"d",
		"a: 1\n---\nb: 2\n":                  ":a a=1 :b b=2",
		"# nothing\n":                        "",
	} {
		f := syntax.New("x.yaml", []byte(source))
		root, mistake := f.Tree()
		list := outline(f, root, "", nil)
		for i := range list {
			list[i] = strings.ReplaceAll(list[i], " ", "_")
		}
		if got := strings.Join(list, " "); got != want || mistake == nil {
			t.Errorf("%q: got %s, want %s (%v)", source, got, want, mistake)
		}
	}
}

// TestTreeOfHostileText reads texts that end within values.
func TestTreeOfHostileText(t *testing.T) {
	for _, source := range []string{
		"", "{{{{[[[", "- - - - :\n  : :\n- [", "\"\n'\n|\n", ":  {a: [", "\t\t- a:\n\t b", strings.Repeat("[", 10_000), strings.Repeat("- ", 10_000) + "[",
		"a: &b *c {", "a: |\n", "\ufeffcascade_id: x", "a: \"b\n  \\", "a: '\n", "a: [\"", "\xff: \"\n", "a: {b: \"c\n\n d", "? [a\n: b", "\"a\" : |", "a:\r\n  - \"b\r\n   c\r\n[",
	} {
		for i := range len(source) + 1 {
			if i > 100 && i < len(source) {
				continue
			}
			f := syntax.New("x.yaml", []byte(source[:i]))
			root, _ := f.Tree()
			outline(f, root, "", nil)
		}
	}
}
