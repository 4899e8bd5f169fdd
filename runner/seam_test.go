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

// A seam has the same depth of embedding as direct, so that a call costs the
// same.
type seam struct{ *host }

// direct calls the model and the validator as functions, without the host's
// data.
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

// BenchmarkSeam compares two runs of nine effects that cost nothing. One calls
// the functions directly. The other goes through the host of this process. The
// limit for the difference is 3 %. The runs alternate, and the median counts,
// so that other work of the machine has no influence.
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
			runtime.GC() // between the runs, not during one
		}
		for k := range hosts {
			i := (n + k) % 2 // each is first equally often
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
