package telemetry_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"go.opentelemetry.io/otel/trace"

	"github.com/seed61713e19/capstan/internal/tracecontext"
	"github.com/seed61713e19/capstan/runner/telemetry"
)

const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

func traceparent(ctx context.Context) string {
	header := http.Header{}
	tracecontext.Inject(ctx, header.Set)
	return header.Get("traceparent")
}

// TestTraceGoesOn checks that a model receives the span of its call, and that a run is a child
// of TRACEPARENT.
func TestTraceGoesOn(t *testing.T) {
	rec := newReceiver(t)
	m := &answering{tell: secretResponse}
	tel := fromEnvironment(t, rec, "TRACEPARENT", parent, "TRACESTATE", "vendor=1")
	if _, err := runWith(t, tel, "r", m, plainCascade); err != nil {
		t.Fatal(err)
	}
	stop(t, tel)
	run, chat := rec.span("invoke_workflow one"), rec.span("chat gpt-5")
	if fmt.Sprintf("%x %x %s", run.TraceId, run.ParentSpanId, run.TraceState) != "0af7651916cd43dd8448eb211c80319c b7ad6b7169203331 vendor=1" {
		t.Errorf("the run is %x in %x, %s", run.ParentSpanId, run.TraceId, run.TraceState)
	}
	if want := fmt.Sprintf("00-%x-%x-01", chat.TraceId, chat.SpanId); len(m.contexts) != 1 || m.contexts[0] != want {
		t.Errorf("called within %v, want %s", m.contexts, want)
	}
}

// TestParents checks that an invalid TRACEPARENT is ignored, and that an unsampled caller keeps
// the run unsampled.
func TestParents(t *testing.T) {
	for value, valid := range map[string]bool{
		parent: true, " " + parent + "\n": true, "": false, "00-0-0-01": false, "ff" + parent[2:]: false,
		"00-00000000000000000000000000000000-b7ad6b7169203331-01": false, parent + "-more": false, "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01": false,
	} {
		ctx := telemetry.Incoming(t.Context(), environment("TRACEPARENT", value))
		if got := trace.SpanContextFromContext(ctx).IsValid(); got != valid {
			t.Errorf("%q: %v", value, got)
		}
		var none *telemetry.Telemetry
		if got := traceparent(none.Context(ctx, "r", "a")); valid && got != parent {
			t.Errorf("%q is handed on as %q", value, got)
		}
	}
	rec := newReceiver(t)
	tel := fromEnvironment(t, rec, "TRACEPARENT", parent[:len(parent)-1]+"0", "OTEL_METRICS_EXPORTER", "none")
	m := &answering{tell: secretResponse}
	if _, err := runWith(t, tel, "r", m, plainCascade); err != nil {
		t.Fatal(err)
	}
	stop(t, tel)
	if len(rec.requests) > 0 || m.contexts[0][len(m.contexts[0])-3:] != "-00" {
		t.Errorf("%d requests, called within %v", len(rec.requests), m.contexts)
	}
}
