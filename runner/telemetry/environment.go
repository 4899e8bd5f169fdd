package telemetry

import (
	"context"
	"fmt"
	"strings"

	"go.opentelemetry.io/otel/trace"

	"github.com/seed61713e19/capstan/runner/telemetry/internal/otlp"
)

// FromEnvironment returns a Telemetry if the standard variables ask for one, otherwise nil.
// They ask for spans if OTEL_TRACES_EXPORTER is otlp, or if it is not set and an endpoint is.
// The variables of metrics are the same with METRICS in their names. OTEL_SDK_DISABLED=true
// overrides them.
//
// OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT asks for content: true, SPAN_ONLY or
// SPAN_AND_EVENT. TRACEPARENT and TRACESTATE name the parent of the runs. [otlp.Read] reads the
// OTEL_EXPORTER_OTLP_ variables.
//
// The options Exporter, Metrics, Parent and Content override the environment. After an error
// the Telemetry is nil, which may be used.
func FromEnvironment(ctx context.Context, getenv func(string) string, o Options) (*Telemetry, error) {
	spans, err := asked(getenv, "TRACES")
	if err != nil {
		return nil, err
	}
	metrics, err := asked(getenv, "METRICS")
	if err != nil || spans == nil && metrics == nil {
		return nil, err
	}
	if spans != nil && o.Exporter == nil {
		if o.Exporter, err = otlp.Spans(ctx, *spans); err != nil {
			return nil, fmt.Errorf("telemetry: %w", err)
		}
	}
	if metrics != nil && o.Metrics == nil {
		o.Metrics = otlp.Metrics(*metrics)
	}
	switch strings.ToUpper(strings.TrimSpace(getenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"))) {
	case "TRUE", "SPAN_ONLY", "SPAN_AND_EVENT":
		o.Content = true
	}
	if !o.Parent.IsValid() {
		o.Parent = trace.SpanContextFromContext(Incoming(context.Background(), getenv))
	}
	return New(ctx, o)
}

// asked returns the settings of a signal, nil if the environment does not ask for it.
func asked(getenv func(string) string, signal string) (*otlp.Settings, error) {
	const prefix = "OTEL_EXPORTER_OTLP_"
	if strings.EqualFold(strings.TrimSpace(getenv("OTEL_SDK_DISABLED")), "true") {
		return nil, nil
	}
	variable := "OTEL_" + signal + "_EXPORTER"
	exporters := strings.TrimSpace(getenv(variable))
	wanted := exporters == "" && (getenv(prefix+"ENDPOINT") != "" || getenv(prefix+signal+"_ENDPOINT") != "")
	for name := range strings.SplitSeq(exporters, ",") {
		switch strings.TrimSpace(name) {
		case "otlp":
			wanted = true
		case "none", "":
		default:
			return nil, fmt.Errorf("telemetry: %s: %s is not supported, only otlp and none", variable, strings.TrimSpace(name))
		}
	}
	if !wanted {
		return nil, nil
	}
	settings, err := otlp.Read(getenv, signal)
	if err != nil {
		return nil, fmt.Errorf("telemetry: %w", err)
	}
	return &settings, nil
}
