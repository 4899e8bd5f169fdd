package validators

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
)

// TestComputedChecksHeedTheirContext checks that a check of a long text ends with its context.
// Without a deadline, or for a short text, the check runs in the caller's goroutine.
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
	for says, judge := range map[string]func(*Verdict){
		"panic: no":                          func(*Verdict) { panic("no") },
		"score must be from 0 to 1, not NaN": func(v *Verdict) { nan := math.NaN(); v.Score = &nan },
		"score must be from 0 to 1, not 1.5": func(v *Verdict) { much := 1.5; v.Score = &much },
		"":                                   func(v *Verdict) { one := 1.0; v.Score = &one },
	} {
		broken, err := New("broken", "Validates by breaking", func(context.Context, struct{}, Subject) (Verdict, error) {
			v := Pass("fine")
			judge(&v)
			return v, nil
		}).Bind(nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, size := range []int{1, longText} {
			v, err := broken(t.Context(), Subject{Content: strings.Repeat("x", size)})
			if got := fmt.Sprint(err); v.Valid != (says == "") || says != "" && !strings.Contains(got, says) {
				t.Errorf("got %+v, %v, want %q", v, err, says)
			}
		}
	}
	lost, err := New("gone", "Validates by leaving", func(context.Context, struct{}, Subject) (Verdict, error) {
		runtime.Goexit()
		return Pass("fine"), nil
	}).Bind(nil)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := lost(t.Context(), Subject{Content: strings.Repeat("x", longText)}); err == nil || v.Valid {
		t.Errorf("got %+v, %v", v, err)
	}
}
