package backtest_test

import (
	"fmt"
	"testing"
)

// TestJudgesThatWait checks verdicts of judges that run after free checks. A judge is
// skipped for a text that a free check rejects. A skipped verdict is neither a changed
// verdict nor an error.
func TestJudgesThatWait(t *testing.T) {
	const shape = `cascade_id: c
phases:
- name: draft
  instructions: Write.
  wards: {post: [{judge: 'nice?', name: nice%s}, {validator: contains, with: {text: %s}, mode: %s}]}
`
	eager, waits := "", ", mode: retry"
	for _, c := range []struct {
		was, now, text, mode string
		want                 counts
		saved                int
	}{
		{waits, waits, "owl", "retry", counts{Same: 4}, 0},
		{eager, waits, "owl", "retry", counts{Same: 3, Skipped: 1}, 1},
		{waits, eager, "owl", "retry", counts{Same: 3, NewPass: 1}, 0},
		{waits, waits, "owl", "advisory", counts{Same: 3, NewPass: 1}, 2},
		{waits, waits, "bat", "retry", counts{NowFails: 1, NowPasses: 1, NewPass: 1, Skipped: 1}, 2},
	} {
		s := &store{}
		if r := s.record(t, files{"cascade.yaml": fmt.Sprintf(shape, c.was, "owl", "retry")}, `
- {phase: draft, reply: bat}
- {phase: draft, reply: owl}
- {validator: nice, reply: 'true', times: always}
`, nil); r.Status != "succeeded" {
			t.Fatalf("%+v", r.Error)
		}
		test := s.test(t, files{"cascade.yaml": fmt.Sprintf(shape, c.now, c.text, c.mode)})
		test.Judges, test.Host = true, host(t, "- {validator: nice, phase: draft, attempt: 1, reply: 'true', times: always}\n- {validator: nice, phase: draft, attempt: 2, reply: 'true', times: always}", nil)
		r := run(t, test)
		if r.Verdicts != c.want || r.Saved != c.saved {
			t.Errorf("%+v: got %+v, saved %d", c, r.Verdicts, r.Saved)
		}
	}
}

// TestBesideTheFailed checks an attempt that ended with the error of a judge. A rejection by a free
// check would have sent it back if the judge is advisory. If the judge is blocking, the outcome is
// unknown.
func TestBesideTheFailed(t *testing.T) {
	const shape = `cascade_id: c
phases:
- name: draft
  instructions: Write.
  wards: {post: [{validator: contains, with: {text: %s}, mode: retry}, {judge: 'nice?', name: nice, mode: retry}, {judge: 'fit?', name: aside, mode: %s}]}
`
	for mode, want := range map[string]string{"advisory": "[failed retried]", "shadow": "[failed retried]", "blocking": "[failed failed]"} {
		s := &store{}
		if r := s.record(t, files{"cascade.yaml": fmt.Sprintf(shape, "bat", mode)}, `
- {phase: draft, reply: bat}
- {validator: nice, reply: well, times: always}
- {validator: aside, reply: well, times: always}
`, nil); r.Status != "failed" {
			t.Fatalf("%s: %+v", mode, r)
		}
		r := run(t, s.test(t, files{"cascade.yaml": fmt.Sprintf(shape, "owl", mode)}))
		if len(r.Outcomes) != 1 || fmt.Sprint([]any{r.Outcomes[0].Before, r.Outcomes[0].After}) != want {
			t.Errorf("%s: %+v, want %s", mode, r.Outcomes, want)
		}
	}
}
