package validators

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// A computed check of a long text is left when its context is over, and a short
// one, or one without a limit, is waited for where it stands.
func TestComputedChecksHeedTheirContext(t *testing.T) {
	release, began := make(chan struct{}), make(chan struct{}, 3)
	check, err := New("slow", "Validates slowly", func(context.Context, struct{}, Subject) (Verdict, error) {
		began <- struct{}{}
		<-release
		return Pass("done"), nil
	}).Bind(nil)
	if err != nil {
		t.Fatal(err)
	}
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { <-began; cancel(enough) }()
	if v, err := check(ctx, Subject{Content: strings.Repeat("x", longText)}); !errors.Is(err, enough) || v.Valid {
		t.Errorf("got %+v, %v", v, err)
	}
	close(release)
	for _, s := range []Subject{{Content: "x"}, {Content: strings.Repeat("x", longText)}} {
		if v, err := check(t.Context(), s); err != nil || !v.Valid {
			t.Errorf("got %+v, %v", v, err)
		}
	}
	broken, err := New("broken", "Validates by breaking", func(context.Context, struct{}, Subject) (Verdict, error) { panic("no") }).Bind(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := broken(t.Context(), Subject{Content: strings.Repeat("x", longText)}); err == nil || !strings.Contains(err.Error(), "panic: no") {
		t.Errorf("got %v", err)
	}
}

// Expressions and schemas ask while they compute.
func TestComputedChecksAskTheirContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	list := make([]any, 200_000)
	for source, subject := range map[string]Subject{
		"all(output, # == nil)": {Output: list},
		"output == nil":         {Content: strings.Repeat("[", 10) + strings.Repeat("[1,[2,{", 50_000)},
	} {
		check, err := checkOf(source, "")
		if err != nil {
			t.Fatal(err)
		}
		v, err := check(ctx, subject)
		if wanted := subject.Output != nil; (err != nil) != wanted {
			t.Errorf("%s: got %+v, %v", source, v, err)
		}
	}
	check, err := MatchesSchema.Bind(map[string]any{"schema": map[string]any{"items": map[string]any{"type": "string"}}})
	if err != nil {
		t.Fatal(err)
	}
	if v, err := check(ctx, Subject{Output: list}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %+v, %v", v, err)
	}
}
