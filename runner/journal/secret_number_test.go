package journal

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
)

const paying = `
cascade_id: paying
inputs_schema: {pin: {type: integer}}
phases:
  - {name: pay, tool: pay, inputs: {pin: "{{ input.pin }}"}}
  - {name: ask, instructions: "Is {{ outputs.pay.left }} right? {{ outputs.pay.said }}", human_input: {prompt: "Well?", type: confirmation}}
  - {name: end, tool: pay, inputs: {pin: "{{ outputs.pay.pin }}"}}
`

// A payer has a tool that returns its number twice, the second time within a JSON text.
// Its model repeats its input.
func payer(t *testing.T, j *Journal, asked *[]string, paid *[]any) *runner.Runner {
	m := model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
		*asked = append(*asked, r.Messages[len(r.Messages)-1].Content)
		return model.Response{Text: `{"pin": 12345678, "more": "12345678"}`, Usage: model.Usage{InputTokens: 12345678}}, nil
	})
	pay := tool.New("pay", "Pay", func(_ context.Context, a struct {
		Pin any `json:"pin"`
	}) (any, error) {
		*paid = append(*paid, a.Pin)
		return map[string]any{"pin": a.Pin, "left": 12345678.5, "said": `{"pin": 12345678, "list": [123456789]}`}, nil
	})
	return runnerOver(t, j, m, runner.WithTools(pay))
}

// A secret number is in no file as a number. The stored data is still JSON, and
// the run continues with the same numbers.
func TestSecretNumber(t *testing.T) {
	onFile(t)
	for name, c := range map[string]struct {
		then, now map[string]string
		refused   string
		anywhere  bool // it also occurs in texts within texts
	}{
		"the same":  {map[string]string{"PIN": "12345678"}, map[string]string{"PIN": "12345678"}, "", true},
		"encoded":   {map[string]string{"PIN": "12345678.0"}, map[string]string{"PIN": "12345678.0"}, "", false},
		"new":       {nil, map[string]string{"PIN": "12345678"}, "", false},
		"gone":      {map[string]string{"PIN": "12345678"}, nil, "the run holds the value of PIN as a number", true},
		"no number": {map[string]string{"PIN": "12345678"}, map[string]string{"PIN": "abcdefghij"}, "the run holds the value of PIN as a number", true},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "j.db")
			j := journalAt(t, file, Options{Secrets: c.then, noSync: true})
			var asked []string
			var paid []any
			r := payer(t, j, &asked, &paid)
			cascade, err := r.Parse("paying.yaml", []byte(paying))
			if err != nil {
				t.Fatal(err)
			}
			first, err := r.Run(t.Context(), cascade, map[string]any{"pin": 12345678.0}, runner.WithRunID("run"))
			if first.Status != engine.Waiting || len(asked) != 1 || len(paid) != 1 {
				t.Fatalf("got %+v, %v", first, err)
			}
			j.Close()
			if c.then != nil {
				hasNo(t, file, `"pin":12345678`, `"left":12345678`)
			}
			if c.anywhere {
				hasNo(t, file, "12345678")
			}
			j = journalAt(t, file, Options{Secrets: c.now, noSync: true})
			events := asJSON(t, eventsOf(t, j, "run", Whole))
			if c.then != nil && (!strings.Contains(events, `"pin":"[redacted PIN]"`) || !strings.Contains(events, `"input_tokens":12345678`)) {
				t.Errorf("the events are %s", events)
			}
			if err := j.Answer(t.Context(), "run", "", engine.Answer{Value: true}); err != nil {
				t.Fatal(err)
			}
			last, err := payer(t, j, &asked, &paid).Resume(t.Context(), "run")
			if c.refused != "" {
				if err == nil || !strings.Contains(err.Error(), c.refused) || len(asked) != 1 || len(paid) != 1 {
					t.Fatalf("got %v, asked %d, paid %d", err, len(asked), len(paid))
				}
				return
			}
			if err != nil || len(asked) != 1 || len(paid) != 2 || paid[1] != paid[0] {
				t.Fatalf("got %+v, %v, asked %q, paid %v", last, err, asked, paid)
			}
			result, err := j.Result(t.Context(), "run")
			if raw := asJSON(t, result); err != nil || c.anywhere && strings.Contains(strings.ReplaceAll(raw, `"input_tokens":12345678`, ""), "12345678") {
				t.Errorf("the result is %s, %v", raw, err)
			}
		})
	}
}

// hasNo fails if the files contain one of the texts.
func hasNo(t *testing.T, file string, texts ...string) {
	t.Helper()
	for _, suffix := range []string{"", "-wal"} {
		raw, err := os.ReadFile(file + suffix)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		raw = bytes.ReplaceAll(raw, []byte(`"input_tokens":12345678`), nil) // a count that happens to equal the secret
		for _, text := range texts {
			if i := bytes.Index(raw, []byte(text)); i >= 0 {
				t.Errorf("%q is in the journal%s: %q", text, suffix, raw[max(0, i-80):min(len(raw), i+80)])
			}
		}
	}
}
