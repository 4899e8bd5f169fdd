package request_test

import (
	"fmt"
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
