package cascades

import (
	"context"
	"errors"
	"testing"

	"github.com/seed61713e19/capstan/runner/tool"
)

// A tool that wants a receipt is called with a text whose receipt holds, and where
// it takes nothing else with nothing else.
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
		{known, true, map[string]any{"text": "a", "receipt": "of a", "more": "b"}, "error: not called: it takes text and receipt alone: of what else is given no receipt is"},
		{known, false, map[string]any{"text": "a", "receipt": "of a", "more": "b"}, "called"},
		{Known{}, true, map[string]any{"text": "a", "receipt": "of a"}, "error: not called: nothing checks receipts here"},
	} {
		publish := &Tool{Receipt: &Receipt{Alone: c.alone}, Tool: tool.Declared("publish", "", nil, func(context.Context, tool.Call) (any, error) { return "called", nil })}
		publish.Params = publish.Receipt.params()
		(&parser{known: c.known}).demand(&object{}, publish)
		if got, err := publish.Tool.Run(t.Context(), tool.Call{Arguments: c.arguments}); err != nil || got.Text() != c.want {
			t.Errorf("%v: got %q, %v, want %q", c.arguments, got.Text(), err, c.want)
		}
	}
}
