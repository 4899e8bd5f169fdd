package cascades

import (
	"context"
	"errors"
	"io/fs"
	"testing"

	"github.com/seed61713e19/capstan/runner/tool"
)

// TestUnfitCompilesOnce checks that calls of a tool share a compiled schema
// until the tool's description changes.
func TestUnfitCompilesOnce(t *testing.T) {
	params := arguments("to", "text")
	one := &Tool{Name: "send", Params: params, arguments: &argumentSchema{}}
	if reason := one.Unfit(map[string]any{"to": "me", "text": "hi"}); reason != "" {
		t.Error(reason)
	}
	first := one.arguments.last.Load()
	if reason := one.Unfit(map[string]any{"to": 1, "text": "hi"}); reason == "" || first == nil || one.arguments.last.Load() != first {
		t.Errorf("got %q, compiled again: %v", reason, one.arguments.last.Load() != first)
	}
	one.Params = arguments("from")
	if reason := one.Unfit(map[string]any{"from": "me"}); reason != "" {
		t.Error(reason)
	}
	one.Params = map[string]any{"type": 7}
	if reason := one.Unfit(nil); reason != "" {
		t.Errorf("a schema that is wrong refuses nothing: %s", reason)
	}
}

// TestUnfitConcurrently checks that each phase has its own list of tools.
func TestUnfitConcurrently(t *testing.T) {
	one := &Tool{Tool: tool.Tool{}, Params: arguments("to"), arguments: &argumentSchema{}}
	done := make(chan string)
	for range 4 {
		go func() { done <- one.Unfit(map[string]any{"to": "me"}) + one.Unfit(map[string]any{"to": "you"}) }()
	}
	for range 4 {
		if reason := <-done; reason != "" {
			t.Error(reason)
		}
	}
}

// TestUnfitRemote checks that the parser reports an unavailable server whose
// tool calls cannot be checked.
func TestUnfitRemote(t *testing.T) {
	ask := func(context.Context) (string, map[string]any, error) { return "", nil, fs.ErrNotExist }
	one := &Tool{Name: "send", Tool: tool.Remote("send", ask, nil), remote: true, arguments: &argumentSchema{}}
	if _, _, err := one.Described(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if reason := one.Unfit(map[string]any{"to": 1}); reason != "" {
		t.Error(reason)
	}
}
