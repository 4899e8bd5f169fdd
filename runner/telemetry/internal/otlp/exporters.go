package otlp

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	wire "go.opentelemetry.io/proto/otlp/metrics/v1"
	resource "go.opentelemetry.io/proto/otlp/resource/v1"
	traces "go.opentelemetry.io/proto/otlp/trace/v1"
)

// Spans returns an exporter of spans. It connects when it has some.
func Spans(ctx context.Context, s Settings) (sdk.SpanExporter, error) {
	return otlptrace.New(ctx, spans{newClient(s, "spans")})
}

type spans struct{ *client }

// Start implements [otlptrace.Client].
func (spans) Start(context.Context) error { return nil }

// Stop implements [otlptrace.Client]. It cancels requests.
func (c spans) Stop(context.Context) error {
	c.stop()
	return nil
}

// UploadTraces implements [otlptrace.Client]. TracesData has the encoding of the
// request's own type, whose package links gRPC.
func (c spans) UploadTraces(ctx context.Context, list []*traces.ResourceSpans) error {
	return c.send(ctx, &traces.TracesData{ResourceSpans: list})
}

// Metrics returns an exporter of the kinds of metrics that Capstan has: integer sums and
// histograms. It connects when it has some.
func Metrics(s Settings) metric.Exporter { return metrics{newClient(s, "data points")} }

type metrics struct{ *client }

// Temporality implements [metric.Exporter].
func (m metrics) Temporality(kind metric.InstrumentKind) metricdata.Temporality {
	switch m.temporality {
	case "delta":
		return metric.DeltaTemporalitySelector(kind)
	case "lowmemory":
		return metric.LowMemoryTemporalitySelector(kind)
	}
	return metric.CumulativeTemporalitySelector(kind)
}

// Aggregation implements [metric.Exporter].
func (metrics) Aggregation(kind metric.InstrumentKind) metric.Aggregation {
	return metric.DefaultAggregationSelector(kind)
}

// Export implements [metric.Exporter]. MetricsData has the encoding of the request's own
// type, whose package links gRPC.
func (m metrics) Export(ctx context.Context, all *metricdata.ResourceMetrics) error {
	of := &wire.ResourceMetrics{SchemaUrl: all.Resource.SchemaURL(), Resource: &resource.Resource{Attributes: attributes(*all.Resource.Set())}}
	for _, s := range all.ScopeMetrics {
		scope := &wire.ScopeMetrics{SchemaUrl: s.Scope.SchemaURL, Scope: &common.InstrumentationScope{
			Name: s.Scope.Name, Version: s.Scope.Version, Attributes: attributes(s.Scope.Attributes),
		}}
		for _, one := range s.Metrics {
			w := &wire.Metric{Name: one.Name, Description: one.Description, Unit: one.Unit}
			switch d := one.Data.(type) {
			case metricdata.Sum[int64]:
				w.Data = sum(d)
			case metricdata.Histogram[int64]:
				w.Data = histogram(d)
			case metricdata.Histogram[float64]:
				w.Data = histogram(d)
			default:
				return fmt.Errorf("metric %s: a %T is not sent", w.Name, d)
			}
			scope.Metrics = append(scope.Metrics, w)
		}
		of.ScopeMetrics = append(of.ScopeMetrics, scope)
	}
	return m.send(ctx, &wire.MetricsData{ResourceMetrics: []*wire.ResourceMetrics{of}})
}

// ForceFlush implements [metric.Exporter].
func (metrics) ForceFlush(ctx context.Context) error { return ctx.Err() }

// Shutdown implements [metric.Exporter]. It cancels requests.
func (m metrics) Shutdown(context.Context) error {
	m.stop()
	return nil
}

func sum(s metricdata.Sum[int64]) *wire.Metric_Sum {
	out := &wire.Sum{AggregationTemporality: temporality(s.Temporality), IsMonotonic: s.IsMonotonic}
	for _, p := range s.DataPoints {
		out.DataPoints = append(out.DataPoints, &wire.NumberDataPoint{
			Attributes: attributes(p.Attributes), StartTimeUnixNano: nanoseconds(p.StartTime), TimeUnixNano: nanoseconds(p.Time),
			Value: &wire.NumberDataPoint_AsInt{AsInt: p.Value},
		})
	}
	return &wire.Metric_Sum{Sum: out}
}

func histogram[N int64 | float64](h metricdata.Histogram[N]) *wire.Metric_Histogram {
	out := &wire.Histogram{AggregationTemporality: temporality(h.Temporality)}
	for _, p := range h.DataPoints {
		out.DataPoints = append(out.DataPoints, &wire.HistogramDataPoint{
			Attributes: attributes(p.Attributes), StartTimeUnixNano: nanoseconds(p.StartTime), TimeUnixNano: nanoseconds(p.Time),
			Count: p.Count, Sum: new(float64(p.Sum)), Min: extreme(p.Min), Max: extreme(p.Max),
			BucketCounts: p.BucketCounts, ExplicitBounds: p.Bounds,
		})
	}
	return &wire.Metric_Histogram{Histogram: out}
}

func extreme[N int64 | float64](e metricdata.Extrema[N]) *float64 {
	if n, ok := e.Value(); ok {
		return new(float64(n))
	}
	return nil
}

func temporality(t metricdata.Temporality) wire.AggregationTemporality {
	if t == metricdata.DeltaTemporality {
		return wire.AggregationTemporality_AGGREGATION_TEMPORALITY_DELTA
	}
	return wire.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE
}

func nanoseconds(t time.Time) uint64 { return uint64(max(0, t.UnixNano())) }

// attributes encodes booleans and integers as such, and other values as texts.
func attributes(set attribute.Set) []*common.KeyValue {
	var list []*common.KeyValue
	for _, a := range set.ToSlice() {
		value := &common.AnyValue{}
		switch a.Value.Type() {
		case attribute.BOOL:
			value.Value = &common.AnyValue_BoolValue{BoolValue: a.Value.AsBool()}
		case attribute.INT64:
			value.Value = &common.AnyValue_IntValue{IntValue: a.Value.AsInt64()}
		default:
			value.Value = &common.AnyValue_StringValue{StringValue: a.Value.String()}
		}
		list = append(list, &common.KeyValue{Key: string(a.Key), Value: value})
	}
	return list
}
