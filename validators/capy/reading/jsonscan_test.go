package reading

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func scanJSON(text string) Block {
	s := jsonScanner{tell: func(*event) {}}
	return s.read([]byte(text), Top)
}

func TestJSONErrors(t *testing.T) {
	for _, c := range []struct {
		text, words  string
		line, column int
	}{
		{`{"a": +0.015}`, `"a" is +0.015, and a JSON number has no plus sign: write 0.015`, 1, 7},
		{"{\n  \"ä\": 1,\n}", "a trailing comma before the } of line 3", 2, 9},
		{`[1, 2,]`, "trailing comma before the ]", 1, 6},
		{`{'a': 1}`, "in single quotes", 1, 2},
		{`{"a": 'it's'}`, "in single quotes", 1, 7},
		{"{\"a\": 1", "want } for the { of line 1, got the end of the block", 1, 8},
		{"[1, 2", "want ] for the [ of line 1", 1, 6},
		{"{\n\"a\": [1, 2}\n}", "want ] for the [ of line 2, got }", 2, 11},
		{"{\"a\": 1}}", "text behind the end of the JSON: }", 1, 9},
		{"{\"a\": 1} x", "text behind", 1, 10},
		{"{\"a\": 1}\n{\"b\": 2}", "text behind", 2, 1},
		{`{"a" 1}`, `want a colon behind the key "a"`, 1, 6},
		{`{"a": 1 "b": 2}`, "want a comma or }", 1, 9},
		{`{a: 1}`, "the key a is not in double quotes", 1, 2},
		{`{"a": NaN}`, `"a" is NaN`, 1, 7},
		{`{"a": True, "b": 1}`, "True", 1, 7},
		{`{"a": 14.5%}`, `"14.5%" is no JSON number`, 1, 7},
		{`{"a": 007}`, "take the leading zeros away", 1, 7},
		{`{"a": .5}`, "write 0 before the point", 1, 7},
		{`{"a": 5.}`, "take the point away", 1, 7},
		{`{"a": 1e}`, "no JSON number", 1, 7},
		{`{"a": "x\d"}`, "no JSON escape", 1, 9},
		{"{\"a\": \"x\n\"}", "the line ends inside a string", 1, 9},
		{`{"a": }`, `} where a value should be behind "a"`, 1, 7},
		{`{"a": , "b": 1}`, "a comma where a value should be", 1, 7},
		{`{,}`, "a comma where a key should be", 1, 2},
		{`[1,,2]`, "a comma where a value should be", 1, 4},
		{"{\"a\": 1 // one\n}", "a comment", 1, 9},
		{`{"a": “x”}`, "“", 1, 7},
		{`{"a": $4}`, "$4", 1, 7},
		{"", "nothing in it", 1, 1},
		{"]", "] where a value should be", 1, 1},
		{"1]", "text behind", 1, 2},
	} {
		b := scanJSON(c.text)
		if len(b.Errors) == 0 {
			t.Errorf("%s: no error", c.text)
			continue
		}
		e := b.Errors[0]
		if !strings.Contains(e.Message, c.words) || int(e.Line) != c.line || e.Column != c.column {
			t.Errorf("%s\n got %d:%d %s\nwant %d:%d %s", c.text, e.Line, e.Column, e.Message, c.line, c.column, c.words)
		}
	}
}

func TestDuplicateKeys(t *testing.T) {
	b := scanJSON("{\"a\": 1,\n\"b\": {\"a\": 2, \"c\": 3},\n\"a\": 4}")
	if len(b.Twice) != 1 || b.Twice[0].Key != "a" || b.Twice[0].At.Line != 3 {
		t.Errorf("got %v", b.Twice)
	}
	many := "{" + manyKeys(2000) + "\"k7\": 1, \"last\": 2}"
	if b := scanJSON(many); len(b.Twice) != 1 || b.Twice[0].Key != "k7" {
		t.Errorf("got %v", b.Twice)
	}
}

// FuzzJSON holds the scanner to the standard library: what one takes the
// other takes.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"a": [1, -2.5e3, "x\u00e9\n", true, null]}`, "[]", "{}", `"x"`, "12", `{"a": +1}`, "[1,]", "{\"a\": \"\t\"}", "[1 2]", "nul", "-", "[-]", `"\u12"`, "\x00", "1 /**/", "{\"a\":1}}",
		"[1e5, 1E+2, 0.5e-3, -0, 0, 10.01]", "01", "-01", "1.", "1.e3", "1e", "1e+", "1e5.5", "--1", "-", "1-1", "1e5e5"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) || strings.Count(text, "[")+strings.Count(text, "{") > 5000 {
			return
		}
		want := json.Valid([]byte(text))
		b := scanJSON(strings.TrimPrefix(text, "\uFEFF"))
		if after, ok := strings.CutPrefix(text, "\uFEFF"); ok {
			want = json.Valid([]byte(after))
		}
		if got := len(b.Errors) == 0; got != want {
			t.Errorf("%q: valid is %v, want %v: %v", text, got, want, b.Errors)
		}
		for _, e := range b.Errors {
			if e.Line < 1 || e.Message == "" {
				t.Errorf("%q: %+v", text, e)
			}
		}
	})
}

func manyKeys(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "\"k%d\":1,", i)
	}
	return b.String()
}
