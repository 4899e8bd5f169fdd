package journal

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
)

// No secret is stored, whatever its source and spelling, and the run can be
// resumed.
func TestSecrets(t *testing.T) {
	const key, odd, other = "sk-1234567890abcdef", `pass"wo\rd<&>é`, "sk-1234567890abcdef-longer"
	secrets := map[string]string{"API_KEY": key, "PASSWORD": odd, "LONGER": other, "EMPTY": ""}
	file := filepath.Join(t.TempDir(), "j.db")
	all := "all: " + key + " " + odd + " " + other
	args, _ := json.Marshal(map[string]any{"text": all})
	m := model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
		switch {
		case r.Validator != "":
			return model.Response{Text: `{"valid": true, "reason": "it says ` + key + `"}`}, nil
		case len(r.Messages) == 1:
			return model.Response{ToolCalls: []model.ToolCall{{ID: "1", Name: "echo", Arguments: string(args)}}}, nil
		}
		return model.Response{Text: strings.Repeat("long ", 200) + all}, nil
	})
	echo := tool.New("echo", "Echo "+key, func(_ context.Context, a struct {
		Text string `json:"text"`
	}) (any, error) {
		return map[string]any{"said": a.Text, "more": []any{key}}, nil
	})
	c, err := runner.New(runner.WithTools(echo))
	if err != nil {
		t.Fatal(err)
	}
	text := `
cascade_id: secret
description: "` + key + `"
validators: {tone: {judge: "Is it ` + key + `?"}}
phases:
  - {name: say, instructions: "Say {{ input.word }}", tackle: [echo], wards: {post: [{validator: tone, mode: advisory}]}}
  - {name: ask, instructions: "{{ outputs.say }}", tackle: [echo], human_input: {prompt: "{{ content }}", type: text}}
`
	cascade, err := c.Parse("cascade.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	j := journalAt(t, file, Options{Secrets: secrets})
	r := runnerOver(t, j, m, runner.WithTools(echo))
	run := func(id string, o ...runner.RunOption) engine.Result {
		o = append(o, runner.WithRunID(id), runner.WithSettings(map[string]string{"key": key}))
		result, _ := r.Run(t.Context(), cascade, map[string]any{"word": all}, o...)
		return result
	}
	if result := run("run"); result.Status != engine.Waiting || !strings.Contains(asJSON(t, result.Outputs), key) {
		t.Fatalf("got %+v", result)
	}
	clean(t, file, secrets)
	if again, err := r.Resume(t.Context(), "run"); again.Status != engine.Waiting {
		t.Fatalf("got %+v, %v", again, err)
	}
	if err := j.Answer(t.Context(), "run", "", engine.Answer{Value: "it is " + key}); err != nil {
		t.Fatal(err)
	}
	if again, err := r.Resume(t.Context(), "run"); err != nil {
		t.Fatalf("got %+v, %v", again, err)
	}
	clean(t, file, secrets)
	events := asJSON(t, eventsOf(t, j, "run", Whole))
	for _, want := range []string{"[redacted API_KEY]", "[redacted PASSWORD]", "[redacted LONGER]"} {
		if !strings.Contains(events, want) {
			t.Errorf("the events have no %s", want)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	clean(t, file, secrets)
}

// The same is true for a binary file of a cascade.
func TestSecretInBytes(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{Secrets: map[string]string{"API_KEY": "sk-12345"}})
	begin(t, j, runner.Start{RunID: "run", Files: []cascades.File{{Name: "x", Text: []byte("\xff sk-12345")}}})
	run, err := j.Run(t.Context(), "run")
	if err != nil || string(run.Start.Files[0].Text) != "\xff [redacted API_KEY]" {
		t.Errorf("got %q, %v", run.Start.Files, err)
	}
}

const telling = `
cascade_id: told
inputs_schema: {word: what}
validators: {tone: {judge: "Is it warm?"}}
phases:
  - {name: one, instructions: "First {{ input.word }}", tackle: [echo], wards: {post: [{validator: tone, mode: advisory}]}}
  - {name: two, instructions: "Then {{ outputs.one }} {{ input.word }}"}
  - {name: ask, tool: echo, inputs: {text: "{{ outputs.two }}"}, human_input: {prompt: "Well, {{ outputs.two }}?", type: confirmation}}
  - {name: three, instructions: "Last {{ outputs.two }} {{ input.word }}"}
`

// A run recognizes its requests after secrets were added, changed or removed. It makes
// the same requests as an uninterrupted run.
func TestSecretsChange(t *testing.T) {
	onFile(t)
	oneByOne(t)
	const key, word = "sk-1234567890abcdef", "a \"secretive\" word"
	var asked []string
	m := model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
		last := r.Messages[len(r.Messages)-1].Content
		switch {
		case r.Validator != "":
			return model.Response{Text: `{"valid": true, "reason": "it says ` + key + `"}`}, nil
		case r.Phase == "one" && len(r.Messages) == 1:
			args, _ := json.Marshal(map[string]any{"text": word + key})
			return model.Response{ToolCalls: []model.ToolCall{{ID: "1", Name: "echo", Arguments: string(args)}}}, nil
		case r.Phase == "three":
			asked = append(asked, last)
		}
		return model.Response{Text: strings.Repeat("long ", 200) + "said of " + last}, nil
	})
	calls := 0
	counted := model.Func(func(ctx context.Context, r model.Request) (model.Response, error) {
		calls++
		return m(ctx, r)
	})
	echo := tool.New("echo", "Echo", func(_ context.Context, a struct {
		Text string `json:"text"`
	}) (any, error) {
		return map[string]any{"said": a.Text + key}, nil
	})
	bound, err := runner.New(runner.WithTools(echo))
	if err != nil {
		t.Fatal(err)
	}
	cascade, err := bound.Parse("told.yaml", []byte(telling))
	if err != nil {
		t.Fatal(err)
	}
	input := map[string]any{"word": word + " " + key}
	same := map[string]string{"API_KEY": key}
	for name, c := range map[string]struct {
		then, now map[string]string
		differs   string // from the result without a break
	}{
		"none":            {nil, nil, ""},
		"the same":        {same, same, ""},
		"new":             {nil, same, ""},
		"new, odd":        {same, map[string]string{"API_KEY": key, "WORD": word}, ""},
		"odd":             {map[string]string{"WORD": word}, map[string]string{"WORD": word}, ""},
		"one more":        {same, map[string]string{"API_KEY": key, "B": "secretive"}, ""},
		"another name":    {same, map[string]string{"API_KEY": key, "API_KEY_2": key}, ""},
		"gone":            {same, nil, "[redacted API_KEY]"},
		"another value":   {same, map[string]string{"API_KEY": "sk-another-value"}, "sk-another-value"},
		"its value shows": {map[string]string{"API_KEY": "sk-another-value"}, same, ""},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "j.db")
			j := journalAt(t, file, Options{Secrets: c.then, noSync: true})
			asked, calls = nil, 0
			ask := runner.WithAsk(func(context.Context, engine.Question) (engine.Answer, error) { return engine.Answer{Value: true}, nil })
			whole, err := runnerOver(t, j, counted, runner.WithTools(echo), ask).Run(t.Context(), cascade, input, runner.WithRunID("whole"))
			if err != nil {
				t.Fatal(err)
			}
			made, events := calls, len(eventsOf(t, j, "whole", Whole))
			calls = 0
			if first, _ := runnerOver(t, j, counted, runner.WithTools(echo)).Run(t.Context(), cascade, input, runner.WithRunID("run")); first.Status != engine.Waiting {
				t.Fatalf("got %+v", first)
			}
			j.Close()
			clean(t, file, c.then)
			j = journalAt(t, file, Options{Secrets: c.now, noSync: true})
			if err := j.Answer(t.Context(), "run", "", engine.Answer{Value: true}); err != nil {
				t.Fatal(err)
			}
			again, err := runnerOver(t, j, counted, runner.WithTools(echo)).Resume(t.Context(), "run")
			if err != nil || calls != made {
				t.Fatalf("%d calls of %d, %v", calls, made, err)
			}
			again.RunID = "whole"
			if c.differs == "" && (asked[0] != asked[1] || asJSON(t, again) != asJSON(t, whole)) || !strings.Contains(asked[1], c.differs) {
				t.Errorf("it asked %s\nand would have asked %s", asked[1], asked[0])
			}
			if n := len(eventsOf(t, j, "run", Whole)); n != events+2 { // it waited, and ended twice
				t.Errorf("%d events, want %d", n, events+2)
			}
			_, err = runnerOver(t, j, counted, runner.WithTools(echo), ask).Run(t.Context(), cascade, input, runner.WithRunID("shares"), runner.WithParent("run", ""))
			if err != nil || c.differs == "" && calls != made {
				t.Errorf("what shares with it made %d calls, %v", calls-made, err)
			}
		})
	}
}

