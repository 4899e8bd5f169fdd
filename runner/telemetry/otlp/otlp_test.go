package otlp

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	collector "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
)

// everything is spans with every field and every kind of value, of two
// resources and two scopes.
func everything(t testing.TB) []sdk.ReadOnlySpan {
	t.Helper()
	state, err := trace.ParseTraceState("a=b")
	if err != nil {
		t.Fatal(err)
	}
	context := func(n byte, remote bool) trace.SpanContext {
		return trace.NewSpanContext(trace.SpanContextConfig{
			TraceID: trace.TraceID{n, 1, 2}, SpanID: trace.SpanID{n, 3}, TraceFlags: trace.FlagsSampled, TraceState: state, Remote: remote,
		})
	}
	at := time.Unix(1_700_000_000, 123)
	values := []attribute.KeyValue{
		attribute.String("text", "héllo <b> \"q\""), attribute.String("none", ""), attribute.String("broken", "a\xffb"),
		attribute.Bool("yes", true), attribute.Bool("no", false), attribute.Int64("big", math.MaxInt64), attribute.Int64("minus", -3), attribute.Int("zero", 0),
		attribute.Float64("float", 0.1), attribute.Float64("inf", math.Inf(-1)), attribute.Float64("whole", 3),
		attribute.BoolSlice("bools", []bool{true, false}), attribute.Int64Slice("ints", []int64{1, 0}),
		attribute.Float64Slice("floats", []float64{1.5, 0}), attribute.StringSlice("texts", []string{"a", ""}), attribute.StringSlice("empty", nil),
		{Key: "bytes", Value: attribute.ByteSliceValue([]byte{0, 255})}, {Key: "nothing"},
	}
	full := tracetest.SpanStub{
		Name: "full", SpanContext: context(1, false), Parent: context(2, true), SpanKind: trace.SpanKindClient, StartTime: at, EndTime: at.Add(time.Second),
		Attributes: values, DroppedAttributes: 1, DroppedEvents: 2, DroppedLinks: 3,
		Events:               []sdk.Event{{Name: "event", Time: at, Attributes: values[:2], DroppedAttributeCount: 4}},
		Links:                []sdk.Link{{SpanContext: context(3, true), Attributes: values[:1], DroppedAttributeCount: 5}, {SpanContext: context(4, false)}},
		Status:               sdk.Status{Code: codes.Error, Description: "broke"},
		Resource:             resource.NewWithAttributes("https://schema", attribute.String("service.name", "a")),
		InstrumentationScope: instrumentation.Scope{Name: "scope", Version: "1", SchemaURL: "https://other"},
	}
	bare := tracetest.SpanStub{
		Name: "bare", SpanContext: context(5, false), StartTime: at, EndTime: at, Status: sdk.Status{Code: codes.Ok},
		Resource: full.Resource, InstrumentationScope: instrumentation.Scope{Name: "second"},
	}
	elsewhere := tracetest.SpanStub{Name: "elsewhere", SpanContext: context(6, false), Resource: resource.NewSchemaless(attribute.String("service.name", "b"))}
	again := bare
	again.Name = "again"
	return tracetest.SpanStubs{full, bare, elsewhere, again}.Snapshots()
}

// The two encodings say the same to those who read them with the types that
// are generated from the protocol's files, and nothing is left over.
func TestEncodings(t *testing.T) {
	m := messageOf(everything(t))
	var binary, text collector.ExportTraceServiceRequest
	if err := proto.Unmarshal(m.append(nil), &binary); err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := protojson.Unmarshal(base64IDs(t, encoded), &text); err != nil {
		t.Fatal(err)
	}
	if !proto.Equal(&binary, &text) {
		t.Errorf("protobuf\n%s\nJSON\n%s", prototext.Format(&binary), prototext.Format(&text))
	}
	if len(binary.ResourceSpans) != 2 || len(binary.ResourceSpans[0].ScopeSpans) != 2 || len(binary.ResourceSpans[0].ScopeSpans[1].Spans) != 2 {
		t.Fatalf("groups: %s", prototext.Format(&binary))
	}
	first := binary.ResourceSpans[0]
	if first.SchemaUrl != "https://schema" || first.Resource.Attributes[0].Value.GetStringValue() != "a" || first.ScopeSpans[0].SchemaUrl != "https://other" || first.ScopeSpans[0].Scope.Version != "1" {
		t.Errorf("%s", prototext.Format(first))
	}
	checkSpan(t, first.ScopeSpans[0].Spans[0])
}

