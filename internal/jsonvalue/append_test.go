package jsonvalue_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/seed61713e19/capstan/internal/jsonvalue"
)

func FuzzAppendText(f *testing.F) {
	for _, text := range []string{"", "plain", "<b>&'\"\\/\x00\x1f\x7f\b\f\n\r\t", "a\u2028b\u2029c", "é\U0001f600\ufffd\ufeff", "\xff", "a\xc3", "\xed\xa0\x80"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var want bytes.Buffer
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(false)
		if err := e.Encode(text); err != nil {
			t.Fatal(err)
		}
		if got := string(jsonvalue.AppendText([]byte("x"), text)) + "\n"; got != "x"+want.String() {
			t.Errorf("got %s, want %s", got, want.String())
		}
	})
}
