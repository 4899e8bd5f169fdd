package otlp_test

import (
	"cmp"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	wire "go.opentelemetry.io/proto/otlp/metrics/v1"
	traces "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/seed61713e19/capstan/runner/telemetry/internal/otlp"
)

// A request has the body before its compression.
type request struct {
	*http.Request
	body []byte
}

// receiver records requests.
func receiver(t *testing.T, start func(*httptest.Server)) (*httptest.Server, *[]request) {
	var received []request
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		body := io.Reader(req.Body)
		if req.Header.Get("Content-Encoding") == "gzip" {
			body, _ = gzip.NewReader(body)
		}
		text, err := io.ReadAll(body)
		if err != nil {
			t.Error(err)
		}
		received = append(received, request{req, text})
	}))
	start(server)
	t.Cleanup(server.Close)
	return server, &received
}

// read sets the variables and reads them.
func read(t *testing.T, signal string, variables ...string) otlp.Settings {
	t.Helper()
	for _, v := range variables {
		name, value, _ := strings.Cut(v, "=")
		t.Setenv("OTEL_EXPORTER_OTLP_"+name, value)
	}
	s, err := otlp.Read(os.Getenv, signal)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var (
	at         = time.Unix(1700000000, 123)
	attributes = []attribute.KeyValue{
		attribute.String("text", "a"), attribute.String("none", ""), attribute.Int("n", -1<<62), attribute.Bool("is", false),
	}
	made = resource.NewWithAttributes("https://schema.example", attribute.String("service.name", "capstan"))
	of   = instrumentation.Scope{Name: "here", Version: "1", SchemaURL: "https://schema.example", Attributes: attribute.NewSet(attributes...)}
)

func spans() []sdk.ReadOnlySpan {
	state, _ := trace.ParseTraceState("a=b")
	context := func(n byte) trace.SpanContext {
		return trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{0xfb, 0xff, n, 15: 0xee}, SpanID: trace.SpanID{n, 7: 0xdd}, TraceFlags: trace.FlagsSampled, TraceState: state})
	}
	return tracetest.SpanStubs{
		{Name: "root", SpanContext: context(1), SpanKind: trace.SpanKindClient, StartTime: at, EndTime: at.Add(time.Second), Resource: made, InstrumentationScope: of},
		{
			Name: "child", SpanContext: context(2), Parent: context(1), SpanKind: trace.SpanKindInternal, StartTime: at, EndTime: at, Resource: made, InstrumentationScope: of,
			Attributes: append(attributes, attribute.StringSlice("list", []string{"b", ""})), DroppedAttributes: 3,
			Events: []sdk.Event{{Name: "e", Time: at, Attributes: attributes}}, Links: []sdk.Link{{SpanContext: context(3), Attributes: attributes}},
			Status: sdk.Status{Code: codes.Error, Description: "no"},
		},
	}.Snapshots()
}

