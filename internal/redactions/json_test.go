package redactions_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/internal/redactions"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
)

var numbers = map[string]string{"PIN": "12345678", "CARD": "4111111111111111", "RATE": "0.12345678", "ZEROS": "00000001", "TEXT": "sesame-open"}

func TestWriteJSONNumber(t *testing.T) {
	for document, want := range map[string]string{
		`{"n": 12345678, "m": 1}`:                                    `{"n": "[redacted PIN]", "m": 1}`,
		`[12345678,-12345678,123456789,12345678.5]`:                  `["[redacted PIN]","-[redacted PIN]","[redacted PIN]9","[redacted PIN].5"]`,
		`[1.2345678e7,12345678.0,4.111111111111111e15]`:              `["[redacted PIN]","[redacted PIN].0","[redacted CARD]"]`,
		`[0.12345678,1,7]`:                                           `["[redacted RATE]",1,7]`,
		`12345678`:                                                   `"[redacted PIN]"`,
		`{"12345678":"pin 12345678"}`:                                `{"[redacted PIN]":"pin [redacted PIN]"}`,
		`{"text":"{\"n\": 12345678, \"s\": \"12345678\"}"}`:          `{"text":"{\"n\": \"[redacted PIN]\", \"s\": \"[redacted PIN]\"}"}`,
		`{"text":"[12345678] is the pin"}`:                           `{"text":"[[redacted PIN]] is the pin"}`,
		"{\n  \"n\": 12345678,\n  \"s\": \"sesame\\u002dopen\"\n}\n": "{\n  \"n\": \"[redacted PIN]\",\n  \"s\": \"[redacted TEXT]\"\n}\n",
	} {
		var out bytes.Buffer
		w := redactions.Writer(&out, numbers)
		if err := redactions.WriteJSON(w, []byte(document)); err != nil || out.String() != want {
			t.Errorf("%s becomes\n%s, want\n%s (%v)", document, out.String(), want, err)
		}
		if !json.Valid(out.Bytes()) {
			t.Errorf("%s is no JSON", out.String())
		}
	}
}

// A text that is not JSON is written as text, after the buffered end of the previous
// write.
func TestWriteJSONText(t *testing.T) {
	var out bytes.Buffer
	w := redactions.Writer(&out, numbers)
	w.Write([]byte("sesame"))
	if err := redactions.WriteJSON(w, []byte("-open: 12345678\n")); err != nil {
		t.Fatal(err)
	}
	if redactions.Flush(w); out.String() != "[redacted TEXT]: [redacted PIN]\n" {
		t.Errorf("got %q", out.String())
	}
	out.Reset()
	if err := redactions.WriteJSON(&out, []byte(`{"n":12345678}`)); err != nil || out.String() != `{"n":12345678}` {
		t.Errorf("without secrets %q, %v", out.String(), err)
	}
}

// A secret that is a JSON object is replaced by a string.
func TestWriteJSONObject(t *testing.T) {
	var out bytes.Buffer
	w := redactions.Writer(&out, map[string]string{"CREDENTIALS": `{"key":"abc"}`})
	if err := redactions.WriteJSON(w, []byte(`{"a":{"key":"abc"},"b":"{\"key\":\"abc\"}"}`)); err != nil {
		t.Fatal(err)
	}
	if want := `{"a":"[redacted CREDENTIALS]","b":"[redacted CREDENTIALS]"}`; out.String() != want {
		t.Errorf("got %s, want %s", out.String(), want)
	}
}

func TestTextJSON(t *testing.T) {
	if got := redactions.Text(` {"n":12345678}`, numbers); got != ` {"n":"[redacted PIN]"}` {
		t.Errorf("got %s", got)
	}
}

// An event passes with its numbers redacted where they are values, and is never lost
// if a number of its own happens to contain a secret.
func TestSinkNumber(t *testing.T) {
	var got []event.Event
	secrets := map[string]string{"PIN": "12345678", "DATE": "2026-11-28"}
	sink := redactions.Sink(event.Func(func(e event.Event) { got = append(got, e) }), secrets)
	at := time.Date(2026, 11, 28, 1, 2, 3, 0, time.UTC)
	sink.Emit(event.Event{Run: "r", Seq: 1, Time: at, Kind: event.RunStarted, Input: map[string]any{"n": 12345678.0}})
	sink.Emit(event.Event{Run: "r", Seq: 2, Time: at, Kind: event.ModelReplied, Path: "p", Response: &model.Response{Text: "12345678", Usage: model.Usage{InputTokens: 12345678}}})
	if len(got) != 2 || got[0].Input["n"] != "[redacted PIN]" || got[1].Response.Text != "[redacted PIN]" || got[1].Response.Usage.InputTokens != 12345678 {
		t.Fatalf("got %+v", got)
	}
	for _, e := range got {
		if !e.Time.Equal(at) || e.Run != "r" || e.Seq == 0 {
			t.Errorf("got %+v", e)
		}
	}
}

// Secrets are found in the forms that other writers give them.
func TestWriterForms(t *testing.T) {
	secrets := map[string]string{"A_KEY": "a+b/<c>&'d'", "B_KEY": "carriage-return\r"}
	for _, text := range []string{"a+b/<c>&'d'", "a&#43;b/&lt;c&gt;&amp;&#39;d&#39;", "a+b/&lt;c&gt;&amp;&#39;d&#39;", "carriage-return␍", `carriage-return\r`} {
		var out strings.Builder
		w := redactions.Writer(&out, secrets)
		w.Write([]byte("<" + text + ">"))
		if redactions.Flush(w); !strings.HasPrefix(out.String(), "<[redacted ") || len(out.String()) != len("<[redacted A_KEY]>") {
			t.Errorf("%s becomes %s", text, out.String())
		}
	}
}
