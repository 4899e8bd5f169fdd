package syntax

import (
	"fmt"
	"strings"
	"testing"
)

// TestStrayQuote checks the position of a quote that makes a file invalid YAML.
// Texts without quotes, comments and blocks have none. A / is the end of a
// line.
func TestStrayQuote(t *testing.T) {
	messages := strings.NewReplacer("brackets", "a text that begins with { or [ needs quotes: this one goes on behind its brackets", "open", "the quote that opens here is not closed", "later", "the quote that opens here is not closed on its line; the next one closes it",
		"ends", `the text in quotes ends before this: a quote within it is written twice in single quotes, and behind a \ in double ones`)
	for _, c := range []struct{ lines, want string }{
		{`a: "x`, "1:4 open"}, {`a: 'x`, "1:4 open"}, {`"x`, "1:1 open"}, {`ä: "x`, "1:4 open"}, {`a: 1/b: "x/c: 2`, "2:4 open"}, {`a: "''`, "1:4 open"},
		{`a: 'it's'`, "1:8 ends"}, {`a: "ä" c`, "1:8 ends"}, {`"a" b: 1`, "1:5 ends"}, {`a: "b"]`, "1:7 ends"}, {`a: "b", c`, "1:7 ends"}, {`a: '\'x'`, "1:7 ends"},
		{`a: "x/b: "y"`, "1:4 later"}, {`a: 1/b: 'ä/  y/c: 'z'`, "2:4 later"},
		{`a: "x/  y"`, ""}, {`a: "x/"`, ""}, {`a: "x/  y" # z`, ""}, {`a: "x"/b: 'y'`, ""}, {`"a": 1`, ""}, {`"a" : 1`, ""}, {"a: \"b\"\t\r", ""},
		{`a: 'it''s'`, ""}, {`a: ''`, ""}, {`a: '''x'`, ""}, {`a: "\""`, ""}, {`a: "\\"`, ""}, {`a: '\'`, ""},
		// A quote within a plain text is a letter.
		{`a: x "y`, ""}, {`a: it's`, ""}, {`a:"x`, ""}, {`a: -"x`, ""}, {`a: b-"x`, ""}, {`a: x, "y`, ""}, {`a: x] "y`, ""}, {`a: b - "x`, ""},
		{`- "x`, "1:3 open"}, {`- - "x`, "1:5 open"}, {"-\t'x", "1:3 open"}, {"a:\t'x", "1:4 open"}, {`a: b: "x`, "1:7 open"}, {`-/  'x`, "2:3 open"},
		// Comments.
		{`# "x`, ""}, {`#a: "x`, ""}, {`a: b # c: "x`, ""}, {"a: b\t# c: 'x", ""}, {`a: b#c: "x`, "1:9 open"}, {`a: # b/  "x`, "2:3 open"},
		// Brackets.
		{`a: ["b", 'c']/d: "x`, "2:4 open"}, {`a: [b, "c]`, "1:8 open"}, {`a: {b: "c}`, "1:8 open"}, {`a: {"b": "c", "d": ["e"]}`, ""}, {`a: ["b" c]`, "1:9 ends"},
		{`a: ["b"] c "d`, "1:4 brackets"}, {`a: [b], "c`, "1:4 brackets"}, {`a: [b] "c`, "1:4 brackets"}, {`a: [b,"c]`, "1:7 open"}, {`a: [[b], "c`, "1:10 open"}, {`a: [b/, "c`, "2:3 open"}, {`a: x[1, "y`, ""}, {`a: [b c"d, "e]`, "1:12 open"}, {`a: {b: x"}`, ""},
		{`a: ["b"/  ,"c"/]/d: x, "y`, ""}, {`a: {b: [c]}/d: x, "y`, ""}, {`a: "b"}`, "1:7 ends"}, {`a: x]/b: >/  - "y`, ""}, {`a: [>, "x]`, "1:8 open"}, {`a: [|, "x]`, "1:8 open"},
		{`a: {{ b }} c`, "1:4 brackets"}, {`ä: [b] c`, "1:4 brackets"}, {`- [ ] c`, "1:3 brackets"}, {`a: {b: [c]} d`, "1:4 brackets"}, {`a: {{ b }}`, ""}, {"a: [b] \r", ""}, {`a: [b] # c`, ""}, {`a: [b]/  c: d`, ""},
		{`? [a]: b`, ""}, {`[a] b`, ""}, {`a: b/  [c] d`, ""}, {`a: [b/] c`, ""}, {`a: >/  - [b] c`, ""}, {`a: b [c] d`, ""}, {`a: [b, [c] d]`, ""}, {`{"a": [b]} c`, ""},
		// A block ends before a line with the indentation of its key or less.
		{`a: >/  "x//  - 'y/b: "z`, "5:4 open"}, {`a: >-/  "x`, ""}, {`a: >`, ""}, {`a: x >/- "y`, "2:3 open"}, {`a: |/  'x/b: 'y`, "3:4 open"}, {`a: >//   /  "x//`, ""},
		{`- >/  "x/- "y`, "3:3 open"}, {`-   >/  "x/- "y`, "3:3 open"}, {`- - >/    "x/  - "y`, "3:5 open"}, {`- - >/   "x/  "y`, "3:3 open"}, {`-a: >/ "x`, ""},
		{`- a: >/    "x/  b: "y`, "3:6 open"}, {`-   a: >/      "x/    b: "y`, "3:8 open"}, {`  a: >/    "x/  b: "y`, "3:6 open"}, {`a: >/"x`, "2:1 open"}, {`a: >/  b: "x/    - "y/c: 1`, ""},
		// Anchors and tags precede a text.
		{`a: &x "y`, "1:7 open"}, {`a: !!str "y`, "1:10 open"}, {"a: !t\t'y", "1:7 open"}, {`a: b & "y`, ""}, {`a: b! "y`, ""}, {`a: &x`, ""}, {`a: !t/  "y`, "2:3 open"}, {`a: &x >/  "y`, ""},
	} {
		got := ""
		if line, column, message := strayQuote(strings.Split(strings.ReplaceAll(c.lines, "/", "\n"), "\n")); message != "" {
			got = fmt.Sprintf("%d:%d %s", line, column, message)
		}
		if want := messages.Replace(c.want); got != want {
			t.Errorf("%s: got %q, want %q", c.lines, got, want)
		}
	}
}

// TestVersions checks that files with a directive of either YAML version are
// read, and files with another directive are not.
func TestVersions(t *testing.T) {
	for source, read := range map[string]bool{
		"%YAML 1.2\n---\na: x\n":                true,
		"%YAML 1.1\n---\na: x\n":                true,
		"# a note\n\n%YAML 1.2 \r\n---\na: x\n": true,
		"%YAML 1.20\n---\na: x\n":               false,
		"%YAML 2.0\n---\na: x\n":                false,
	} {
		root, wrong := New("x.yaml", []byte(source)).Tree()
		if (wrong == nil) != read || read && root.Content[0].Content[1].Value != "x" {
			t.Errorf("%q: %v", source, wrong)
		}
	}
}
