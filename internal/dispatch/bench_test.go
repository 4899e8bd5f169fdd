package dispatch_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/seed61713e19/capstan/internal/dispatch"
	"github.com/seed61713e19/capstan/validators/request"
)

// BenchmarkDispatcher opens, validates and settles tasks of 2 criteria.
func BenchmarkDispatcher(b *testing.B) {
	d := dispatch.New(dispatch.Config{Fresh: func() dispatch.Validate {
		return (func(_ context.Context, r *request.Request, _ *request.ProtocolError) ([]byte, error) {
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
