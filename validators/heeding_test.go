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
