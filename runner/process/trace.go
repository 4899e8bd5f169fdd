package process

import (
	"context"
	"os"
	"strings"

	"go.opentelemetry.io/otel/propagation"
)

// traced is an environment, nil for the caller's, with the span that the program
// is part of, where ctx is within one: TRACEPARENT, and TRACESTATE where there is
// one, as W3C's Trace Context writes them.
func traced(ctx context.Context, env []string) []string {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	for _, name := range []string{"traceparent", "tracestate"} {
		if value := carrier[name]; value != "" {
			if env == nil {
				env = os.Environ()
			}
			env = append(env[:len(env):len(env)], strings.ToUpper(name)+"="+value)
		}
	}
	return env
}
