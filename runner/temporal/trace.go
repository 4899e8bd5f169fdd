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

// Tracing puts Temporal's spans of workflows and activities into the trace of
// their run, together with the spans of [telemetry]: the trace ID is derived
// from the run ID. Requests of an activity to models and MCP servers carry its
// span as headers. Tracing returns an interceptor for clients; a worker uses
// that of its client.
func Tracing(t *telemetry.Telemetry) (interceptor.Interceptor, error) {
	of, err := opentelemetry.NewTracer(opentelemetry.TracerOptions{Tracer: t.Tracer("temporal-sdk-go"), DisableBaggage: true})
	if err != nil {
		return nil, fmt.Errorf("tracing: %w", err)
	}
	return interceptor.NewTracingInterceptor(tracer{of}), nil
}

// A tracer puts spans without a parent into the trace of their run.
type tracer struct{ interceptor.Tracer }

// StartSpan starts a span.
func (t tracer) StartSpan(o *interceptor.TracerStartSpanOptions) (interceptor.TracerSpan, error) {
	if id := o.Tags["temporalWorkflowID"]; o.Parent == nil && id != "" {
		run := telemetry.TraceID(id)
		// The protocol requires a parent, and the run does not have a span yet.
		within, err := t.UnmarshalSpan(map[string]string{"traceparent": fmt.Sprintf("00-%s-%s-01", run, trace.SpanID(run[8:]))})
		if err != nil {
			return nil, err
		}
		o.Parent = within
	}
	return t.Tracer.StartSpan(o)
}

// Traces returns a context propagator, an option of clients. It passes the span
// of the context that begins a run to the workflow, its effects and its later
// histories, in the format of W3C Trace Context.
func Traces() workflow.ContextPropagator { return traces{} }

type traces struct{}

// parentKey is the context key of the parent span, as headers.
type parentKey struct{}

// within returns the parent span of a workflow.
func within(ctx workflow.Context) trace.SpanContext {
	of, _ := ctx.Value(parentKey{}).(propagation.MapCarrier)
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
	of, _ := ctx.Value(parentKey{}).(propagation.MapCarrier)
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

// spanHeader is the header with the span of the scheduling workflow in
// Temporal's own tracing, which is closer than the parent of the run.
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
	return workflow.WithValue(ctx, parentKey{}, readHeaders(r)), nil
}

// readHeaders returns the trace headers. It ignores a header that is not a
// text.
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
