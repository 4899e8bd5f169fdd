package telemetry_test

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/telemetry"
)

func environment(pairs ...string) func(string) string {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return func(name string) string { return m[name] }
}

// TestAsked checks which variables ask for spans.
func TestAsked(t *testing.T) {
	const endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT"
	for _, c := range []struct {
		set  []string
		want bool
		err  string
	}{
		{nil, false, ""},
		{[]string{endpoint, "http://x"}, true, ""},
		{[]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://x/t"}, true, ""},
		{[]string{"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://x/t"}, true, ""},
		{[]string{"OTEL_TRACES_EXPORTER", "otlp"}, true, ""},
		{[]string{"OTEL_TRACES_EXPORTER", "none", endpoint, "http://x"}, true, ""},
		{[]string{"OTEL_TRACES_EXPORTER", "none", "OTEL_METRICS_EXPORTER", "none", endpoint, "http://x"}, false, ""},
		{[]string{"OTEL_METRICS_EXPORTER", "prometheus"}, false, "prometheus"},
		{[]string{endpoint, "http://x", "OTEL_EXPORTER_OTLP_HEADERS", "s3cret"}, false, "OTEL_EXPORTER_OTLP_HEADERS: want"},
		{[]string{endpoint, "http://x", "OTEL_EXPORTER_OTLP_METRICS_TIMEOUT", "soon"}, false, "OTEL_EXPORTER_OTLP_METRICS_TIMEOUT: want"},
		{[]string{endpoint, "http://x", "OTEL_EXPORTER_OTLP_HEADERS", "=s3cret"}, false, "OTEL_EXPORTER_OTLP_HEADERS: want"},
		{[]string{endpoint, "http://x", "OTEL_EXPORTER_OTLP_COMPRESSION", "zstd"}, false, "OTEL_EXPORTER_OTLP_COMPRESSION: only"},
		{[]string{endpoint, "http://x", "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE", "s3cret"}, false, "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE: want"},
		{[]string{"OTEL_TRACES_EXPORTER", "otlp, none"}, true, ""},
		{[]string{"OTEL_TRACES_EXPORTER", "zipkin"}, false, "zipkin"},
		{[]string{"OTEL_SDK_DISABLED", "TRUE", "OTEL_TRACES_EXPORTER", "otlp", endpoint, "http://x"}, false, ""},
		{[]string{"OTEL_SDK_DISABLED", "false", endpoint, "http://x"}, true, ""},
		{[]string{endpoint, "http://x", "OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"}, false, "OTEL_EXPORTER_OTLP_PROTOCOL: only http/protobuf is supported"},
		{[]string{"OTEL_SDK_DISABLED", "true", "OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"}, false, ""},
		{[]string{endpoint, "collector:4318"}, false, "OTEL_EXPORTER_OTLP_ENDPOINT"},
	} {
		tel, err := telemetry.FromEnvironment(t.Context(), environment(c.set...), telemetry.Options{})
		if (tel != nil) != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%v: %v, %v", c.set, tel != nil, err)
		}
		tel.Emit(event.Event{})
	}
}

// TestVariables checks the variables of the exporter, the SDK and the conventions.
func TestVariables(t *testing.T) {
	t.Setenv("OTEL_SERVICE_NAME", "nightly")
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test,service.name=other")
	rec := newReceiver(t)
	for name, value := range map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": rec.URL + "/base/", "OTEL_EXPORTER_OTLP_HEADERS": "x-key=a%20b, x-other=c=d",
		"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/protobuf", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip",
		"OTEL_METRICS_EXPORTER": "none", "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "span_only",
	} {
		t.Setenv(name, value)
	}
	tel, err := telemetry.FromEnvironment(t.Context(), os.Getenv, telemetry.Options{Version: "1.2.3"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run(t, tel, "r", draftScript, drafts); err != nil {
		t.Fatal(err)
	}
	stop(t, tel)
	req := rec.requests[0]
	if req.URL.Path != "/base/v1/traces" || req.Method != http.MethodPost || req.Header.Get("X-Key") != "a b" || req.Header.Get("X-Other") != "c=d" ||
		req.Header.Get("Content-Type") != "application/x-protobuf" || req.Header.Get("Content-Encoding") != "gzip" {
		t.Errorf("%s %s %v", req.Method, req.URL, req.Header)
	}
	if len(rec.spans()) != 24 || !strings.Contains(rec.raw.String(), "secret place") {
		t.Errorf("%d spans", len(rec.spans()))
	}
	attributes := rec.batches[0].ResourceSpans[0].Resource.Attributes
	for key, want := range map[string]string{"service.name": "nightly", "deployment.environment.name": "test", "service.version": "1.2.3", "telemetry.sdk.language": "go"} {
		if got := find(attributes, key).GetStringValue(); got != want {
			t.Errorf("%s is %q", key, got)
		}
	}
	if scope := rec.batches[0].ResourceSpans[0].ScopeSpans[0].Scope; scope.Version != "1.2.3" || !strings.HasSuffix(scope.Name, "runner/telemetry") {
		t.Errorf("scope %v", scope)
	}
}

// TestWrongQueues checks that invalid variables of the queue break no run.
func TestWrongQueues(t *testing.T) {
	for _, c := range [][2]string{
		{"MAX_QUEUE_SIZE", "-5"}, {"MAX_QUEUE_SIZE", "0"}, {"MAX_QUEUE_SIZE", "many"}, {"MAX_QUEUE_SIZE", "99999999999"},
		{"MAX_EXPORT_BATCH_SIZE", "-1"}, {"MAX_EXPORT_BATCH_SIZE", "0"}, {"MAX_EXPORT_BATCH_SIZE", "99999999999"},
		{"SCHEDULE_DELAY", "-1"}, {"SCHEDULE_DELAY", "0"}, {"EXPORT_TIMEOUT", "-1"},
	} {
		t.Run(c[0]+"="+c[1], func(t *testing.T) {
			t.Setenv("OTEL_BSP_"+c[0], c[1])
			rec := newReceiver(t)
			tel := started(t, rec, telemetry.Options{})
			if _, err := run(t, tel, "r", draftScript, drafts); err != nil {
				t.Fatal(err)
			}
			stop(t, tel)
			if n := len(rec.spans()); n != 24 {
				t.Errorf("%d spans", n)
			}
		})
	}
}

// TestSampler checks that unsampled spans are neither sent nor counted as lost.
func TestSampler(t *testing.T) {
	t.Setenv("OTEL_TRACES_SAMPLER", "always_off")
	rec := newReceiver(t)
	tel := started(t, rec, telemetry.Options{Content: true})
	if _, err := run(t, tel, "r", draftScript, drafts); err != nil {
		t.Fatal(err)
	}
	stop(t, tel)
	if len(rec.requests) != 0 || tel.Lost() != 0 {
		t.Errorf("%d requests, %d lost", len(rec.requests), tel.Lost())
	}
}