// TestSpansAsTheirs compares our requests with those of the official exporter of spans.
func TestSpansAsTheirs(t *testing.T) {
	for _, protocol := range []string{"", "http/protobuf"} {
		for _, compression := range []string{"gzip", "none"} {
			t.Run(protocol+" "+compression, func(t *testing.T) {
				server, received := receiver(t, (*httptest.Server).Start)
				s := read(t, "TRACES", "ENDPOINT="+server.URL+"/base/", "PROTOCOL="+protocol, "COMPRESSION="+compression, "HEADERS=x-key=a%20b , x-other= c=d")
				exporter, err := otlp.Spans(t.Context(), s)
				if err != nil {
					t.Fatal(err)
				}
				official, err := otlptracehttp.New(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				for _, x := range []sdk.SpanExporter{exporter, official} {
					if err := cmp.Or(x.ExportSpans(t.Context(), spans()), x.Shutdown(t.Context())); err != nil {
						t.Fatal(err)
					}
				}
				same(t, *received, "/base/v1/traces", func() proto.Message { return &traces.TracesData{} })
			})
		}
	}
}

// same compares our request, the first, with the official one.
func same(t *testing.T, received []request, path string, empty func() proto.Message) {
	t.Helper()
	got, want := received[0], received[1]
	for _, name := range []string{"Content-Type", "Content-Encoding", "X-Key", "X-Other"} {
		if got.Header.Get(name) != want.Header.Get(name) {
			t.Errorf("%s: %q, want %q", name, got.Header.Get(name), want.Header.Get(name))
		}
	}
	if got.URL.Path != path || want.URL.Path != path || got.Method != http.MethodPost {
		t.Errorf("%s %s, want %s", got.Method, got.URL, want.URL)
	}
	a, b := empty(), empty()
	if err := cmp.Or(proto.Unmarshal(got.body, a), proto.Unmarshal(want.body, b)); err != nil || !proto.Equal(a, b) || len(got.body) == 0 {
		t.Errorf("%v\n%v\n%v", err, a, b)
	}
}

func measured() *metricdata.ResourceMetrics {
	set := attribute.NewSet(attributes...)
	const sums, deltas = metricdata.CumulativeTemporality, metricdata.DeltaTemporality
	whole := []metricdata.HistogramDataPoint[int64]{{Attributes: set, StartTime: at, Time: at, Count: 2, Sum: 5, Bounds: []float64{1, 4}, BucketCounts: []uint64{1, 0, 1}, Min: metricdata.NewExtrema[int64](0), Max: metricdata.NewExtrema[int64](5)}, {}}
	return &metricdata.ResourceMetrics{Resource: made, ScopeMetrics: []metricdata.ScopeMetrics{{Scope: of, Metrics: []metricdata.Metrics{
		{Name: "count", Unit: "{n}", Description: "d", Data: metricdata.Sum[int64]{Temporality: sums, IsMonotonic: true, DataPoints: []metricdata.DataPoint[int64]{{Attributes: set, StartTime: at, Time: at, Value: -7}}}},
		{Name: "whole", Data: metricdata.Histogram[int64]{Temporality: sums, DataPoints: whole}},
		{Name: "real", Data: metricdata.Histogram[float64]{Temporality: deltas, DataPoints: []metricdata.HistogramDataPoint[float64]{{Sum: 0.25}}}},
	}}}}
}

// TestMetricsAsTheirs compares our requests with those of the official exporter of metrics.
func TestMetricsAsTheirs(t *testing.T) {
	for _, preference := range []string{"", "cumulative", "Delta", "lowmemory", "other"} {
		t.Run(preference, func(t *testing.T) {
			server, received := receiver(t, (*httptest.Server).Start)
			s := read(t, "METRICS", "METRICS_ENDPOINT="+server.URL+"/own", "METRICS_HEADERS=x-key=a", "HEADERS=x-other=b",
				"METRICS_TEMPORALITY_PREFERENCE="+preference)
			exporter := otlp.Metrics(s)
			official, err := otlpmetrichttp.New(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for kind := metric.InstrumentKindCounter; kind <= metric.InstrumentKindGauge; kind++ {
				if a, b := exporter.Temporality(kind), official.Temporality(kind); a != b {
					t.Errorf("%v: %v, want %v", kind, a, b)
				}
				if a, b := exporter.Aggregation(kind), official.Aggregation(kind); !reflect.DeepEqual(a, b) {
					t.Errorf("%v: %v, want %v", kind, a, b)
				}
			}
			for _, x := range []metric.Exporter{exporter, official} {
				if err := cmp.Or(x.Export(t.Context(), measured()), x.ForceFlush(t.Context()), x.Shutdown(t.Context())); err != nil {
					t.Fatal(err)
				}
			}
			same(t, *received, "/own", func() proto.Message { return &wire.MetricsData{} })
		})
	}
}

// TestOtherMetrics checks that an unknown kind of metric is an error.
func TestOtherMetrics(t *testing.T) {
	of := &metricdata.ResourceMetrics{Resource: made, ScopeMetrics: []metricdata.ScopeMetrics{{Metrics: []metricdata.Metrics{{Name: "level", Data: metricdata.Gauge[int64]{}}}}}}
	if err := otlp.Metrics(read(t, "METRICS")).Export(t.Context(), of); err == nil || !strings.Contains(err.Error(), "metric level") {
		t.Errorf("got %v", err)
	}
}

// TestCertificates checks the files of certificates.
func TestCertificates(t *testing.T) {
	server, received := receiver(t, func(s *httptest.Server) {
		s.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
		s.Config.ErrorLog = log.New(io.Discard, "", 0)
		s.StartTLS()
	})
	dir := t.TempDir()
	own := server.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(own.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{"cert": {Type: "CERTIFICATE", Bytes: own.Certificate[0]}, "key": {Type: "PRIVATE KEY", Bytes: key}, "junk": {Type: "JUNK"}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file := func(name string) string { return filepath.Join(dir, name) }
	send := func(variables ...string) error {
		getenv := func(asked string) string {
			for _, v := range variables {
				if name, value, _ := strings.Cut(v, "="); asked == "OTEL_EXPORTER_OTLP_"+name {
					return value
				}
			}
			return ""
		}
		s, err := otlp.Read(getenv, "TRACES")
		if err != nil {
			return err
		}
		x, err := otlp.Spans(t.Context(), s)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		return x.ExportSpans(ctx, spans())
	}
	at, trusted := "ENDPOINT="+server.URL, "CERTIFICATE="+file("cert")
	mine, mineKey := "TRACES_CLIENT_CERTIFICATE="+file("cert"), "CLIENT_KEY="+file("key")
	for _, c := range []struct {
		variables []string
		err       string
	}{
		{[]string{at, trusted, mine, mineKey}, ""},
		{[]string{at, trusted}, "tls: "},
		{[]string{at, mine, mineKey}, "x509: "},
		{[]string{at, "CERTIFICATE=" + file("none")}, "OTEL_EXPORTER_OTLP_CERTIFICATE: want"},
		{[]string{at, trusted, "TRACES_CERTIFICATE=" + file("junk")}, "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE: want"},
		{[]string{at, trusted, mine, "CLIENT_KEY=" + file("junk")}, "OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE: want"},
		{[]string{"ENDPOINT=http://localhost:1", trusted}, "want https"},
	} {
		if err := send(c.variables...); (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%v: %v, want %q", c.variables, err, c.err)
		}
	}
	if len(*received) != 1 {
		t.Errorf("received %d requests", len(*received))
	}
}
