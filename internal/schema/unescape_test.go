package schema

import (
	"reflect"
	"strings"
	"testing"
)

func TestUnescape(t *testing.T) {
	for text, want := range map[string]string{
		``:                          ``,
		`{"a": "\u0053ECRET\/"}`:    `{"a": "SECRET/"}`,
		`"\u003cb\u003E \u00e9"`:    `"<b> é"`,
		`"\ud83e\udd89"`:            `"🦉"`,
		`"\ud83e \udd89 \ud83e"`:    `"\ud83e \udd89 \ud83e"`,
		`"\ud83e\u0041"`:            `"\ud83eA"`,
		`"\u0022 \u005c \u000a \n"`: `"\u0022 \u005c \u000a \n"`,
		`"\\u0041 \\\u0041"`:        `"\\u0041 \\A"`,
		`\`:                         `\`,
		`\u`:                        `\u`,
		`\u00`:                      `\u00`,
		`"\u004g\u0041`:             `"\u004gA`,
		`"\ufffd"`:                  `"\ufffd"`,
	} {
		if got := Unescape(text); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

// FuzzUnescape checks that the JSON has the same value and no unnecessary
// escape.
func FuzzUnescape(f *testing.F) {
	for _, text := range []string{`{"a\u0062": ["\u0041\n", "\ud83e\udd89"]}`, `"\\u0041\/\u0022"`, `"\ud83e\ud83e\udd89"`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		was, err := Parse([]byte(text))
		if err != nil {
			return
		}
		plain := Unescape(text)
		now, err := Parse([]byte(plain))
		if err != nil || !reflect.DeepEqual(now, was) {
			t.Fatalf("%s became %s: %v, not %v (%v)", text, plain, now, was, err)
		}
		if strings.Contains(strings.ReplaceAll(plain, `\\`, ""), `\u004`) {
			t.Errorf("%s became %s", text, plain)
		}
	})
}
