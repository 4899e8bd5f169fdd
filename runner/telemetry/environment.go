package telemetry

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/trace"
)

// FromEnvironment makes a Telemetry where the standard variables ask for one,
// else it gives nil. They ask for spans where OTEL_TRACES_EXPORTER is otlp, or is
// not set and an endpoint is (OTEL_EXPORTER_OTLP_ENDPOINT or
// OTEL_EXPORTER_OTLP_TRACES_ENDPOINT), and for metrics by those with METRICS in
// their name; OTEL_SDK_DISABLED=true has the last word.
// OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT asks for content: true,
// SPAN_ONLY or SPAN_AND_EVENT. TRACEPARENT and TRACESTATE name what the runs are
// a part of. How to send, OpenTelemetry's exporters read in the process's own
// OTEL_EXPORTER_OTLP_ variables, when there is something to send.
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
	if err != nil || !spans && !metrics {
		return nil, err
	}
	if spans && o.Exporter == nil {
		if o.Exporter, err = spanExporter(ctx); err != nil {
			return nil, fmt.Errorf("telemetry: %w", err)
		}
	}
	if metrics && o.Metrics == nil {
		if o.Metrics, err = metricExporter(ctx); err != nil {
			return nil, fmt.Errorf("telemetry: %w", err)
		}
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

const prefix = "OTEL_EXPORTER_OTLP_"

// asked says whether the environment wants a signal sent, and whether it says
// how so that it can be.
func asked(getenv func(string) string, signal string) (bool, error) {
	if strings.EqualFold(strings.TrimSpace(getenv("OTEL_SDK_DISABLED")), "true") {
		return false, nil
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
			return false, fmt.Errorf("telemetry: %s: %s is not supported, only otlp and none", variable, strings.TrimSpace(name))
		}
	}
	if !wanted {
		return false, nil
	}
	return true, checked(getenv, signal)
}

// settings are the variables that the exporters would pass over, with a line on
// the standard error stream, where they are wrong. What a wrong one says is not
// repeated: it may be a key.
var settings = []struct {
	name, want string
	ok         func(string) bool
}{
	{"ENDPOINT", "want a URL such as http://localhost:4318", isURL},
	{"PROTOCOL", "only http/protobuf and http/json are supported", oneOf("http/protobuf", "http/json")},
	{"COMPRESSION", "only gzip and none are supported", oneOf("gzip", "none")},
	{"TIMEOUT", "want milliseconds", func(s string) bool { _, err := strconv.ParseUint(s, 10, 31); return err == nil }},
	{"HEADERS", "want name=value,name=value", areHeaders},
}

func checked(getenv func(string) string, signal string) error {
	for _, s := range settings {
		variable := prefix + signal + "_" + s.name
		value := strings.TrimSpace(getenv(variable))
		if value == "" {
			variable = prefix + s.name
			value = strings.TrimSpace(getenv(variable))
		}
		if value != "" && !s.ok(value) {
			return fmt.Errorf("telemetry: %s: %s", variable, s.want)
		}
	}
	return nil
}

func oneOf(words ...string) func(string) bool {
	return func(s string) bool {
		for _, w := range words {
			if s == w {
				return true
			}
		}
		return false
	}
}

func isURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}

func areHeaders(s string) bool {
	for pair := range strings.SplitSeq(s, ",") {
		name, value, found := strings.Cut(pair, "=")
		value, err := url.PathUnescape(value)
		if strings.TrimSpace(pair) != "" && (!found || err != nil || strings.TrimSpace(name) == "" || strings.ContainsAny(name+value, "\r\n\x00")) {
			return false
		}
	}
	return true
}
