// Package telemetry makes OpenTelemetry spans and metrics of a run's events:
// run, phase, attempt, turn, and within these the calls of models and tools and
// the wards, with gen_ai.evaluation.result for every verdict; tokens, durations
// and verdicts as metrics. Names are those of the GenAI semantic conventions;
// [Table] is all of them. What was said is sent only where it is asked for.
//
//	t, err := telemetry.FromEnvironment(ctx, os.Getenv, telemetry.Options{})
//	if t != nil {
//		defer t.Shutdown(ctx)
//		options = append(options, runner.WithSink(t))
//	}
//
// A trace is a run: the trace's id is made of the run's, so that a run that is
// resumed goes on in the same trace, with a run span of its own. Where whoever
// starts the program has a span, in TRACEPARENT, the run is a part of that.
//
// Package otlp sends, where something is asked for, and connects when there is
// something to send.
//
// What cannot be sent stops no run. Begin with table.go, then run.go, which follows
// the events of one run.
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

// Options say what is sent, and where.
type Options struct {
	Exporter sdk.SpanExporter  // takes the spans in batches, away from the run; nil: there are none
	Metrics  metric.Exporter   // takes the metrics, every minute and at the end; nil: there are none
	Parent   trace.SpanContext // what runs are a part of; invalid: each is a trace of its own
	Content  bool              // send prompts, replies, arguments, results, reasons and error texts too
	Provider string            // who serves a model that does not say: gen_ai.provider.name; openai where it is empty
	Version  string            // of the program
	OnError  func(error)       // told once, the first time that something does not arrive; may be nil
}

// A Telemetry is an [event.Sink] that sends spans and metrics. It takes the events of any
// number of runs at the same time, which it tells apart by [event.Event.Run];
// of each it holds the places that are still open. A nil Telemetry takes
// events and does nothing.
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
	first       atomic.Pointer[error] // why something did not arrive
	unmeasured  atomic.Pointer[error] // why the newest metrics did not
}

// scopeName is the instrumentation scope of every span.
const scopeName = "github.com/seed61713e19/capstan/runner/telemetry"

// New starts sending to the exporter. Sampling, limits, the batches' size and
// pace, and the resource's attributes are those of the standard OTEL_
// variables, which the OpenTelemetry SDK reads from the process. Call
// [Telemetry.Shutdown] when the runs are over.
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

// maxContents bounds a batch of spans with content, each of which has some
// 64 KiB at most: a request stays below what receivers take, 4 MiB.
const maxContents = 64

func (o Options) batches(b *sdk.BatchSpanProcessorOptions) {
	if o.Content {
		b.MaxExportBatchSize = min(b.MaxExportBatchSize, maxContents)
	}
}

// maxQueue bounds the queue: its places are made at once.
const maxQueue = 1 << 20

// sane puts the defaults in place of what a variable may say and the SDK then
// panics at, or spins on.
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

// Emit takes an event. It does not wait for the network: what the queue has no
// room for is lost, and counted. It is safe for concurrent use, but the events
// of one run must come in their order.
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

// of is a run that is told of; one that was not told of yet is a part of a span.
func (t *Telemetry) of(name string, parent trace.SpanContext) *run {
	r := t.runs[name]
	if r == nil {
		r = &run{t: t, id: name, parent: parent}
		t.runs[name] = r
	}
	return r
}

// Within has a run be a part of a span, in place of [Options.Parent]. It is said
// before the run's first event; later it does nothing.
func (t *Telemetry) Within(name string, parent trace.SpanContext) {
	if t == nil || !parent.IsValid() {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.of(name, parent)
}

// Tracer is one of what takes the spans, for those that somebody else makes. Of a
// nil Telemetry it makes none.
func (t *Telemetry) Tracer(scope string) trace.Tracer {
	if t == nil {
		return noop.NewTracerProvider().Tracer(scope)
	}
	return t.sdk.Tracer(scope)
}

// Lost counts the spans that have ended and not arrived: those that are still
// to be sent, and after Shutdown those that never will be.
func (t *Telemetry) Lost() int64 {
	if t == nil {
		return 0
	}
	return t.ended.Load() - t.sent.Load()
}

// Shutdown ends the runs that are still open, sends what is left, within ctx,
// and says how many spans were lost, and whether metrics were, and why. Events
// that come later are not sent.
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

// counting counts the spans that end, before the queue may drop them.
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

// ids makes the trace's id of the run's, and the others by chance.
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

// TraceID is the trace of a run: the first 16 bytes of the SHA-256 of its id.
func TraceID(runID string) trace.TraceID {
	sum := sha256.Sum256([]byte(runID))
	return trace.TraceID(sum[:16])
}
