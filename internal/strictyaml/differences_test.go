package strictyaml

import (
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

func TestDifferences(t *testing.T) {
	node := func(text string) *yaml.Node {
		r := &Reader{}
		n := r.Document([]byte(text))
		if n == nil {
			t.Fatal(r.Problems)
		}
		return n
	}
	for _, test := range []struct {
		a, b    string
		want    string
		written bool
	}{
		{"{a: 7}", "{a: 7}", "", true},
		{"{a: 7}", "{a: 0x7}", "", false},
		{"{a: 7}", "{a: 7.0}", "", false},
		{"{a: 7}", `{a: "7"}`, "x.a", false},
		{"{a: true}", `{a: "true"}`, "x.a", false},
		{"{a: ~}", "{a: null}", "", false},
		{"{a: ~}", "{}", "x.a", false},
		{"{a: 1, b: 2}", "{b: 2, a: 1}", "", false},
		{"a: 1 # one", "a: 1 # two", "", false},
		{"# one\na: 1", "# two\na: 1", "", false},
		{"[1, 2]", "[2, 1]", "x[0] x[1]", false},
		{"[{id: p, v: 1}]", "[{id: p, v: 2}]", "x[p].v", false},
		{"{a: [1]}", "{a: {b: 1}}", "x.a", false},
		{"[1,2,3,4,5,6,7,8,9,0,1,2]", "[]", "x[0] x[1] x[2] x[3] x[4] x[5] x[6] x[7] x[8] x[9]", false},
	} {
		a, b := node(test.a), node(test.b)
		if got := strings.Join(Differences("x", a, b, nil), " "); got != test.want || Written(a, b) != test.written {
			t.Errorf("%s and %s: got %q, %v", test.a, test.b, got, Written(a, b))
		}
	}
}

func TestReaderRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"a: 1\na: 2": `file:2:1: key "a" stands at line 1 already`, "a: &x 1\nb: *x": "file:2:4: an alias", "a: 1\n---\nb: 2": "a second document",
		"a: [": "not YAML", "": "the file is empty", "a: \xff": "not UTF-8",
	} {
		r := &Reader{File: "file"}
		if n := r.Document([]byte(text)); n != nil || len(r.Problems) == 0 || !strings.Contains(r.Problems[0].String(), want) {
			t.Errorf("%q: got %v", text, r.Problems)
		}
	}
}
