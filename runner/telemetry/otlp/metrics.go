package otlp

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	wire "go.opentelemetry.io/proto/otlp/metrics/v1"
	resource "go.opentelemetry.io/proto/otlp/resource/v1"
)

// Metrics sends metrics: sums and histograms, which are all that Capstan has,
// without exemplars. Nothing is connected before there are some.
func Metrics(s Settings) metric.Exporter { return metrics{newClient(s, "data points")} }

type metrics struct{ *client }

// Temporality implements [metric.Exporter].
func (m metrics) Temporality(kind metric.InstrumentKind) metricdata.Temporality {
	switch m.delta {
	case "delta":
		return metric.DeltaTemporalitySelector(kind)
	case "lowmemory":
		return metric.LowMemoryTemporalitySelector(kind)
	}
	return metric.CumulativeTemporalitySelector(kind)
}

// Aggregation implements [metric.Exporter].
func (m metrics) Aggregation(kind metric.InstrumentKind) metric.Aggregation {
	if kind == metric.InstrumentKindHistogram && m.histogram == "base2_exponential_bucket_histogram" {
		return metric.AggregationBase2ExponentialHistogram{MaxSize: 160, MaxScale: 20}
	}
	return metric.DefaultAggregationSelector(kind)
}

// Export implements [metric.Exporter]. MetricsData is, on the wire, the request
// that a collector wants.
func (m metrics) Export(ctx context.Context, all *metricdata.ResourceMetrics) error {
	of := &wire.ResourceMetrics{SchemaUrl: all.Resource.SchemaURL(), Resource: &resource.Resource{Attributes: attributes(*all.Resource.Set())}}
	for _, s := range all.ScopeMetrics {
		scope := &wire.ScopeMetrics{SchemaUrl: s.Scope.SchemaURL, Scope: &common.InstrumentationScope{
			Name: s.Scope.Name, Version: s.Scope.Version, Attributes: attributes(s.Scope.Attributes),
		}}
		for _, one := range s.Metrics {
			w := &wire.Metric{Name: one.Name, Description: one.Description, Unit: one.Unit}
			if err := fill(w, one.Data); err != nil {
				return err
			}
			scope.Metrics = append(scope.Metrics, w)
		}
		of.ScopeMetrics = append(of.ScopeMetrics, scope)
	}
	return m.send(ctx, &wire.MetricsData{ResourceMetrics: []*wire.ResourceMetrics{of}})
}

// ForceFlush implements [metric.Exporter]: nothing is held back.
func (metrics) ForceFlush(ctx context.Context) error { return ctx.Err() }

// Shutdown implements [metric.Exporter]: what is being sent is given up.
func (m metrics) Shutdown(context.Context) error {
	m.stop()
	return nil
}

func fill(w *wire.Metric, data metricdata.Aggregation) error {
	switch d := data.(type) {
	case metricdata.Sum[int64]:
		w.Data = sum(d, func(p *wire.NumberDataPoint, n int64) { p.Value = &wire.NumberDataPoint_AsInt{AsInt: n} })
	case metricdata.Sum[float64]:
		w.Data = sum(d, func(p *wire.NumberDataPoint, n float64) { p.Value = &wire.NumberDataPoint_AsDouble{AsDouble: n} })
	case metricdata.Histogram[int64]:
		w.Data = histogram(d)
	case metricdata.Histogram[float64]:
		w.Data = histogram(d)
	case metricdata.ExponentialHistogram[int64]:
		w.Data = exponential(d)
	case metricdata.ExponentialHistogram[float64]:
		w.Data = exponential(d)
	default:
		return fmt.Errorf("metric %s: a %T is not sent", w.Name, data)
	}
	return nil
}

func sum[N int64 | float64](s metricdata.Sum[N], value func(*wire.NumberDataPoint, N)) *wire.Metric_Sum {
	out := &wire.Sum{AggregationTemporality: temporality(s.Temporality), IsMonotonic: s.IsMonotonic}
	for _, p := range s.DataPoints {
		point := &wire.NumberDataPoint{Attributes: attributes(p.Attributes), StartTimeUnixNano: nanoseconds(p.StartTime), TimeUnixNano: nanoseconds(p.Time)}
		value(point, p.Value)
		out.DataPoints = append(out.DataPoints, point)
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

func exponential[N int64 | float64](h metricdata.ExponentialHistogram[N]) *wire.Metric_ExponentialHistogram {
	out := &wire.ExponentialHistogram{AggregationTemporality: temporality(h.Temporality)}
	for _, p := range h.DataPoints {
		out.DataPoints = append(out.DataPoints, &wire.ExponentialHistogramDataPoint{
			Attributes: attributes(p.Attributes), StartTimeUnixNano: nanoseconds(p.StartTime), TimeUnixNano: nanoseconds(p.Time),
			Count: p.Count, Sum: new(float64(p.Sum)), Min: extreme(p.Min), Max: extreme(p.Max),
			Scale: p.Scale, ZeroCount: p.ZeroCount, ZeroThreshold: p.ZeroThreshold,
			Positive: buckets(p.PositiveBucket), Negative: buckets(p.NegativeBucket),
		})
	}
	return &wire.Metric_ExponentialHistogram{ExponentialHistogram: out}
}

func buckets(b metricdata.ExponentialBucket) *wire.ExponentialHistogramDataPoint_Buckets {
	return &wire.ExponentialHistogramDataPoint_Buckets{Offset: b.Offset, BucketCounts: b.Counts}
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

// attributes are sent as what they are, lists, of which nobody here has any, as
// their text.
func attributes(set attribute.Set) []*common.KeyValue {
	var list []*common.KeyValue
	for _, a := range set.ToSlice() {
		value := &common.AnyValue{}
		switch a.Value.Type() {
		case attribute.BOOL:
			value.Value = &common.AnyValue_BoolValue{BoolValue: a.Value.AsBool()}
		case attribute.INT64:
			value.Value = &common.AnyValue_IntValue{IntValue: a.Value.AsInt64()}
		case attribute.FLOAT64:
			value.Value = &common.AnyValue_DoubleValue{DoubleValue: a.Value.AsFloat64()}
		default:
			value.Value = &common.AnyValue_StringValue{StringValue: a.Value.String()}
		}
		list = append(list, &common.KeyValue{Key: string(a.Key), Value: value})
	}
	return list
}
