package telemetry

import (
	"context"
	"fmt"
	"strings"

	"github.com/seed61713e19/capstan/runner/telemetry/otlp"
)

// FromEnvironment makes a Telemetry where the standard variables ask for one,
// else it gives nil. They do where OTEL_TRACES_EXPORTER is otlp, or is not set
// and an endpoint is (OTEL_EXPORTER_OTLP_ENDPOINT or
// OTEL_EXPORTER_OTLP_TRACES_ENDPOINT); OTEL_SDK_DISABLED=true has the last
// word. OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT asks for content:
// true, SPAN_ONLY or SPAN_AND_EVENT. How to send is in
// [otlp.FromEnvironment].
//
// Of the options, an Exporter stands in for the one of the environment, and
// Content asks for content whatever the environment says. An error is no
// reason not to run: the Telemetry is nil then, which may be used.
func FromEnvironment(ctx context.Context, getenv func(string) string, o Options) (*Telemetry, error) {
	wanted, err := asked(getenv)
	if err != nil || !wanted {
		return nil, err
	}
	if o.Exporter == nil {
		options, err := otlp.FromEnvironment(getenv)
		if err != nil {
			return nil, fmt.Errorf("telemetry: %w", err)
		}
		o.Exporter = otlp.New(options)
	}
	switch strings.ToUpper(strings.TrimSpace(getenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"))) {
	case "TRUE", "SPAN_ONLY", "SPAN_AND_EVENT":
		o.Content = true
	}
	return New(ctx, o)
}

// asked says whether the environment wants spans sent.
func asked(getenv func(string) string) (bool, error) {
	if strings.EqualFold(strings.TrimSpace(getenv("OTEL_SDK_DISABLED")), "true") {
		return false, nil
	}
	exporters := strings.TrimSpace(getenv("OTEL_TRACES_EXPORTER"))
	if exporters == "" {
		return getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != "", nil
	}
	wanted := false
	for name := range strings.SplitSeq(exporters, ",") {
		switch strings.TrimSpace(name) {
		case "otlp":
			wanted = true
		case "none", "":
		default:
			return false, fmt.Errorf("telemetry: OTEL_TRACES_EXPORTER: %s is not supported, only otlp and none", strings.TrimSpace(name))
		}
	}
	return wanted, nil
}
