package statements_test

import (
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/internal/signatures"
	"github.com/seed61713e19/capstan/validators/schedule/internal/statements"
)

func canonical(t testing.TB, text string) string {
	t.Helper()
	v, err := schema.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return string(statements.Append(nil, v))
}

func TestCanonicalForm(t *testing.T) {
	for _, same := range [][]string{
		{"15", "15.0", "1.5e1", "150E-1"}, {"0", "-0", "0.0", "-0.0", "0e9"}, {"10000000000000000", "1e16", "10000000000000000.0"}, {"0.1", "1e-1", "0.10"},
		{`{"a":1,"b":[2,"x"]}`, ` { "b" : [ 2.0 , "\u0078" ] , "a" : 1 } `}, {`"é"`, `"\u00e9"`}, {`"/"`, `"\/"`}, {`"\n"`, `"\u000a"`},
	} {
		for _, text := range same {
			if got := canonical(t, text); got != canonical(t, same[0]) {
				t.Errorf("%s is %s", text, got)
			}
		}
	}
	different := []string{
		"15", "15.1", `"15"`, "true", `"true"`, "null", `"null"`, `""`, "[]", "{}", "[[]]", `[""]`, `["a","b"]`, `["a,b"]`, `["a\",\"b"]`, `{"a":"b"}`, `{"a":{"b":null}}`,
		"9007199254740993", "9007199254740992", "1e400", "1e-7", "1e300",
	}
	seen := map[string]string{}
	for _, text := range different {
		form := canonical(t, text)
		if other, ok := seen[form]; ok && text != "1e400" {
			t.Errorf("%s and %s are both %s", text, other, form)
		}
		seen[form] = text
	}
}

func FuzzCanonical(f *testing.F) {
	for _, text := range []string{`{"b":[1.0,1e3,-0],"a":"\u0000\"\\"}`, `[[[]],{}]`, `[1e-7,1e21,0.1,"\b\t\f\u007f</é"]`, "{\"\ufb33\":3,\"\U0001F600\":2,\"\u20ac\":1}", `1e309`, `"\ud800"`, "123456789012345678901234567890"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := schema.Parse([]byte(text))
		if err != nil || strings.Count(text, "[") > 1000 || strings.Count(text, "{") > 1000 {
			return
		}
		once := statements.Append(nil, v)
		if byLibrary, err := signatures.Canonical(v); err == nil && string(byLibrary) != string(once) {
			t.Fatalf("%s, by the library %s", once, byLibrary)
		}
		again, err := schema.Parse(once)
		if err != nil {
			t.Fatalf("%s is no JSON: %v", once, err)
		}
		if twice := statements.Append(nil, again); string(twice) != string(once) {
			t.Fatalf("%s becomes %s", once, twice)
		}
	})
}
