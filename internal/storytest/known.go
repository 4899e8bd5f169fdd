package storytest

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/builtins"
)

// Known returns the validators and tools that a story's cascade may use: the
// default validators and those of [Validators] and [Tools].
func Known() cascades.Known {
	return cascades.Known{Validators: builtins.Default().With(Validators()...), Tools: tool.NewSet(Tools()...)}
}

// Validators returns validators that only the stories need: they crash, panic,
// return a score, or are impure.
func Validators() []validators.Validator {
	return []validators.Validator{
		validators.New("crashes", "crashes", func(context.Context, struct{}, validators.Subject) (validators.Verdict, error) {
			return validators.Verdict{}, errors.New("the validator crashed")
		}, validators.Impure),
		validators.New("panics", "panics", func(context.Context, struct{}, validators.Subject) (validators.Verdict, error) {
			panic("no reason")
		}),
		validators.New("scored", "gives the length as a score, and all that a verdict may have", func(_ context.Context, _ struct{}, s validators.Subject) (validators.Verdict, error) {
			score := float64(len(s.Content)) / 100
			v := validators.Fail("never good enough")
			v.Score, v.Status, v.Fix = &score, "measured", "write more"
			v.Evidence, v.Details = map[string]any{"length": len(s.Content)}, []any{"of", 100}
			return v, nil
		}),
		validators.New("slow_no", "says no, but not at once", func(_ context.Context, p struct {
			Text string `json:"text"`
		}, s validators.Subject) (validators.Verdict, error) {
			if strings.Contains(s.Content, p.Text) {
				return validators.Fail("it says %s", p.Text), nil
			}
			return validators.Pass("it does not say %s", p.Text), nil
		}, validators.Impure),
	}
}

// Tools returns the tools of the stories: add returns a sum, breaks fails, send writes
// and is idempotent, leaves disappears before its call, and sql_query returns the rows
// 1, 2 and 12345678901234567890.
func Tools() []tool.Tool {
	send := tool.New("send", "Send a text to somebody.", func(_ context.Context, a struct {
		To   string `json:"to"`
		Text string `json:"text,omitempty"`
	}) (any, error) {
		return "sent to " + a.To, nil
	}).WithEffect(tool.Writes)
	send.Idempotent = true
	return []tool.Tool{
		tool.New("add", "Add two numbers.", func(_ context.Context, a struct {
			A int `json:"a"`
			B int `json:"b"`
		}) (any, error) {
			return map[string]any{"sum": a.A + a.B}, nil
		}).WithEffect(tool.None),
		tool.New("breaks", "Breaks.", func(context.Context, struct{}) (any, error) {
			return nil, errors.New("it is broken")
		}).WithEffect(tool.None),
		send,
		database(nil).WithBinding(database),
		tool.New("leaves", "Leaves.", func(context.Context, struct{}) (any, error) {
			return nil, tool.Unavailable(errors.New("it has left"))
		}).WithEffect(tool.None),
	}
}

// database returns sql_query for databases that do not exist.
func database(list []tool.Database) tool.Tool {
	effect := tool.Reads
	for _, d := range list {
		if d.Writes {
			effect = tool.Writes
		}
	}
	params := map[string]any{"type": "object", "properties": map[string]any{"database": map[string]any{"type": "string"}, "query": map[string]any{"type": "string"}}}
	return tool.Declared(tool.SQLQuery, "Ask a database.", params, func(_ context.Context, c tool.Call) (any, error) {
		return map[string]any{"asked": c.Arguments["query"], "rows": []any{map[string]any{"n": 1}, map[string]any{"n": 2}, map[string]any{"n": json.Number("12345678901234567890")}}}, nil
	}).WithEffect(effect)
}
