package cascades

import (
	"context"
	"errors"
	"testing"

	"github.com/seed61713e19/capstan/cascades/internal/reader"
	"github.com/seed61713e19/capstan/runner/tool"
)

// TestDemand checks that a tool with a demand is called only with a text that
// has a valid receipt. A tool that takes only these must not get other
// arguments.
func TestDemand(t *testing.T) {
	known := Known{Receipts: func(Receipt) func(text, receipt string) error {
		return func(text, receipt string) error {
			if receipt != "of "+text {
				return errors.New("it does not hold")
			}
			return nil
		}
	}}
	for _, c := range []struct {
		known     Known
		alone     bool
		arguments map[string]any
		want      any
	}{
		{known, true, map[string]any{"text": "a", "receipt": "of a"}, "called"},
		{known, true, map[string]any{"text": "a", "receipt": "of b"}, "error: not called: it does not hold"},
		{known, true, map[string]any{"text": "a"}, "error: not called: it wants text and receipt, both texts"},
		{known, true, map[string]any{"text": 1, "receipt": "of a"}, "error: not called: it wants text and receipt, both texts"},
		{known, true, map[string]any{"text": "a", "receipt": "of a", "more": "b"}, "error: not called: it takes only text and receipt"},
		{known, false, map[string]any{"text": "a", "receipt": "of a", "more": "b"}, "called"},
		{Known{}, true, map[string]any{"text": "a", "receipt": "of a"}, "error: not called: nothing checks receipts here"},
	} {
		publish := &Tool{Receipt: &Receipt{Alone: c.alone}, Tool: tool.Declared("publish", "", nil, func(context.Context, tool.Call) (any, error) { return "called", nil })}
		publish.Params = publish.Receipt.params()
		for argument := range c.arguments {
			if got := publish.Receipt.Covers(argument); got != (argument != "more") {
				t.Errorf("%s is covered: %t", argument, got)
			}
		}
		(&parser{known: c.known}).demand(&reader.Object{}, publish)
		if got, err := publish.Tool.Run(t.Context(), tool.Call{Arguments: c.arguments}); err != nil || got.Text() != c.want {
			t.Errorf("%v: got %q, %v, want %q", c.arguments, got.Text(), err, c.want)
		}
	}
}