// If it cannot be checked whether an event was emitted under other secrets, it
// is not emitted again, and the run stops.
func TestEveryStatementOfHearing(t *testing.T) {
	const key = "sk-1234567890abcdef"
	file := filepath.Join(t.TempDir(), "j.db")
	j := journalAt(t, file, Options{})
	e := event.Event{Kind: event.Feedback, Path: "p", Message: strings.Repeat("long ", 200) + key}
	r := begin(t, j, runner.Start{RunID: "run"})
	r.Host(quick{}).Emit(e)
	if err := r.End(engine.Result{Status: engine.Cancelled}, nil); err != nil {
		t.Fatal(err)
	}
	j.Close()
	j = journalAt(t, file, Options{Secrets: map[string]string{"API_KEY": key}})
	b := breaking(j)
	for k, broke := 1, true; broke; k++ {
		var live collector
		r := reopen(t, j, "run")
		b.next(k)
		r.Host(&passing{quick{}, &live}).Emit(e)
		text := b.broke()
		broke = text != ""
		b.next(0)
		if err := r.Owned(); len(live.events) > 0 || broke != (err != nil) {
			t.Errorf("statement %d, %s: it is reported %d times, %v", k, text, len(live.events), err)
		}
		if err := r.End(engine.Result{Status: engine.Cancelled}, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// A mark in a reply does not turn into the secret.
func TestForgedMark(t *testing.T) {
	onFile(t)
	const key = "sk-1234567890abcdef"
	for _, forged := range []string{"[redacted API_KEY]", "[redacted API_KEY]\u2060", "[redacted API_KEY]\u2060\u2060\u2060", "[redacted API_KEY]\u2060\u2061\u2060"} {
		for _, then := range []map[string]string{nil, {"API_KEY": key}} {
			file := filepath.Join(t.TempDir(), "j.db")
			j := journalAt(t, file, Options{Secrets: then, noSync: true})
			var asked []string
			m := model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
				asked = append(asked, r.Messages[0].Content)
				return model.Response{Text: "it is " + forged}, nil
			})
			c := load(t, `
cascade_id: forged
phases:
  - {name: one, instructions: "Say.", human_input: {prompt: "Well?", type: text}}
  - {name: two, instructions: "Then {{ outputs.one }} {{ input.word }}"}
`)
			runnerOver(t, j, m).Run(t.Context(), c, map[string]any{"word": forged}, runner.WithRunID("run"))
			j.Close()
			j = journalAt(t, file, Options{Secrets: map[string]string{"API_KEY": key}, noSync: true})
			if err := j.Answer(t.Context(), "run", "", engine.Answer{Value: "it is " + forged}); err != nil {
				t.Fatal(err)
			}
			if result, err := runnerOver(t, j, m).Resume(t.Context(), "run"); err != nil || len(asked) != 2 || strings.Contains(asked[1], key) || strings.Contains(asJSON(t, result), key) {
				t.Errorf("%q: asked %q, %v", forged, asked, err)
			}
			j.Close()
		}
	}
}

// clean searches the files for secrets.
func clean(t *testing.T, file string, secrets map[string]string) {
	t.Helper()
	for _, suffix := range []string{"", "-wal", "-shm"} {
		raw, err := os.ReadFile(file + suffix)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		for name, secret := range secrets {
			if secret == "" {
				continue
			}
			for _, form := range spellings(t, secret) {
				if i := bytes.Index(raw, []byte(form)); i >= 0 {
					t.Errorf("%s is in the journal%s: %q", name, suffix, raw[max(0, i-80):min(len(raw), i+80)])
				}
			}
		}
	}
}

// spellings returns a text and its forms within JSON.
func spellings(t *testing.T, text string) []string {
	t.Helper()
	escaped, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	var plain bytes.Buffer
	to := json.NewEncoder(&plain)
	to.SetEscapeHTML(false)
	if err := to.Encode(text); err != nil {
		t.Fatal(err)
	}
	return []string{text, strings.Trim(string(escaped), `"`), strings.Trim(plain.String(), "\"\n")}
}
