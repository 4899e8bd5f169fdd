package encodings

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/jsonvalue"
)

// Strings in JSON can be cut, changed and added with the same result as in the
// parsed value. Invalid JSON causes no panic.
func FuzzEncodings(f *testing.F) {
	for _, s := range []string{"", "a", `\"`, "\x00\x1f\n\t\u2028", `],"}`, `{[,:\`, `["a",[{"b`, `[1,]`, `"\"`} {
		f.Add(s, "b")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		value := func(end string) any {
			a, b := strings.ToValidUTF8(a, "")+end, strings.ToValidUTF8(b, "")+end
			return []any{a, map[string]any{b: []any{b, 1.5}}, true, nil}
		}
		raw, err := Of(value(""))
		list, ok := Elements(nil, raw)
		if err != nil || !ok || len(list) != 4 || string(bytes.Join(list, []byte(","))) != string(raw[1:len(raw)-1]) {
			t.Fatalf("%v: %s is cut into %s", err, raw, list)
		}
		longer := Rewrite(raw, func(token []byte) []byte { return jsonvalue.AppendText(nil, string(Said(token))+"!") })
		object := With(With([]byte("{}"), a, raw), "longer", longer)
		var read map[string]any
		if err := json.Unmarshal(object, &read); err != nil || !reflect.DeepEqual(read["longer"], value("!")) {
			t.Errorf("%v: got %v in %s", err, read["longer"], object)
		}
		foreign := []byte(a)
		if same := Rewrite(foreign, func(token []byte) []byte { Said(token); return nil }); string(same) != a {
			t.Errorf("%q becomes %q", a, same)
		}
		if list, ok := Elements(nil, foreign); ok && len(bytes.Join(list, []byte(","))) != len(foreign)-2 || ValueEnd(foreign) > len(foreign) {
			t.Errorf("%q is cut into %q", foreign, list)
		}
	})
}

// Readable characters stay as they are, and a lossy encoding is reported.
func TestLossy(t *testing.T) {
	for text, want := range map[string]string{"<&>\u2028": `"<&>\u2028"`, "a\xff": "\"a\ufffd\""} {
		if got, lossy, err := Lossy(text); string(got) != want || lossy != (text == "a\xff") || err != nil {
			t.Errorf("%q is %s, %v, %v", text, got, lossy, err)
		}
	}
}

// A value that cannot be encoded does not affect later values.
func TestAfterAFailure(t *testing.T) {
	for range 100 {
		if _, err := Of(func() {}); err == nil {
			t.Fatal("a function was encoded")
		}
		if raw, err := Of("<x>"); err != nil || string(raw) != `"<x>"` {
			t.Fatalf("got %s, %v", raw, err)
		}
	}
}
