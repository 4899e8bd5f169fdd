package otlp

import (
	"context"
	"encoding/base64"
	"fmt"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	traces "go.opentelemetry.io/proto/otlp/trace/v1"
)

// Spans sends spans. Nothing is connected before there are some.
func Spans(ctx context.Context, s Settings) (sdk.SpanExporter, error) {
	return otlptrace.New(ctx, spans{newClient(s, "spans")})
}

type spans struct{ *client }

// Start implements [otlptrace.Client].
func (spans) Start(context.Context) error { return nil }

// Stop implements [otlptrace.Client]: what is being sent is given up.
func (c spans) Stop(context.Context) error {
	c.stop()
	return nil
}

// UploadTraces implements [otlptrace.Client]. TracesData is, on the wire, the
// request that a collector wants, whose package has gRPC's services.
func (c spans) UploadTraces(ctx context.Context, list []*traces.ResourceSpans) error {
	if c.json {
		for _, of := range list {
			for _, scope := range of.ScopeSpans {
				inHex(scope.Spans)
			}
		}
	}
	return c.send(ctx, &traces.TracesData{ResourceSpans: list})
}

// inHex makes ids such that JSON's base64 of them is what OTLP has in JSON:
// their hexadecimal digits.
func inHex(list []*traces.Span) {
	for _, s := range list {
		s.TraceId, s.SpanId, s.ParentSpanId = digits(s.TraceId), digits(s.SpanId), digits(s.ParentSpanId)
		for _, l := range s.Links {
			l.TraceId, l.SpanId = digits(l.TraceId), digits(l.SpanId)
		}
	}
}

func digits(id []byte) []byte {
	spelt, _ := base64.StdEncoding.DecodeString(fmt.Sprintf("%X", id)) // 16 or 32 digits: no padding
	return spelt
}
