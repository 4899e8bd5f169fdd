package runner

import (
	"context"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
)

// seam is as far from the host as direct is: Go jumps through either.
type seam struct{ *host }

// direct calls what an effect comes down to, as if it were a function and no data.
type direct struct {
	*host
	m model.Model
}

func (h *direct) Model(_ event.Path, r model.Request) (model.Response, error) {
	return h.m.Call(h.ctx, r)
}

func (h *direct) Validate(_ event.Path, v engine.Validation) (engine.Finding, error) {
	verdict, err := v.Check(h.ctx, v.Subject)
	return engine.Finding{Verdict: verdict}, err
}

// A run of nine effects that cost nothing, by calls of what they come down to and
// through the seam of the host of this process, where effects are data: the ratio is
// what the seam costs, and is to be within 3 %. A run takes microseconds, so the two
// take turns run by run, and of many the middle counts: what else the machine does is
// in neither.
func BenchmarkSeam(b *testing.B) {
	mind := model.Func(func(context.Context, model.Request) (model.Response, error) {
		return model.Response{Text: "a text", Usage: model.Usage{Calls: 1}}, nil
	})
	r, err := New(WithModel(mind))
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
	own := r.host(context.Background(), "run")
	hosts := []engine.Host{&direct{own, mind}, &seam{own}}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	var took [2][]time.Duration
	for n := 0; b.Loop(); n++ {
		if n%1000 == 0 {
			runtime.GC() // between the runs, not in one of them
		}
		for k := range hosts {
			i := (n + k) % 2 // each is the first as often
			began := time.Now()
			result, err := engine.Run(hosts[i], c, engine.State{RunID: "run"})
			took[i] = append(took[i], time.Since(began))
			if err != nil || result.Status != engine.Succeeded {
				b.Fatalf("%+v: %v", result.Error, err)
			}
		}
	}
	for _, list := range took {
		slices.Sort(list)
	}
	at := len(took[0]) / 2
	b.ReportMetric(float64(took[0][at].Nanoseconds()), "ns/direct")
	b.ReportMetric(float64(took[1][at])/float64(took[0][at]), "seam/direct")
}
