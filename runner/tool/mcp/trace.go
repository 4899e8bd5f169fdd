package mcp

import (
	"context"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.opentelemetry.io/otel/propagation"
)

// traced is what a call's _meta says of the span that it is part of, where ctx is
// within one: traceparent and tracestate, as the protocol has them. A server
// that is reached over HTTP has them in the headers too.
func traced(ctx context.Context) sdk.Meta {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	if len(carrier) == 0 {
		return nil
	}
	meta := sdk.Meta{}
	for name, value := range carrier {
		meta[name] = value
	}
	return meta
}
