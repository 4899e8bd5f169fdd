// Package telemetry makes OpenTelemetry spans and metrics from the events of runs. Spans are
// runs, phases, attempts, turns, calls of models and tools, and wards; every verdict is a
// gen_ai.evaluation.result. Metrics are tokens, durations and verdicts. Names are those of the
// GenAI semantic conventions; [Table] lists all. Content is sent only on request.
//
//	t, err := telemetry.FromEnvironment(ctx, os.Getenv, telemetry.Options{})
//	if t != nil {
//		defer t.Shutdown(ctx)
//		options = append(options, runner.WithSink(t))
//	}
//
// A trace is a run. Its ID is a hash of the run's ID, so that a resumed run has the same trace,
// with another span of the run. If TRACEPARENT names a span, it is the parent of the run.
//
// A failure of telemetry does not affect the run. Begin with table.go and run.go.
package telemetry

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/seed61713e19/capstan/runner/event"
)

// Options configure a [Telemetry].
type Options struct {
	Exporter sdk.SpanExporter  // receives the spans in batches in the background; nil sends none
	Metrics  metric.Exporter   // receives the metrics every minute and at the end; nil sends none
	Parent   trace.SpanContext // the parent of runs; if it is invalid, each run has its own trace
	Content  bool              // send prompts, replies, arguments, results, reasons and error texts
	Provider string            // gen_ai.provider.name of models without a provider in their names; default: openai
	Version  string            // of the program
	OnError  func(error)       // called once, after the first failure; may be nil
}

// A Telemetry is an [event.Sink] that sends spans and metrics of any number of concurrent runs.
// A nil Telemetry does nothing.
type Telemetry struct {
	provider string
	content  bool
	onError  func(error)
	parent   trace.SpanContext
	sdk      *sdk.TracerProvider
	tracer   trace.Tracer
	meters   *meters

	mu   sync.Mutex
	runs map[string]*run // that have not finished

	ended, sent atomic.Int64
	first       atomic.Pointer[error] // the first failure
	unmeasured  atomic.Pointer[error] // the failure of the newest metrics
}

// scopeName is the instrumentation scope of every span.
const scopeName = "github.com/seed61713e19/capstan/runner/telemetry"

// New returns a Telemetry that sends to the exporters. The SDK reads sampling, limits and the
// resource's attributes from the standard OTEL_ variables of the process. Call
// [Telemetry.Shutdown] after the runs.
func New(ctx context.Context, o Options) (*Telemetry, error) {
	if o.Exporter == nil && o.Metrics == nil {
		return nil, errors.New("telemetry: no exporter")
	}
	service := []attribute.KeyValue{attribute.String("service.name", "capstan")}
	if o.Version != "" {
		service = append(service, attribute.String("service.version", o.Version))
	}
	r, err := resource.New(ctx, resource.WithAttributes(service...), resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("telemetry: resource: %w", err)
	}
	t := &Telemetry{provider: cmp.Or(o.Provider, "openai"), content: o.Content, onError: o.OnError, parent: o.Parent, runs: map[string]*run{}}
	spans := []sdk.TracerProviderOption{sdk.WithResource(r), sdk.WithIDGenerator(ids{})}
	if o.Exporter == nil {
		spans = append(spans, sdk.WithSampler(sdk.NeverSample()))
	} else {
		processor := sdk.NewBatchSpanProcessor(&exporter{o.Exporter, t}, sane, o.batches)
		spans = append(spans, sdk.WithSpanProcessor(counting{processor, t}))
	}
	t.sdk = sdk.NewTracerProvider(spans...)
	t.tracer = t.sdk.Tracer(scopeName, trace.WithInstrumentationVersion(o.Version))
	if o.Metrics != nil {
		if t.meters, err = newMeters(r, &measuring{o.Metrics, t}, o.Version); err != nil {
			return nil, fmt.Errorf("telemetry: %w", err)
		}
	}
	return t, nil
}

// maxContents is the maximum number of spans in a batch with content. A request then has at
// most 4 MiB.
const maxContents = 64

func (o Options) batches(b *sdk.BatchSpanProcessorOptions) {
	if o.Content {
		b.MaxExportBatchSize = min(b.MaxExportBatchSize, maxContents)
	}
}

