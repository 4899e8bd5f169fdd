package telemetry

import (
	"context"
	"fmt"
	"strings"

	"go.opentelemetry.io/otel/trace"

	"github.com/seed61713e19/capstan/runner/telemetry/otlp"
)

// FromEnvironment makes a Telemetry where the standard variables ask for one,
// else it gives nil. They ask for spans where OTEL_TRACES_EXPORTER is otlp, or is
// not set and an endpoint is (OTEL_EXPORTER_OTLP_ENDPOINT or
// OTEL_EXPORTER_OTLP_TRACES_ENDPOINT), and for metrics by those with METRICS in
// their name; OTEL_SDK_DISABLED=true has the last word.
// OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT asks for content: true,
// SPAN_ONLY or SPAN_AND_EVENT. TRACEPARENT and TRACESTATE name what the runs are
// a part of. The OTEL_EXPORTER_OTLP_ variables say how to send, see [otlp.Read];
// nothing is connected before there is something to send.
//
// Of the options, an Exporter, Metrics and a Parent stand in for those of the
// environment, and Content asks for content whatever the environment says. An
// error is no reason not to run: the Telemetry is nil then, which may be used.
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

// asked is how the environment wants a signal sent; nil where it does not.
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
