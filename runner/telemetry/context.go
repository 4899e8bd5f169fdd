package telemetry

import (
	"context"
	"strings"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/seed61713e19/capstan/runner/event"
)

// Incoming is ctx within the span that the variables TRACEPARENT and TRACESTATE
// name, as W3C's Trace Context has them; what they say wrongly counts as not
// said. What is called with such a context hands the span on: models and MCP
// servers get it as headers, programs as variables.
func Incoming(ctx context.Context, getenv func(string) string) context.Context {
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{
		"traceparent": strings.TrimSpace(getenv("TRACEPARENT")), "tracestate": strings.TrimSpace(getenv("TRACESTATE")),
	})
}

// Context is ctx within the span of a place in a run, or of the nearest place
// around it that is open: what the place calls is then known as its work. Where
// there is none, it is ctx. It is what [runner.WithTrace] takes.
func (t *Telemetry) Context(ctx context.Context, run string, at event.Path) context.Context {
	if t == nil {
		return ctx
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.runs[run]
	if r == nil || r.root == nil {
		return ctx
	}
	s := r.root
	for segment := range strings.SplitSeq(string(at), "/") {
		below := s.below[segment]
		if below == nil {
			break
		}
		s = below
	}
	return trace.ContextWithSpanContext(ctx, s.nearest().span.SpanContext())
}
