package request_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/seed61713e19/capstan/validators/request"
)

var order = []request.Verdict{request.Pass, request.Partial, request.Blocked, request.Fail}

// FuzzResponse checks that no response causes a panic, or a verdict better than
// its claim or its criteria.
func FuzzResponse(f *testing.F) {
	for _, o := range []object{
		answer("PASS", "a", "PASS", "b", "PASS"), answer("PASS", "a", "PASS", "a", "FAIL", "z", "SKIP"), answer("PARTIAL", "b", "FAIL", "a", "PASS"), answer("BLOCKED"),
		with(answer("PASS", "a", "PASS", "b", "PASS"), object{"evidence_collected": object{
			"screenshots": []any{object{"path": "s.png"}}, "test_results": object{"command": "t", "exit_code": 0, "failed": 1},
			"file_checks": []any{object{"path": "../x", "exists": true, "size_bytes": 3}, object{"path": "parse.go", "exists": true}}},
		}), object{"id": "task-1", "status": "pass", "results": []any{object{"criterion": "a", "met": true}}},
	} {
		f.Add(text(f, o), uint8(0))
		f.Add([]byte("so\n```json\n"+string(text(f, o))+"\n```\n"), uint8(1))
	}
	f.Add([]byte(`{"task_id":"task-1","task_id":"x","a":[{"b":1,"b":2}]}`), uint8(2))
	f.Add([]byte("<think>{</think>\ufeff~~~json5\r\n[\r\n~~~ \r\n"), uint8(2))
	kinds := []string{"code", "browser", "both"}
	f.Fuzz(func(t *testing.T, raw []byte, kind uint8) {
		r := asked(t, with(ask("a", "b"), object{"validation_type": kinds[int(kind)%3]}))
		g := &request.Gate{Request: r, Options: request.Options{Root: "."}}
		j := g.Judge(raw)
		if again := g.Judge(raw); !reflect.DeepEqual(again, j) {
			t.Fatalf("judged again: %+v, before it was %+v", again, j)
		}
		if j.Reason == "" || j.Flags == nil || j.Criteria == nil || len(j.Reason) > 50_000 {
			t.Fatalf("got %+v", j)
		}
		if !(j.Effective != "") {
			if j.Valid || len(j.Flags) != 1 || len(j.Criteria) > 0 {
				t.Fatalf("got %+v", j)
			}
			return
		}
		worst, passed, failed, open := 0, 0, 0, 0
		for _, c := range j.Criteria {
			switch c.Status {
			case request.Pass:
				passed++
			case request.Fail:
				failed++
			default:
				open++
			}
		}
		switch {
		case failed > 0 && passed > 0 && open == 0:
			worst = 1
		case failed > 0:
			worst = 3
		case open > 0:
			worst = 2
		}
		worst = max(worst, slices.Index(order, j.Claimed))
		if slices.Index(order, j.Effective) != worst || j.Valid != (worst == 0) || len(j.Criteria) != 2 {
			t.Fatalf("got %+v", j)
		}
	})
}

// FuzzRequest checks that a parsed request can be written and parsed again.
func FuzzRequest(f *testing.F) {
	f.Add(text(f, ask("a", "b")))
	f.Add(text(f, with(ask("a"), object{"services": object{"app_url": "http://x", "required_ports": []any{1.0}}, "timeout_seconds": 1e3, "prd_id": "PRD-A.1", "Branch": 1})))
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := request.ParseRequest(raw)
		if err != nil {
			return
		}
		again, err := request.ParseRequest(text(t, r))
		if err != nil || fmt.Sprintf("%q", text(t, again)) != fmt.Sprintf("%q", text(t, r)) {
			t.Fatalf("%s: %v", text(t, r), err)
		}
		if r.Timeout() <= 0 {
			t.Fatal(r.Timeout())
		}
	})
}
