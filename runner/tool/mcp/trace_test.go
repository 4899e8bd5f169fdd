package mcp_test

import (
	"strings"
	"testing"

	"go.opentelemetry.io/otel/propagation"

	"github.com/seed61713e19/capstan/runner/telemetry"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/runner/tool/mcp"
)

// A server receives the span of a call in _meta, and over HTTP also in the
// headers.
func TestTrace(t *testing.T) {
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	ctx := propagation.TraceContext{}.Extract(telemetry.Propagate(t.Context()), propagation.MapCarrier{"traceparent": parent})
	each(t, func(t *testing.T, c *mcp.Client, s mcp.Server) {
		traced := c.Tool(s, "traced")
		r, err := traced.Run(ctx, tool.Call{Name: "traced"})
		want := parent
		if s.URL != "" {
			want += " " + parent
		}
		if err != nil || r.Text() != want {
			t.Errorf("got %q, %v, want %q", r.Text(), err, want)
		}
		if r := run(t, traced, nil); strings.Contains(r.Text(), "00-") {
			t.Errorf("without a span: %q", r.Text())
		}
	})
}
