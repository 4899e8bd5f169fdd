// Package tracecontext adds the trace of a call to the requests and programs that the
// call starts, as W3C Trace Context. It does not depend on OpenTelemetry: a tracing
// library gives its function to [With], and each transport calls [Inject].
//
//	ctx = tracecontext.With(ctx, inject)     // runner/telemetry
//	tracecontext.Inject(ctx, r.Header.Set)   // a model's client
package tracecontext

import "context"

// An Injector reports the span of ctx: it calls set with traceparent and, if the trace
// has a state, with tracestate. Without a span, it does not call set.
type Injector func(ctx context.Context, set func(name, value string))

type key struct{}

// With returns ctx with an injector. It replaces the injector that ctx has.
func With(ctx context.Context, inject Injector) context.Context {
	return context.WithValue(ctx, key{}, inject)
}

// Inject calls the injector of ctx with ctx. Without an injector, it does nothing.
func Inject(ctx context.Context, set func(name, value string)) {
	if inject, ok := ctx.Value(key{}).(Injector); ok {
		inject(ctx, set)
	}
}