func checkSpan(t *testing.T, s *tracepb.Span) {
	t.Helper()
	if s.Name != "full" || s.Kind != tracepb.Span_SPAN_KIND_CLIENT || s.Flags != 0x301 || s.TraceState != "a=b" || s.SpanId[0] != 1 || s.ParentSpanId[0] != 2 ||
		s.StartTimeUnixNano != 1_700_000_000_000_000_123 || s.EndTimeUnixNano-s.StartTimeUnixNano != 1e9 ||
		s.DroppedAttributesCount != 1 || s.DroppedEventsCount != 2 || s.DroppedLinksCount != 3 ||
		s.Status.Code != tracepb.Status_STATUS_CODE_ERROR || s.Status.Message != "broke" {
		t.Errorf("%s", prototext.Format(s))
	}
	if e := s.Events[0]; e.Name != "event" || e.DroppedAttributesCount != 4 || len(e.Attributes) != 2 || e.TimeUnixNano != s.StartTimeUnixNano {
		t.Errorf("%s", prototext.Format(e))
	}
	if l := s.Links; len(l) != 2 || l[0].SpanId[0] != 3 || l[0].Flags != 0x301 || l[1].Flags != 0x101 || l[0].DroppedAttributesCount != 5 {
		t.Errorf("%v", l)
	}
	got := map[string]string{}
	for _, a := range s.Attributes {
		got[a.Key] = strings.ReplaceAll(fmt.Sprint(a.Value), " ", "")
	}
	for key, want := range map[string]string{
		"none": `string_value:""`, "broken": `string_value:"a�b"`, "no": "bool_value:false", "zero": "int_value:0", "big": "int_value:9223372036854775807",
		"minus": "int_value:-3", "inf": "double_value:-inf", "texts": `array_value:{values:{string_value:"a"}values:{string_value:""}}`,
		"empty": "array_value:{}", "bytes": `bytes_value:"\x00\xff"`, "nothing": "",
	} {
		if got[key] != want {
			t.Errorf("%s: %s, want %s", key, got[key], want)
		}
	}
}

func base64IDs(t testing.TB, text []byte) []byte {
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for k, e := range v {
				if id, is := e.(string); is && strings.HasSuffix(k, "Id") {
					raw, err := hex.DecodeString(id)
					if err != nil {
						t.Errorf("%s is %s", k, id)
					}
					v[k] = base64.StdEncoding.EncodeToString(raw)
				}
				walk(e)
			}
		}
	}
	walk(v)
	out, _ := json.Marshal(v)
	return out
}

