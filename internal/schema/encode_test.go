package schema

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/jsonvalue"
)

// Indent must write the lines of encoding/json, except for deeply nested
// values.
func TestIndent(t *testing.T) {
	texts := []string{
		`{"a":[1,2.50,"x, [y]: {\"z\"}\\"],"b":{},"c":[],"d":[{}],"e":{"é<&>":null},"":true}`, `"a"`, `7`, `[]`, `{}`,
		strings.Repeat(`[`, maxIndent) + `1,{},2` + strings.Repeat(`]`, maxIndent), strings.Repeat(`{"a":`, maxIndent) + `"b"` + strings.Repeat(`}`, maxIndent),
	}
	for _, text := range texts {
		var want bytes.Buffer
		if err := json.Indent(&want, []byte(text), "", "  "); err != nil {
			t.Fatal(err)
		}
		if got, err := Indent(json.RawMessage(text)); err != nil || string(got) != want.String() {
			t.Errorf("%s: got %s, %v, want %s", text, got, err, want.String())
		}
	}
	deep := strings.Repeat(`[`, maxIndent) + `{"a":1,"b":[[],2]},3` + strings.Repeat(`]`, maxIndent)
	got, err := Indent(json.RawMessage(deep))
	if margin := strings.Repeat("  ", maxIndent); err != nil || !strings.Contains(string(got), "[\n"+margin+`{"a":1,"b":[[],2]},`+"\n"+margin+"3\n"+margin[2:]+"]\n") {
		t.Errorf("got %s, %v", got, err)
	}
	for _, text := range []string{strings.Repeat("[", jsonvalue.MaxNesting) + strings.Repeat("]", jsonvalue.MaxNesting), strings.Repeat(`{"a":[1,`, 4000) + "2" + strings.Repeat("]}", 4000)} {
		if got, err := Indent(json.RawMessage(text)); err != nil || len(got) > len(text)+4*maxIndent*maxIndent {
			t.Errorf("%d bytes became %d, %v", len(text), len(got), err)
		}
	}
	if _, err := Indent(func() {}); err == nil {
		t.Error("a function has JSON")
	}
}
