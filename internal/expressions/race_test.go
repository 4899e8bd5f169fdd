package expressions

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/seed61713e19/capstan/validators"
)

// TestExpressionsAtTheSameTime checks that expressions can be parsed, compiled and explained
// concurrently.
func TestExpressionsAtTheSameTime(t *testing.T) {
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			e, err := Parse("len(content) >= 5 && any(split(content, ' '), {hasPrefix(#, 'a')})")
			if err != nil {
				t.Error(err)
				return
			}
			if v, err := e.Check("")(t.Context(), validators.Subject{Content: "bat"}); err != nil || v.Valid {
				t.Errorf("%+v, %v", v, err)
			}
		})
	}
	wg.Wait()
}

// TestExpressionsAskTheirContext checks that long computations check their context.
func TestExpressionsAskTheirContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for source, subject := range map[string]validators.Subject{
		"all(output, # == nil)": {Output: make([]any, 200_000)},
		"output == nil":         {Content: strings.Repeat("[", 10) + strings.Repeat("[1,[2,{", 50_000)},
	} {
		check, err := checkOf(source, "")
		if err != nil {
			t.Fatal(err)
		}
		v, err := check(ctx, subject)
		if err == nil || !strings.Contains(err.Error(), "canceled") {
			t.Errorf("%s: got %+v, %v", source, v, err)
		}
	}
}
