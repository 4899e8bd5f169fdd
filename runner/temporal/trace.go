package temporal

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"go.temporal.io/sdk/contrib/opentelemetry"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/workflow"

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

// Traces hands what a run is a part of on to its workflow, from there to its effects
// and the histories in which it goes on: the span of the context in which it is begun,
// as W3C's Trace Context has it. It is an option of clients.
func Traces() workflow.ContextPropagator { return traces{} }

type traces struct{}

// partOf is the key of what a workflow is a part of, as headers.
type partOf struct{}

// within is what a workflow is a part of.
func within(ctx workflow.Context) trace.SpanContext {
	of, _ := ctx.Value(partOf{}).(propagation.MapCarrier)
	return trace.SpanContextFromContext(propagation.TraceContext{}.Extract(context.Background(), of))
}

// Inject implements [workflow.ContextPropagator].
func (traces) Inject(ctx context.Context, w workflow.HeaderWriter) error {
	of := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, of)
	return written(of, w)
}

// InjectFromWorkflow implements [workflow.ContextPropagator].
func (traces) InjectFromWorkflow(ctx workflow.Context, w workflow.HeaderWriter) error {
	of, _ := ctx.Value(partOf{}).(propagation.MapCarrier)
	return written(of, w)
}

func written(of propagation.MapCarrier, w workflow.HeaderWriter) error {
	for name, value := range of {
		p, err := converter.GetDefaultDataConverter().ToPayload(value)
		if err != nil {
			return err
		}
		w.Set(name, p)
	}
	return nil
}

// spanHeader is where Temporal's own tracing has the span of what gave an activity,
// which is nearer than what the run is a part of.
const spanHeader = "_tracer-data"

// Extract implements [workflow.ContextPropagator].
func (traces) Extract(ctx context.Context, r workflow.HeaderReader) (context.Context, error) {
	if _, nearer := r.Get(spanHeader); nearer {
		return ctx, nil
	}
	return propagation.TraceContext{}.Extract(ctx, readHeaders(r)), nil
}

// ExtractToWorkflow implements [workflow.ContextPropagator].
func (traces) ExtractToWorkflow(ctx workflow.Context, r workflow.HeaderReader) (workflow.Context, error) {
	return workflow.WithValue(ctx, partOf{}, readHeaders(r)), nil
}

// readHeaders are those of a trace; one that is no text counts as none.
func readHeaders(r workflow.HeaderReader) propagation.MapCarrier {
	of := propagation.MapCarrier{}
	for _, name := range (propagation.TraceContext{}).Fields() {
		var value string
		if p, there := r.Get(name); there && converter.GetDefaultDataConverter().FromPayload(p, &value) == nil {
			of[name] = value
		}
	}
	return of
}
