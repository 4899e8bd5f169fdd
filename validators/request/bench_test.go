package request_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/seed61713e19/capstan/validators/request"
)

// BenchmarkJudge reads and judges a response of 50 criteria.
func BenchmarkJudge(b *testing.B) {
	var ids, pairs []string
	for i := range 50 {
		id := fmt.Sprintf("AC-%d", i)
		ids, pairs = append(ids, id), append(pairs, id, "PASS")
	}
	g := &request.Gate{Request: asked(b, ask(ids...))}
	raw := text(b, answer("PASS", pairs...))
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		if j := g.Judge(raw); !j.Valid {
			b.Fatal(j.Reason)
		}
	}
}

// BenchmarkDispatcher opens, validates and settles tasks of 2 criteria.
func BenchmarkDispatcher(b *testing.B) {
	d := request.NewDispatcher(request.Config{Fresh: func() request.Runner {
		return request.RunnerFunc(func(_ context.Context, r *request.Request, _ *request.ProtocolError) ([]byte, error) {
			return text(b, with(answer("PASS", "a", "PASS", "b", "PASS"), object{"task_id": r.TaskID})), nil
		})
	}})
	defer d.Close()
	var n atomic.Int64
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			r := asked(b, with(ask("a", "b"), object{"task_id": fmt.Sprintf("t-%d", n.Add(1))}))
			if o, err := d.Do(b.Context(), r); err != nil || !o.Judgement.Valid {
				b.Fatal(o, err)
			}
		}
	})
}
