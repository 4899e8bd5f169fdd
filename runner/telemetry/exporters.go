package telemetry

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdk "go.opentelemetry.io/otel/sdk/trace"

	"github.com/seed61713e19/capstan/validators/patterns"
)

// An exporter counts what arrives and tells of what does not, once. It keeps
// errors from the SDK, which would write them to the standard error stream.
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

// rejected is how an exporter tells of spans that a receiver did not take while
// it took the others: its type is its own.
var rejected = patterns.Lazy(`\((\d+) spans rejected\)`)

// refused is how many of n spans an export has cost.
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

// A measuring is an exporter of metrics whose errors are kept from the SDK too.
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
	m.t.unmeasured.Store(nil) // sums go on: the newest has all of them
	return nil
}

// fault notes the first thing that did not arrive.
func (t *Telemetry) fault(err error) {
	if err != nil && t.first.CompareAndSwap(nil, &err) && t.onError != nil {
		t.onError(fmt.Errorf("telemetry: %w", err))
	}
}

// loss is what did not arrive until the end.
func (t *Telemetry) loss(err error) error {
	var lost []error
	if n := t.Lost(); n > 0 {
		why := errors.New("the queue was full")
		if first := t.first.Load(); first != nil {
			why = *first
		} else if err != nil {
			why = err
		}
		lost = append(lost, fmt.Errorf("telemetry: %d spans were lost: %w", n, why))
	}
	if why := t.unmeasured.Load(); why != nil {
		lost = append(lost, fmt.Errorf("telemetry: %w", *why))
	}
	if len(lost) == 0 {
		return err
	}
	return errors.Join(lost...)
}
