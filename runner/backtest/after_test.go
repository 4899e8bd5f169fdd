package backtest_test

import (
	"fmt"
	"testing"
)

// A judge that would not be asked about a text that a free check refuses is
// spared; one that was not asked and would be is not known without asking it. A
// skipped verdict is neither a yes that turned nor an error.
func TestJudgesThatWait(t *testing.T) {
	const shape = `cascade_id: c
phases:
- name: draft
  instructions: Write.
  wards: {post: [{judge: 'nice?', name: nice%s}, {validator: contains, with: {text: %s}, mode: %s}]}
`
	eager, waits := "", ", mode: retry"
	for _, c := range []struct {
		was, now, text, mode, want string
		saved                      int
	}{
		{waits, waits, "owl", "retry", "{Same:4 ToNo:0 ToYes:0 NewYes:0 NewNo:0 Gone:0 Unsaid:0 NotRun:0 Spared:0}", 0},
		{eager, waits, "owl", "retry", "{Same:3 ToNo:0 ToYes:0 NewYes:0 NewNo:0 Gone:0 Unsaid:0 NotRun:0 Spared:1}", 1},
		{waits, eager, "owl", "retry", "{Same:3 ToNo:0 ToYes:0 NewYes:1 NewNo:0 Gone:0 Unsaid:0 NotRun:0 Spared:0}", 0},
		{waits, waits, "owl", "advisory", "{Same:3 ToNo:0 ToYes:0 NewYes:1 NewNo:0 Gone:0 Unsaid:0 NotRun:0 Spared:0}", 2},
		{waits, waits, "bat", "retry", "{Same:0 ToNo:1 ToYes:1 NewYes:1 NewNo:0 Gone:0 Unsaid:0 NotRun:0 Spared:1}", 2},
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
		if got := fmt.Sprintf("%+v", r.Verdicts); got != c.want || r.Saved != c.saved {
			t.Errorf("%+v: got %s, saved %d", c, got, r.Saved)
		}
	}
}

// An attempt that failed by a judge would be sent back by a free check's no, whatever
// an advisory judge would say of it; one that could block is not known.
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
		if len(r.Fates) != 1 || fmt.Sprint([]any{r.Fates[0].Was, r.Fates[0].Would}) != want {
			t.Errorf("%s: %+v, want %s", mode, r.Fates, want)
		}
	}
}
