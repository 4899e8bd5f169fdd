package telemetry_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	measured "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// A receiver is an OTLP receiver in this process. It decodes requests with the types of the
// protocol.
type receiver struct {
	*httptest.Server
	t testing.TB

	mu       sync.Mutex
	requests []*http.Request
	batches  []*collector.ExportTraceServiceRequest
	metrics  []*measured.ExportMetricsServiceRequest
	raw      bytes.Buffer
	answer   func(n int, w http.ResponseWriter) // may be nil; n counts requests from 1
}

func newReceiver(t testing.TB) *receiver {
	r := &receiver{t: t}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body := io.Reader(req.Body)
	if req.Header.Get("Content-Encoding") == "gzip" {
		body, _ = gzip.NewReader(body)
	}
	text, err := io.ReadAll(body)
	if err != nil {
		r.t.Error(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.raw.Write(text)
	if strings.HasSuffix(req.URL.Path, "/v1/metrics") {
		m := &measured.ExportMetricsServiceRequest{}
		if err := proto.Unmarshal(text, m); err != nil {
			r.t.Errorf("what was measured cannot be read: %v", err)
		}
		r.metrics = append(r.metrics, m)
		return
	}
	r.requests = append(r.requests, req)
	batch := &collector.ExportTraceServiceRequest{}
	if err := proto.Unmarshal(text, batch); err != nil {
		r.t.Errorf("what was sent cannot be read: %v", err)
	}
	r.batches = append(r.batches, batch)
	if r.answer != nil {
		r.answer(len(r.requests), w)
	}
}

// spans returns all received spans in the order of their start.
func (r *receiver) spans() []*tracepb.Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []*tracepb.Span
	for _, b := range r.batches {
		for _, rs := range b.ResourceSpans {
			for _, ss := range rs.ScopeSpans {
				all = append(all, ss.Spans...)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *tracepb.Span) int {
		if a.StartTimeUnixNano != b.StartTimeUnixNano {
			return int(int64(a.StartTimeUnixNano) - int64(b.StartTimeUnixNano))
		}
		return strings.Compare(text(a, "capstan.path"), text(b, "capstan.path"))
	})
	return all
}

func (r *receiver) span(name string) *tracepb.Span {
	r.t.Helper()
	for _, s := range r.spans() {
		if s.Name == name {
			return s
		}
	}
	r.t.Fatalf("no span is called %q; there are\n%s", name, r.tree())
	return nil
}

// tree formats the spans as lines.
func (r *receiver) tree() string {
	all := r.spans()
	byID := map[string]bool{}
	for _, s := range all {
		byID[string(s.SpanId)] = true
	}
	var b strings.Builder
	var show func(parent string, depth int)
	show = func(parent string, depth int) {
		for _, s := range all {
			if string(s.ParentSpanId) != parent {
				continue
			}
			fmt.Fprintf(&b, "%s%s%s\n", strings.Repeat("  ", depth), s.Name, shown(s))
			show(string(s.SpanId), depth+1)
		}
	}
	show("", 0)
	for _, s := range all {
		if p := string(s.ParentSpanId); p != "" && !byID[p] {
			fmt.Fprintf(&b, "orphan %s\n", s.Name)
		}
	}
	return b.String()
}

func shown(s *tracepb.Span) string {
	var b strings.Builder
	if s.Status.GetCode() == tracepb.Status_STATUS_CODE_ERROR {
		fmt.Fprintf(&b, " !%s", text(s, "error.type"))
	}
	for _, e := range s.Events {
		fmt.Fprintf(&b, " (%s", strings.TrimPrefix(e.Name, "gen_ai.evaluation."))
		for _, a := range e.Attributes {
			switch a.Key {
			case "gen_ai.evaluation.score.label", "error.type", "capstan.route.to":
				b.WriteString(" " + a.Value.GetStringValue())
			}
		}
		b.WriteString(")")
	}
	return b.String()
}

func find(list []*common.KeyValue, key string) *common.AnyValue {
	for _, a := range list {
		if a.Key == key {
			return a.Value
		}
	}
	return nil
}

func text(s *tracepb.Span, key string) string { return find(s.Attributes, key).GetStringValue() }

func number(s *tracepb.Span, key string) int64 { return find(s.Attributes, key).GetIntValue() }

// above returns the path of the parent span.
func (r *receiver) above(path string) string {
	r.t.Helper()
	byID := map[string]string{}
	for _, s := range r.spans() {
		byID[string(s.SpanId)] = text(s, "capstan.path")
	}
	for _, s := range r.spans() {
		if text(s, "capstan.path") == path {
			return byID[string(s.ParentSpanId)]
		}
	}
	r.t.Fatalf("there is no span of %s; there are\n%s", path, r.tree())
	return ""
}
