package temporal

import (
	"context"
	"strings"
	"sync"
	"testing"

	common "go.temporal.io/api/common/v1"

	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/telemetry"
)

// spied records the span of each model call.
type spied struct {
	engine.Host
	ctx context.Context
	in  *sync.Map
}

func (s spied) Model(at event.Path, req model.Request) (model.Response, error) {
	s.in.Store(at, trace.SpanContextFromContext(s.ctx))
	return s.Host.Model(at, req)
}

// TestTracesAreOne checks that Temporal's spans and those of the run's events
// have one trace ID, which is derived from the run ID. A model call is inside
// the span of its activity.
func TestTracesAreOne(t *testing.T) {
	recorder := tracetest.NewInMemoryExporter()
	sent, err := telemetry.New(t.Context(), telemetry.Options{Exporter: lasting{recorder}})
	if err != nil {
		t.Fatal(err)
	}
	spans, err := Tracing(sent)
	if err != nil {
		t.Fatal(err)
	}
	x := try(t, several, nil, judging, runner.WithTools(look), runner.WithValidators(slow))
	var in sync.Map
	world := x.crew.load
	x.crew.Sink = sent
	c, err := world(x.start.Cascade)
	if err != nil {
		t.Fatal(err)
	}
	makes := c.world
	c.world = func(ctx context.Context) engine.Host { return spied{makes(ctx), ctx, &in} }
	x.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: "run"})
	x.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{spans}})
	if result, _, err := x.end(t); err != nil || result.Status != engine.Succeeded {
		t.Fatalf("%+v: %v", result, err)
	}
	if err := sent.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	activities, names := map[trace.SpanID]bool{}, map[string]int{}
	for _, s := range recorder.GetSpans() {
		kind, _, _ := strings.Cut(s.Name, " ")
		names[kind]++
		if s.SpanContext.TraceID() != telemetry.TraceID("run") {
			t.Errorf("%s is of another trace", s.Name)
		}
		if s.Name == "RunActivity:"+activityModel {
			activities[s.SpanContext.SpanID()] = true
		}
	}
	for _, name := range []string{"RunWorkflow:capstan.run", "RunActivity:capstan.model", "RunActivity:capstan.tool", "invoke_workflow", "chat", "ward"} {
		if names[name] == 0 {
			t.Errorf("no %s in %v", name, names)
		}
	}
	asked := 0
	in.Range(func(at, span any) bool {
		asked++
		if !activities[span.(trace.SpanContext).SpanID()] {
			t.Errorf("%s is asked within no activity's span", at)
		}
		return true
	})
	if asked == 0 {
		t.Error("no model was asked")
	}
}

// TestRunsArePartOfWhatBeginsThem checks that a run begun in a span belongs to
// its trace, with its own span and the requests of its effects, even without
// Temporal's spans.
func TestRunsArePartOfWhatBeginsThem(t *testing.T) {
	outside, err := trace.TraceIDFromHex("0af7651916cd43dd8448eb211c80319c")
	if err != nil {
		t.Fatal(err)
	}
	span := trace.NewSpanContext(trace.SpanContextConfig{TraceID: outside, SpanID: trace.SpanID{1, 2, 3}, TraceFlags: trace.FlagsSampled, Remote: true})
	header := &common.Header{Fields: map[string]*common.Payload{}}
	if err := Traces().Inject(trace.ContextWithSpanContext(t.Context(), span), headers{header}); err != nil {
		t.Fatal(err)
	}
	recorder := tracetest.NewInMemoryExporter()
	sent, err := telemetry.New(t.Context(), telemetry.Options{Exporter: lasting{recorder}})
	if err != nil {
		t.Fatal(err)
	}
	x := try(t, several, nil, judging, runner.WithTools(look), runner.WithValidators(slow))
	var in sync.Map
	c, err := x.crew.load(x.start.Cascade)
	if err != nil {
		t.Fatal(err)
	}
	x.crew.Sink = sent
	makes := c.world
	c.world = func(ctx context.Context) engine.Host { return spied{makes(ctx), ctx, &in} }
	x.SetContextPropagators([]workflow.ContextPropagator{Traces()})
	x.SetHeader(header)
	if result, _, err := x.end(t); err != nil || result.Status != engine.Succeeded {
		t.Fatalf("%+v: %v", result, err)
	}
	if err := sent.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	roots, asked := 0, 0
	for _, s := range recorder.GetSpans() {
		if s.SpanContext.TraceID() != outside {
			t.Errorf("%s is of another trace", s.Name)
		}
		if s.Parent.SpanID() == span.SpanID() {
			roots++
		}
	}
	in.Range(func(at, within any) bool {
		if asked++; !within.(trace.SpanContext).Equal(span) {
			t.Errorf("%s is asked within %v", at, within)
		}
		return true
	})
	if roots != 1 || asked == 0 {
		t.Errorf("%d spans are right below, %d models were asked", roots, asked)
	}
}

// headers are written like the SDK's.
type headers struct{ *common.Header }

func (h headers) Set(key string, value *common.Payload) { h.Fields[key] = value }

// lasting retains its spans after a shutdown.
type lasting struct{ *tracetest.InMemoryExporter }

func (lasting) Shutdown(context.Context) error { return nil }