// maxQueue is the maximum size of the queue, which the SDK allocates at once.
const maxQueue = 1 << 20

// sane replaces values with which the SDK panics or loops.
func sane(o *sdk.BatchSpanProcessorOptions) {
	if o.MaxQueueSize < 1 {
		o.MaxQueueSize = sdk.DefaultMaxQueueSize
	}
	o.MaxQueueSize = min(o.MaxQueueSize, maxQueue)
	if o.MaxExportBatchSize < 1 {
		o.MaxExportBatchSize = sdk.DefaultMaxExportBatchSize
	}
	o.MaxExportBatchSize = min(o.MaxExportBatchSize, o.MaxQueueSize)
	o.BatchTimeout = cmp.Or(max(o.BatchTimeout, 0), sdk.DefaultScheduleDelay*time.Millisecond)
}

// Emit processes an event without waiting for the network. If the queue is full, it drops spans
// and counts them. It is safe for concurrent use, but the events of one run must arrive in
// order.
func (t *Telemetry) Emit(e event.Event) {
	if t == nil {
		return
	}
	name := cmp.Or(e.Run, e.RunID)
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.of(name, t.parent)
	if r.emit(e); e.Kind == event.RunFinished {
		delete(t.runs, name)
	}
}

// of returns a run, or makes one with the parent.
func (t *Telemetry) of(name string, parent trace.SpanContext) *run {
	r := t.runs[name]
	if r == nil {
		r = &run{t: t, id: name, parent: parent}
		t.runs[name] = r
	}
	return r
}

// Within sets the parent of a run, which overrides [Options.Parent]. It has no effect after the
// run's first event.
func (t *Telemetry) Within(name string, parent trace.SpanContext) {
	if t == nil || !parent.IsValid() {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.of(name, parent)
}

// Tracer returns a tracer for spans of other code. The tracer of a nil Telemetry does nothing.
func (t *Telemetry) Tracer(scope string) trace.Tracer {
	if t == nil {
		return noop.NewTracerProvider().Tracer(scope)
	}
	return t.sdk.Tracer(scope)
}

// Lost returns the number of ended spans that have not arrived.
func (t *Telemetry) Lost() int64 {
	if t == nil {
		return 0
	}
	return t.ended.Load() - t.sent.Load()
}

// Shutdown ends the open runs and sends the rest until ctx ends. It returns an error that
// counts the lost spans. It ignores later events.
func (t *Telemetry) Shutdown(ctx context.Context) error {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	for _, r := range t.runs {
		r.abandon()
	}
	clear(t.runs)
	t.mu.Unlock()
	err := t.sdk.Shutdown(ctx)
	if t.meters != nil {
		err = errors.Join(err, t.meters.provider.Shutdown(ctx))
	}
	return t.loss(err)
}

// counting counts ended spans before the queue may drop them.
type counting struct {
	sdk.SpanProcessor
	t *Telemetry
}

func (c counting) OnEnd(s sdk.ReadOnlySpan) {
	if s.SpanContext().IsSampled() {
		c.t.ended.Add(1)
	}
	c.SpanProcessor.OnEnd(s)
}

type runKey struct{}

// ids derives the trace ID from the run's ID. The other IDs are random.
type ids struct{}

func (g ids) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	if id, _ := ctx.Value(runKey{}).(string); id != "" {
		return TraceID(id), g.NewSpanID(ctx, trace.TraceID{})
	}
	var t trace.TraceID
	for !t.IsValid() {
		put(t[:8], rand.Uint64())
		put(t[8:], rand.Uint64())
	}
	return t, g.NewSpanID(ctx, t)
}

func (ids) NewSpanID(context.Context, trace.TraceID) trace.SpanID {
	var s trace.SpanID
	for !s.IsValid() {
		put(s[:], rand.Uint64())
	}
	return s
}

func put(to []byte, n uint64) {
	for i := range to {
		to[i] = byte(n >> (8 * i))
	}
}

// TraceID returns the trace ID of a run: the first 16 bytes of the SHA-256 of its ID.
func TraceID(runID string) trace.TraceID {
	sum := sha256.Sum256([]byte(runID))
	return trace.TraceID(sum[:16])
}