func server(t testing.TB, answer func(n int, w http.ResponseWriter, r *http.Request)) (url string, count *atomic.Int64) {
	count = &atomic.Int64{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer(int(count.Add(1)), w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, count
}

// What may pass is sent again, what will not is not.
func TestRetries(t *testing.T) {
	for _, c := range []struct {
		status, times int // the status of the first answers
		want          int64
		ok            bool
	}{
		{503, 2, 3, true}, {429, 1, 2, true}, {502, 9, 4, false}, {504, 1, 2, true}, {500, 1, 1, false}, {400, 1, 1, false}, {307, 1, 1, false}, {202, 1, 1, true},
	} {
		url, count := server(t, func(n int, w http.ResponseWriter, _ *http.Request) {
			if n <= c.times {
				w.Header().Set("Retry-After", "0")
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(c.status)
			}
		})
		err := New(Options{URL: url}).ExportSpans(t.Context(), everything(t))
		if (err == nil) != c.ok || count.Load() != c.want {
			t.Errorf("%d: sent %d times, %v", c.status, count.Load(), err)
		}
	}
}

// A wait that the caller has no time for is not begun.
func TestRetryWithinDeadline(t *testing.T) {
	url, count := server(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(503)
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	started := time.Now()
	if err := New(Options{URL: url}).ExportSpans(ctx, everything(t)); err == nil || count.Load() != 1 || time.Since(started) > 30*time.Second {
		t.Errorf("%d requests: %v", count.Load(), err)
	}
}

// One request has so much time.
func TestTimeout(t *testing.T) {
	release := make(chan struct{})
	url, _ := server(t, func(int, http.ResponseWriter, *http.Request) { <-release })
	defer close(release)
	if err := New(Options{URL: url, Timeout: 10 * time.Millisecond}).ExportSpans(t.Context(), everything(t)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

// A batch that is too large goes in parts, and a part that is lost is counted.
func TestParts(t *testing.T) {
	names := map[string]int{}
	url, count := server(t, func(n int, w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var m collector.ExportTraceServiceRequest
		if err := proto.Unmarshal(body, &m); err != nil {
			t.Error(err)
		}
		for _, rs := range m.ResourceSpans {
			for _, ss := range rs.ScopeSpans {
				for _, s := range ss.Spans {
					names[s.Name]++
				}
			}
		}
		if n == 2 {
			w.WriteHeader(400)
		}
	})
	err := New(Options{URL: url, MaxBytes: 10}).ExportSpans(t.Context(), everything(t))
	var some *Refused
	if count.Load() != 4 || !errors.As(err, &some) || some.Spans != 1 {
		t.Errorf("%d requests, %v", count.Load(), err)
	}
	if !reflect.DeepEqual(names, map[string]int{"full": 1, "bare": 1, "elsewhere": 1, "again": 1}) {
		t.Errorf("%v", names)
	}
	if err := New(Options{URL: url, MaxBytes: 10}).ExportSpans(t.Context(), everything(t)); err != nil {
		t.Errorf("all parts went: %v", err)
	}
}

// A receiver that took a part says so in either encoding.
func TestPartial(t *testing.T) {
	binary, err := proto.Marshal(&collector.ExportTraceServiceResponse{PartialSuccess: &collector.ExportTracePartialSuccess{RejectedSpans: 7, ErrorMessage: "old"}})
	if err != nil {
		t.Fatal(err)
	}
	for answer, kind := range map[string]string{
		string(binary): "application/x-protobuf",
		`{"partialSuccess": {"rejectedSpans": "7", "errorMessage": "old"}}`: "application/json; charset=utf-8",
		`{"partialSuccess": {"rejectedSpans": 7, "errorMessage": "old"} }`:  "application/json",
	} {
		var some *Refused
		if err := partial([]byte(answer), kind); !errors.As(err, &some) || some.Spans != 7 || !strings.Contains(err.Error(), "old") {
			t.Errorf("%q: %v", answer, err)
		}
	}
	for _, answer := range []string{"", "{}", "\x0a", "null", "<html>", "\x0a\x02\x12\x00"} {
		for _, kind := range []string{"", "application/json", "application/x-protobuf"} {
			if err := partial([]byte(answer), kind); err != nil {
				t.Errorf("%q as %s: %v", answer, kind, err)
			}
		}
	}
}

// A receiver may answer anything.
func FuzzPartial(f *testing.F) {
	f.Add([]byte("\x0a\x06\x08\x07\x12\x02no"), "application/x-protobuf")
	f.Add([]byte(`{"partialSuccess": {"rejectedSpans": "-7"}}`), "application/json")
	f.Add([]byte("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), "")
	f.Fuzz(func(t *testing.T, answer []byte, kind string) {
		err := partial(answer, kind)
		var some *Refused
		if err != nil && (!errors.As(err, &some) || some.Spans <= 0) {
			t.Errorf("%v", err)
		}
		var known collector.ExportTraceServiceResponse
		if kind == "application/x-protobuf" && proto.Unmarshal(answer, &known) == nil {
			if n := known.GetPartialSuccess().GetRejectedSpans(); (n > 0) != (err != nil) {
				t.Errorf("%d are rejected: %v", n, err)
			}
		}
	})
}

func TestFromEnvironment(t *testing.T) {
	for _, c := range []struct {
		set  string
		want Options
		err  string
	}{
		{"", Options{URL: "http://localhost:4318/v1/traces"}, ""},
		{"ENDPOINT=https://h:1/p/?q=1", Options{URL: "https://h:1/p/v1/traces?q=1"}, ""},
		{"ENDPOINT=http://h TRACES_ENDPOINT=http://t", Options{URL: "http://t/"}, ""},
		{"TRACES_ENDPOINT=http://t/x", Options{URL: "http://t/x"}, ""},
		{"ENDPOINT=ftp://h", Options{}, "OTEL_EXPORTER_OTLP_ENDPOINT"},
		{"TRACES_ENDPOINT=://", Options{}, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"},
		{"PROTOCOL=http/json", Options{URL: "http://localhost:4318/v1/traces", JSON: true}, ""},
		{"PROTOCOL=http/json TRACES_PROTOCOL=http/protobuf", Options{URL: "http://localhost:4318/v1/traces"}, ""},
		{"TRACES_PROTOCOL=grpc", Options{}, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: grpc is not supported"},
		{"TIMEOUT=1500 COMPRESSION=gzip", Options{URL: "http://localhost:4318/v1/traces", Timeout: 1500 * time.Millisecond, Gzip: true}, ""},
		{"TIMEOUT=soon", Options{}, "OTEL_EXPORTER_OTLP_TIMEOUT: want milliseconds"},
		{"COMPRESSION=zstd", Options{}, "zstd is not supported"},
		{"HEADERS=a=1,b=x%2Cy,", Options{URL: "http://localhost:4318/v1/traces", Headers: map[string]string{"a": "1", "b": "x,y"}}, ""},
		{"HEADERS=secret", Options{}, "OTEL_EXPORTER_OTLP_HEADERS: want name=value"},
		{"HEADERS=a=secret%0d%0ab:c", Options{}, "OTEL_EXPORTER_OTLP_HEADERS: want name=value"},
		{"HEADERS=a:b=secret", Options{}, "OTEL_EXPORTER_OTLP_HEADERS: want name=value"},
		{"HEADERS=a=%zzsecret", Options{}, "OTEL_EXPORTER_OTLP_HEADERS: want name=value"},
		{"CERTIFICATE=/nowhere.pem", Options{}, "OTEL_EXPORTER_OTLP_CERTIFICATE: "},
		{"CERTIFICATE=otlp_test.go", Options{}, "holds no certificate"},
		{"CLIENT_CERTIFICATE=/nowhere.pem", Options{}, "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: "},
	} {
		set := map[string]string{}
		for pair := range strings.FieldsSeq(c.set) {
			name, v, _ := strings.Cut(pair, "=")
			set["OTEL_EXPORTER_OTLP_"+name] = v
		}
		got, err := FromEnvironment(func(name string) string { return set[name] })
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: %v", c.set, err)
			}
			continue
		}
		if c.want.Headers == nil {
			c.want.Headers = map[string]string{}
		}
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, %v", c.set, got, err)
		}
	}
}

// A receiver's own certificate is trusted where the variable names it, and not
// otherwise.
func TestCertificate(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer s.Close()
	file := t.TempDir() + "/ca.pem"
	writePEM(t, file, s.Certificate().Raw)
	set := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": s.URL}
	for _, ca := range []string{"", file} {
		set["OTEL_EXPORTER_OTLP_CERTIFICATE"] = ca
		o, err := FromEnvironment(func(name string) string { return set[name] })
		if err != nil {
			t.Fatal(err)
		}
		if err := New(o).ExportSpans(t.Context(), everything(t)); (err == nil) != (ca != "") {
			t.Errorf("with %q: %v", ca, err)
		}
	}
}

func writePEM(t *testing.T, file string, der []byte) {
	t.Helper()
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
}

func BenchmarkEncode(b *testing.B) {
	spans := everything(b)
	b.Run("protobuf", func(b *testing.B) {
		for b.Loop() {
			messageOf(spans).append(nil)
		}
	})
	b.Run("json", func(b *testing.B) {
		for b.Loop() {
			json.Marshal(messageOf(spans))
		}
	})
}
