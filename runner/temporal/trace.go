package temporal

import (
	"fmt"

	"go.opentelemetry.io/otel/trace"
	"go.temporal.io/sdk/contrib/opentelemetry"
	"go.temporal.io/sdk/interceptor"

	"github.com/seed61713e19/capstan/runner/telemetry"
)

// Tracing makes Temporal's own spans, of workflows and activities, in the trace of
// the run that they are of, where those of [telemetry] are: its id is made of the
// run's. What an activity calls is its span's work: models and MCP servers get it as
// headers. It is an interceptor of clients; a worker has its client's.
func Tracing(t *telemetry.Telemetry) (interceptor.Interceptor, error) {
	of, err := opentelemetry.NewTracer(opentelemetry.TracerOptions{Tracer: t.Tracer("temporal-sdk-go"), DisableBaggage: true})
	if err != nil {
		return nil, fmt.Errorf("tracing: %w", err)
	}
	return interceptor.NewTracingInterceptor(tracer{of}), nil
}

// A tracer has spans that are a part of nothing be in the trace of their run.
type tracer struct{ interceptor.Tracer }

// StartSpan starts a span.
func (t tracer) StartSpan(o *interceptor.TracerStartSpanOptions) (interceptor.TracerSpan, error) {
	if id := o.Tags["temporalWorkflowID"]; o.Parent == nil && id != "" {
		run := telemetry.TraceID(id)
		// No span of a run is there yet whose part this could be, and the protocol
		// takes no trace without one.
		within, err := t.UnmarshalSpan(map[string]string{"traceparent": fmt.Sprintf("00-%s-%s-01", run, trace.SpanID(run[8:]))})
		if err != nil {
			return nil, err
		}
		o.Parent = within
	}
	return t.Tracer.StartSpan(o)
}
