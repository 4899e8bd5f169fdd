package mcp

import (
	"context"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed61713e19/capstan/internal/tracecontext"
)

// traced returns the _meta member of a call with the traceparent and tracestate of the
// span in ctx, or nil without a span. Requests over HTTP have the same values as
// headers.
func traced(ctx context.Context) (meta sdk.Meta) {
	tracecontext.Inject(ctx, func(name, value string) {
		if meta == nil {
			meta = sdk.Meta{}
		}
		meta[name] = value
	})
	return meta
}
