package effects_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
)

// seam is as far from the host as direct is.
type seam struct{ engine.Host }

// direct calls what an effect comes down to, as if it were a function and no data.
type direct struct {
	engine.Host
	ctx context.Context
	m   model.Model
}

func (h direct) Model(_ event.Path, r model.Request) (model.Response, error) {
	return h.m.Call(h.ctx, r)
}

func (h direct) Validate(_ event.Path, v engine.Validation) (engine.Finding, error) {
	verdict, err := v.Check(h.ctx, v.Subject)
	return engine.Finding{Verdict: verdict}, err
}

// A run of nine effects that cost nothing, by calls of what they come down to and
// through the seam of the host of this process, where effects are data, in turn: the
// ratio is what the seam costs, and is to be within 3 %.
func BenchmarkSeam(b *testing.B) {
	mind := model.Func(func(context.Context, model.Request) (model.Response, error) {
		return model.Response{Text: "a text", Usage: model.Usage{Calls: 1}}, nil
	})
	r, err := runner.New(runner.WithModel(mind))
	if err != nil {
		b.Fatal(err)
	}
	c, err := r.Parse("nine.yaml", []byte(`
cascade_id: nine
phases:
  - {name: a, instructions: one, wards: {post: [{expr: "len(content) > 1"}, {validator: min_length, with: {min: 2}}]}}
  - {name: b, instructions: "{{ outputs.a }}", wards: {post: [{expr: "len(content) > 1"}, {validator: min_length, with: {min: 2}}]}}
  - {name: c, instructions: "{{ outputs.b }}", wards: {post: [{expr: "len(content) > 1"}, {validator: min_length, with: {min: 2}}]}}
`))
	if err != nil {
		b.Fatal(err)
	}
	own := r.Host(context.Background())
	var took [2][]time.Duration
	for b.Loop() {
		for i, h := range []engine.Host{direct{own, context.Background(), mind}, seam{own}} {
			began := time.Now()
			for range 10 {
				if result, err := engine.Run(h, c, engine.State{RunID: "run"}); err != nil || result.Status != engine.Succeeded {
					b.Fatalf("%+v: %v", result.Error, err)
				}
			}
			took[i] = append(took[i], time.Since(began))
		}
	}
	for _, list := range took {
		slices.Sort(list)
	}
	at := len(took[0]) / 4 // the quicker ones: others work on the machine too
	b.ReportMetric(float64(took[1][at])/float64(took[0][at]), "seam/direct")
}
