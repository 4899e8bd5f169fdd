package process_test

import (
	"context"
	"testing"

	"github.com/seed61713e19/capstan/internal/process"
	"github.com/seed61713e19/capstan/internal/tracecontext"
)

// TestTrace checks that a program receives the span of its context. Without a span, the program
// receives none.
func TestTrace(t *testing.T) {
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	ctx := tracecontext.With(t.Context(), func(_ context.Context, set func(name, value string)) {
		set("traceparent", parent)
		set("tracestate", "vendor=1")
	})
	for _, env := range [][]string{nil, {"A=b", "TRACEPARENT=other"}} {
		c := process.Command{Argv: []string{"/bin/sh", "-c", `printf "$TRACEPARENT $TRACESTATE"`}, Env: env}
		if out, err := process.Run(ctx, c); err != nil || string(out.Stdout) != parent+" vendor=1" {
			t.Errorf("%v: %q, %v", env, out.Stdout, err)
		}
	}
	c := process.Command{Argv: []string{"/bin/sh", "-c", `printf "$TRACEPARENT"`}, Env: []string{"A=b"}}
	if out, err := process.Run(t.Context(), c); err != nil || len(out.Stdout) > 0 {
		t.Errorf("%q, %v", out.Stdout, err)
	}
}
