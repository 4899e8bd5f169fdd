package cascades

import (
	"context"
	"errors"
	"io/fs"
	"testing"

	"github.com/seed61713e19/capstan/runner/tool"
)

// Calls of one tool are held against one compiled schema, until it is told
// another one.
func TestUnfitCompilesOnce(t *testing.T) {
	params := arguments("to", "text")
	one := &Tool{Name: "send", Params: params, held: &held{}}
	if why := one.Unfit(map[string]any{"to": "me", "text": "hi"}); why != "" {
		t.Error(why)
	}
	first := one.held.last.Load()
	if why := one.Unfit(map[string]any{"to": 1, "text": "hi"}); why == "" || first == nil || one.held.last.Load() != first {
		t.Errorf("got %q, compiled again: %v", why, one.held.last.Load() != first)
	}
	one.Params = arguments("from")
	if why := one.Unfit(map[string]any{"from": "me"}); why != "" {
		t.Error(why)
	}
	one.Params = map[string]any{"type": 7}
	if why := one.Unfit(nil); why != "" {
		t.Errorf("a schema that is wrong refuses nothing: %s", why)
	}
}

// What a phase may use is held on its own in every phase.
func TestUnfitConcurrently(t *testing.T) {
	one := &Tool{Tool: tool.Tool{}, Params: arguments("to"), held: &held{}}
	done := make(chan string)
	for range 4 {
		go func() { done <- one.Unfit(map[string]any{"to": "me"}) + one.Unfit(map[string]any{"to": "you"}) }()
	}
	for range 4 {
		if why := <-done; why != "" {
			t.Error(why)
		}
	}
}

// Of a tool whose server is not there, which is told, nothing can be checked.
func TestUnfitRemote(t *testing.T) {
	ask := func(context.Context) (string, map[string]any, error) { return "", nil, fs.ErrNotExist }
	one := &Tool{Name: "send", Tool: tool.Remote("send", ask, nil), remote: true, held: &held{}}
	if _, _, err := one.Told(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is told %v", err)
	}
	if why := one.Unfit(map[string]any{"to": 1}); why != "" {
		t.Error(why)
	}
}
