package process

import (
	"context"
	"os"
	"strings"

	"github.com/seed61713e19/capstan/internal/tracecontext"
)

// traced adds the span of ctx to an environment, as TRACEPARENT and TRACESTATE
// of W3C Trace Context. A nil environment is the caller's. Without a span, it
// returns env.
func traced(ctx context.Context, env []string) []string {
	tracecontext.Inject(ctx, func(name, value string) {
		if env == nil {
			env = os.Environ()
		}
		env = append(env[:len(env):len(env)], strings.ToUpper(name)+"="+value)
	})
	return env
}
