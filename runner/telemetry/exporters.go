package telemetry

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdk "go.opentelemetry.io/otel/sdk/trace"

	"github.com/seed61713e19/capstan/internal/patterns"
)

// An exporter counts the spans that arrive and reports the first failure. The SDK would write
// errors to standard error.
type exporter struct {
	sdk.SpanExporter
	t *Telemetry
}

// ExportSpans implements [sdk.SpanExporter].
func (x *exporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	err := x.SpanExporter.ExportSpans(ctx, spans)
	x.t.sent.Add(int64(len(spans) - refused(err, len(spans))))
	x.t.fault(err)
	return nil
}

// rejected matches the error of an exporter whose receiver rejected some of the spans.
var rejected = patterns.Lazy(`\((\d+) spans rejected\)`)

// refused returns how many of n spans an export has lost.
func refused(err error, n int) int {
	if err == nil {
		return 0
	}
	if found := rejected().FindStringSubmatch(err.Error()); found != nil {
		some, _ := strconv.Atoi(found[1])
		return min(some, n)
	}
	return n
}

// A measuring is an exporter of metrics that hides errors from the SDK.
type measuring struct {
	metric.Exporter
	t *Telemetry
}

// Export implements [metric.Exporter].
func (m *measuring) Export(ctx context.Context, data *metricdata.ResourceMetrics) error {
	if err := m.Exporter.Export(ctx, data); err != nil {
		err = fmt.Errorf("metrics: %w", err)
		m.t.unmeasured.Store(&err)
		m.t.fault(err)
		return nil
	}
	m.t.unmeasured.Store(nil) // sums are cumulative: the newest contain all
	return nil
}

// fault reports the first failure.
func (t *Telemetry) fault(err error) {
	if err != nil && t.first.CompareAndSwap(nil, &err) && t.onError != nil {
		t.onError(fmt.Errorf("telemetry: %w", err))
	}
}

// loss returns an error that counts the lost spans and metrics.
func (t *Telemetry) loss(err error) error {
	var lost []error
	if n := t.Lost(); n > 0 {
		cause := errors.New("the queue was full")
		if first := t.first.Load(); first != nil {
			cause = *first
		} else if err != nil {
			cause = err
		}
		lost = append(lost, fmt.Errorf("telemetry: %d spans were lost: %w", n, cause))
	}
	if cause := t.unmeasured.Load(); cause != nil {
		lost = append(lost, fmt.Errorf("telemetry: %w", *cause))
	}
	if len(lost) == 0 {
		return err
	}
	return errors.Join(lost...)
}
