package runner_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
)

// BenchmarkShadow is the time of an attempt, from its beginning to its end, by
// what else stands in shadow; one operation is one attempt on a text of 5 KB.
func BenchmarkShadow(b *testing.B) {
	text := strings.Repeat("An owl is a bird of the night. ", 170)
	shadows := "\n        - {validator: pii, mode: shadow}\n        - {validator: no_secrets, mode: shadow}\n        - {expr: 'content contains \"bat\"', mode: shadow}"
	for _, c := range []struct{ name, wards string }{{"none", ""}, {"pure", shadows}} {
		b.Run(c.name, func(b *testing.B) {
			var began time.Time
			var took time.Duration
			r := newRunner(b, runner.WithModel(model.Func(func(context.Context, model.Request) (model.Response, error) {
				for began := time.Now(); time.Since(began) < 200*time.Microsecond; { // far less than any real one takes
				}
				return model.Response{Text: text, Usage: model.Usage{Calls: 1}}, nil
			})), runner.WithSink(event.Func(func(e event.Event) {
				switch e.Kind {
				case event.AttemptStarted:
					began = e.Time
				case event.AttemptFinished:
					took += e.Time.Sub(began)
				}
			})))
			cascade := parsed(b, r, "cascade_id: bench\nphases:\n  - name: a\n    instructions: Write.\n    wards:\n      post:\n        - {validator: non_empty}"+c.wards)
			for b.Loop() {
				mustRun(b, r, cascade)
			}
			b.ReportMetric(float64(took.Nanoseconds())/float64(b.N), "ns/attempt")
		})
	}
}
