package journal

import (
	"bytes"
	"database/sql/driver"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/internal/stores"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
)

// Values are read unchanged, numbers digit for digit.
func TestExact(t *testing.T) {
	onFile(t)
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
		if _, err := r.Host(fixed{value: v}).Tool("p", engine.Job{}); err != nil {
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

// long is the length in bytes from which a text is stored once.
const long = 128

// fixed is a host with a fixed reply of models and result of tools.
type fixed struct {
	quick
	response model.Response
	value    any
}

func (f fixed) Model(event.Path, model.Request) (model.Response, error) { return f.response, nil }

func (f fixed) Tool(event.Path, engine.Job) (tool.Result, error) {
	return tool.Result{Value: f.value}, nil
}

// A long answer is read as the run received it, whatever it contains.
func TestLongAnswer(t *testing.T) {
	onFile(t)
	for name, resp := range map[string]model.Response{
		"plain":          {Text: strings.Repeat("a ", long)},
		"escapes":        {Text: strings.Repeat("\"\\\n\x00\u2028<&>é", long)},
		"a reference":    {Text: "#text:" + strings.Repeat("0", long)},
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
			made, err := r.Host(fixed{response: resp}).Model("p", model.Request{})
			if err != nil {
				t.Fatal(err)
			}
			if made.Text != strings.ToValidUTF8(text, "\ufffd") && name != "not UTF-8" || resp.Text != text {
				t.Errorf("reported %q", made.Text)
			}
			for e := range j.Effects(t.Context(), "run") {
				if !reflect.DeepEqual(*e.Response, made) {
					t.Errorf("got  %+v\nwant %+v", *e.Response, made)
				}
			}
			var words []string
			_ = j.db.Read(t.Context(), func(c *stores.Conn) error {
				return c.Each(t.Context(), func(v []driver.Value) error { words = append(words, stores.Text(v[0])); return nil }, "SELECT text FROM text")
			})
			if want := len(made.Text) >= long; want != (len(words) == 1 && words[0] == made.Text) {
				t.Errorf("%d texts", len(words))
			}
		})
	}
}

// A text that has changed since it was stored is reported as damage.
func TestDamagedText(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	r := begin(t, j, runner.Start{RunID: "run"})
	if _, err := r.Host(quick{strings.Repeat("a text ", 300)}).Model("p", model.Request{}); err != nil {
		t.Fatal(err)
	}
	if err := j.db.Writer.Do(func(c *stores.Conn) error {
		_, err := c.Exec("UPDATE text SET text = replace(text, 'x', 'n')")
		return err
	}); err != nil {
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

// Bytes that are not UTF-8 are replaced from the start, so that a resumed run
// makes the same requests.
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
