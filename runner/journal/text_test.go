package journal

import (
	"bytes"
	"database/sql/driver"
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/encodings"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators/schema"
)

// What is packed reads back as it was, whatever is in it.
func FuzzPack(f *testing.F) {
	j, err := Open(filepath.Join(f.TempDir(), "j.db"), Options{careless: true})
	if err != nil {
		f.Fatal(err)
	}
	defer j.Close()
	f.Add("a", "b", 1)
	f.Add(`#text:`, `"#text:`, 600)
	f.Add(`\"#text:0000`, "\x00\xff\u2028<&>", 512)
	f.Add("#text:6170706c65", `\`, 300)
	f.Add("é", "\ufffd", 255)
	f.Fuzz(func(t *testing.T, a, b string, n int) {
		n = max(n, -n) % 700
		value := map[string]any{"a": a, b: []any{b, strings.Repeat(a, n), n}, "c": map[string]any{strings.Repeat(b, n%50): strings.Repeat(`"\`, n)}}
		plainText, err := encodings.Of(value)
		if err != nil {
			t.Fatal(err)
		}
		want, err := schema.Parse(plainText)
		if err != nil {
			t.Fatal(err)
		}
		var p packer
		packed, err := p.encode(value)
		if err != nil {
			t.Fatal(err)
		}
		if !json.Valid(packed) || len(packed) > 12*(len(a)+len(b)+2*long+100) {
			t.Errorf("packed %d bytes to %d: %s", len(plainText), len(packed), packed)
		}
		if err := j.writer.do(func(*conn) error { return j.writer.texts(p.texts) }); err != nil {
			t.Fatal(err)
		}
		err = j.reading(t.Context(), func(c *conn) error {
			raw, err := j.unpack(t.Context(), c, packed, people)
			if err != nil {
				return err
			}
			got, err := schema.Parse(raw)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got  %#v\nwant %#v", got, want)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// A redacted text has none of the secrets, redacting it again changes nothing,
// and it can be read as it was.
func FuzzRedact(f *testing.F) {
	f.Add("a secretive text", "secretive")
	f.Add(`{"a": "pa\"ssword"}`, `pa"ssword`)
	f.Add("aaaaaaaaaaaaa", "aaaaaaaa")
	f.Add("\xff\u2028 and more", "\u2028 and more")
	f.Add("[redacted NAME]\u2060 is not 12345678", "12345678")
	f.Add("12345678\u2060", "12345678")
	f.Add("pa\"ssword\u2060\u2061\u2060[redacted NAME]\u2060\u2061\u2060", `pa"ssword`)
	f.Fuzz(func(t *testing.T, text, secret string) {
		if utf8.RuneCountInString(secret) < minSecret || strings.Contains("[redacted NAME]", secret) || strings.ToValidUTF8(secret, "") != secret {
			return
		}
		s := newSecrets(map[string]string{"NAME": secret})
		raw, err := encodings.Of(map[string]any{"text": text})
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]string
		if err := json.Unmarshal(s.clean(raw), &got); err != nil {
			t.Fatal(err)
		}
		// A secret may come about where two pieces meet that were apart.
		if said := strings.ReplaceAll(got["text"], "[redacted NAME]", "\x01"); strings.Contains(said, secret) && !strings.Contains(secret, "\x01") {
			t.Errorf("%q has %q", got["text"], secret)
		}
		// Who has the secret reads what was said, but for seals of its own; who has
		// not reads what people do.
		var valid, back map[string]string
		if err := json.Unmarshal(bareJSON(raw), &valid); err != nil {
			t.Fatal(err)
		}
		again, err := s.asItWas().read(s.redact(raw))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(again, &back); err != nil || back["text"] != valid["text"] {
			t.Errorf("%q came back as %q, %v", valid["text"], back["text"], err)
		}
		if again := s.clean(s.clean(raw)); !bytes.Equal(again, s.clean(raw)) && !strings.Contains(got["text"], secret) {
			t.Errorf("%s redacted again is %s", s.clean(raw), again)
		}
	})
}

// Values come back as they were, numbers digit for digit.
func TestExact(t *testing.T) {
	for _, text := range []string{
		`null`, `true`, `"x"`, `5`, `5.0`, `-0.5`, `1e300`, `1e400`, `1.10`, `-0`, `9007199254740993`, `12345678901234567890`, `0.1`,
		`[1,1.0,[2.0]]`, `{"a":1.0,"b":{"c":[3.0,3]}}`, `[]`, `{}`, `"a\u0000b"`,
	} {
		v, err := schema.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
		r := begin(t, j, runner.Start{RunID: "run", Input: map[string]any{"v": v}})
		made := came{Result: &tool.Result{Value: v}}
		if _, err := r.(*recording).made(wanted{at: "p", kind: toolEffect}, []byte("print"), made, 0); err != nil {
			t.Fatal(err)
		}
		r.Host(quick{}).Emit(event.Event{Kind: event.RunFinished, Output: v})
		if err := r.End(engine.Result{Status: engine.Succeeded, Output: v, Outputs: map[string]any{"v": v}}, nil); err != nil {
			t.Fatal(err)
		}
		for e := range j.Effects(t.Context(), "run") {
			if !reflect.DeepEqual(e.Result.Value, v) {
				t.Errorf("effect: got %#v, want %#v", e.Result.Value, v)
			}
		}
		result, err := j.Result(t.Context(), "run")
		if err != nil || !reflect.DeepEqual(result.Output, v) || !reflect.DeepEqual(result.Outputs["v"], v) {
			t.Errorf("result: got %#v, want %#v; %v", result.Output, v, err)
		}
		if run, err := j.Run(t.Context(), "run"); err != nil || !reflect.DeepEqual(run.Start.Input["v"], v) {
			t.Errorf("input: got %#v, want %#v; %v", run.Start.Input["v"], v, err)
		}
		if events := eventsOf(t, j, "run", Whole); !reflect.DeepEqual(events[0].Output, v) {
			t.Errorf("event: got %#v, want %#v", events[0].Output, v)
		}
	}
}

// A long answer reads back as it is told to the run, whatever is in it and
// beside it.
func TestLongAnswer(t *testing.T) {
	for name, resp := range map[string]model.Response{
		"plain":          {Text: strings.Repeat("a ", long)},
		"escapes":        {Text: strings.Repeat("\"\\\n\x00\u2028<&>é", long)},
		"a reference":    {Text: reference[1:] + strings.Repeat("0", long)},
		"the place":      {Text: strings.Repeat(`"response":{"text":""`, long), Model: `"response":{"text":""`},
		"not UTF-8":      {Text: strings.Repeat("\xff", long)},
		"others not":     {Text: strings.Repeat("a ", long), ToolCalls: []model.ToolCall{{ID: "1", Name: "x", Arguments: "\xff"}}},
		"just too short": {Text: strings.Repeat("é", long/2-1) + "a"},
		"all that comes": {
			Text: "x", Model: "m-1", Finish: "stop", ID: "chatcmpl-1", Provider: "house", Server: "127.0.0.1:8000",
			Usage: model.Usage{Calls: 2, InputTokens: 100, OutputTokens: 20, Cached: 64, CacheWrite: 7, Reasoning: 10, CostUSD: 0.5, Estimated: true},
		},
		"just long": {Text: strings.Repeat("é", long/2)},
	} {
		t.Run(name, func(t *testing.T) {
			j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
			r := begin(t, j, runner.Start{RunID: "run"})
			text := resp.Text
			made, err := r.(*recording).made(wanted{at: "p", kind: modelEffect}, []byte("print"), came{Response: &resp}, 0)
			if err != nil {
				t.Fatal(err)
			}
			if made.Response.Text != strings.ToValidUTF8(text, "\ufffd") && name != "not UTF-8" || resp.Text != text {
				t.Errorf("told %q", made.Response.Text)
			}
			for e := range j.Effects(t.Context(), "run") {
				if !reflect.DeepEqual(e.Response, made.Response) {
					t.Errorf("got  %+v\nwant %+v", e.Response, made.Response)
				}
			}
			var said []string
			_ = j.reading(t.Context(), func(c *conn) error {
				return c.each(t.Context(), func(v []driver.Value) error { said = append(said, word(v[0])); return nil }, "SELECT text FROM text")
			})
			if want := len(made.Response.Text) >= long; want != (len(said) == 1 && said[0] == made.Response.Text) {
				t.Errorf("%d texts", len(said))
			}
		})
	}
}

// A text that is not what it was when it was kept is told as damage.
func TestDamagedText(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	r := begin(t, j, runner.Start{RunID: "run"})
	if _, err := r.Host(quick{strings.Repeat("a text ", 300)}).Model("p", model.Request{}); err != nil {
		t.Fatal(err)
	}
	if err := j.writer.do(func(c *conn) error { _, err := c.Exec("UPDATE text SET text = replace(text, 'x', 'n')"); return err }); err != nil {
		t.Fatal(err)
	}
	var found error
	for _, err := range j.Effects(t.Context(), "run") {
		found = err
	}
	if found == nil || !strings.Contains(found.Error(), "the journal is damaged: text ") {
		t.Errorf("got %v", found)
	}
}

// Bytes that are not UTF-8 are what they read back as from the start, so that a
// run that is gone on with asks what it asked.
func TestNotUTF8(t *testing.T) {
	file := filepath.Join(t.TempDir(), "j.db")
	s := storyOf(t, "-- cascade.yaml --"+twoPhases)
	s.Input = map[string]any{"topic": "owls \xff\xfe"}
	m := &says{answers: map[string]string{"First": "a\xffb \xc3", "Then": "b", "Last": "c"}}
	j := journalAt(t, file, Options{})
	result, err := s.run(t, begin(t, j, s.start("run")), runnerOver(t, j, m).Host(t.Context()), false)
	if err != nil {
		t.Fatal(err)
	}
	j.Close()
	j = journalAt(t, file, Options{})
	again, err := s.run(t, reopen(t, j, "run"), runnerOver(t, j, m).Host(t.Context()), true)
	if err != nil || asJSON(t, again) != asJSON(t, result) || len(m.calls) != 3 {
		t.Errorf("got %+v, %v after %v", again, err, m.calls)
	}
	if !bytes.Contains([]byte(asJSON(t, result)), []byte("a\ufffdb \ufffd")) {
		t.Errorf("got %s", asJSON(t, result))
	}
}
