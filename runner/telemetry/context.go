package telemetry

import (
	"context"
	"strings"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/seed61713e19/capstan/internal/tracecontext"
	"github.com/seed61713e19/capstan/runner/event"
)

// Propagate returns ctx such that a call with it, or with a context derived from it,
// carries its OpenTelemetry span: requests to models and MCP servers as headers, programs
// as environment variables. [Telemetry.Context] and [Incoming] include it. Call it if the
// spans are your own.
func Propagate(ctx context.Context) context.Context { return tracecontext.With(ctx, inject) }

func inject(ctx context.Context, set func(name, value string)) {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	for name, value := range carrier {
		set(name, value)
	}
}

// Incoming returns ctx within the span that the variables TRACEPARENT and TRACESTATE
// name, in the form of W3C Trace Context. It ignores invalid values. Calls with the
// returned context carry the span, see [Propagate].
func Incoming(ctx context.Context, getenv func(string) string) context.Context {
	return propagation.TraceContext{}.Extract(Propagate(ctx), propagation.MapCarrier{
		"traceparent": strings.TrimSpace(getenv("TRACEPARENT")), "tracestate": strings.TrimSpace(getenv("TRACESTATE")),
	})
}

// Context returns ctx within the span of a path of a run, or of the nearest open path
// above it. Without such a span, it returns ctx. It is the function for
// [runner.WithTrace].
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
	return trace.ContextWithSpanContext(Propagate(ctx), s.nearest().span.SpanContext())
}
