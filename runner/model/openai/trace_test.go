package openai_test

import (
	"testing"

	"go.opentelemetry.io/otel/propagation"

	"github.com/seed61713e19/capstan/runner/telemetry"
)

// An endpoint receives the span of a call. Without a span, it receives no
// header.
func TestTrace(t *testing.T) {
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	e := newEndpoint(t, reply("hello"))
	c := e.client(t)
	ctx := propagation.TraceContext{}.Extract(telemetry.Propagate(t.Context()), propagation.MapCarrier{"traceparent": parent, "tracestate": "vendor=1"})
	for i, ctx := range []func() (string, string){
		func() (string, string) { c.Call(ctx, ask("Hello?")); return parent, "vendor=1" },
		func() (string, string) { c.Call(t.Context(), ask("Hello?")); return "", "" },
	} {
		wantParent, wantState := ctx()
		if head := e.heads[i]; head.Get("Traceparent") != wantParent || head.Get("Tracestate") != wantState {
			t.Errorf("call %d came with %q, %q", i, head.Get("Traceparent"), head.Get("Tracestate"))
		}
	}
}
