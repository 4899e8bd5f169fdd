package telemetry

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	api "go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"

	"github.com/seed61713e19/capstan/runner/event"
)

// The names of the metrics. Names, units and bounds of gen_ai are those of the GenAI semantic
// conventions.
const (
	tokenUsage        = "gen_ai.client.token.usage"
	operationDuration = "gen_ai.client.operation.duration"
	verdictCount      = "capstan.verdicts"
)

// meters count over all runs. Nil meters count nothing.
type meters struct {
	provider *metric.MeterProvider
	tokens   api.Int64Histogram
	duration api.Float64Histogram
	verdicts api.Int64Counter
}

// newMeters returns meters with an exporter.
func newMeters(r *resource.Resource, exporter metric.Exporter, version string) (*meters, error) {
	m := &meters{provider: metric.NewMeterProvider(metric.WithResource(r), metric.WithReader(metric.NewPeriodicReader(exporter)))}
	meter := m.provider.Meter(scopeName, api.WithInstrumentationVersion(version))
	var err error
	if m.tokens, err = meter.Int64Histogram(tokenUsage, api.WithUnit("{token}"), api.WithDescription("Number of input and output tokens used."),
		api.WithExplicitBucketBoundaries(1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864)); err != nil {
		return nil, err
	}
	if m.duration, err = meter.Float64Histogram(operationDuration, api.WithUnit("s"), api.WithDescription("GenAI operation duration."),
		api.WithExplicitBucketBoundaries(0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)); err != nil {
		return nil, err
	}
	m.verdicts, err = meter.Int64Counter(verdictCount, api.WithUnit("{verdict}"), api.WithDescription("Number of verdicts."))
	return m, err
}

// answered counts the reply of a model. began may be zero. Unreported tokens are not counted.
func (m *meters) answered(e event.Event, began time.Time, attributes []attribute.KeyValue) {
	if m == nil {
		return
	}
	attributes = append(attributes[:len(attributes):len(attributes)], operationName.String("chat"))
	u := e.Response.Usage
	for kind, n := range map[string]int{"input": u.InputTokens, "output": u.OutputTokens} {
		if n > 0 {
			own := append(attributes[:len(attributes):len(attributes)], tokenType.String(kind))
			if u.Estimated {
				own = append(own, estimated.Bool(true))
			}
			m.tokens.Record(context.Background(), int64(n), api.WithAttributes(own...))
		}
	}
	if f := e.Response.Failure; f != nil {
		attributes = append(attributes, errorType.String(string(f.Class)))
	}
	if !began.IsZero() && !e.Time.Before(began) {
		m.duration.Record(context.Background(), e.Time.Sub(began).Seconds(), api.WithAttributes(attributes...))
	}
}

func (m *meters) judged(v *event.Verdict) {
	if m == nil {
		return
	}
	outcome := errorType.String("validator_error")
	if v.Error == nil {
		outcome = scoreLabel.String(label(v))
	}
	m.verdicts.Add(context.Background(), 1, api.WithAttributes(evaluated.String(v.Validator), moment.String(v.Moment), mode.String(v.Mode), outcome))
}

// label returns the word for a verdict without an error.
func label(v *event.Verdict) string {
	switch {
	case v.Skipped():
		return event.Skipped
	case *v.Valid:
		return "pass"
	}
	return "fail"
}
