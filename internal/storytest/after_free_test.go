package storytest_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/seed61713e19/capstan/internal/storytest"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
)

const waiting = `-- cascade.yaml --
cascade_id: waiting
phases:
  - name: draft
    instructions: Write.
    rules: {on_exhausted: %s, max_attempts: 2}
    wards:
      %s:
        - {judge: "good?", name: judge%s}
        - {%s, name: free, mode: %s}
        - {judge: "eager?", name: eager}
-- script.yaml --
- {phase: draft, reply: %s}
- {phase: draft, reply: %[6]s}
- {validator: eager, reply: '{"valid": true, "reason": "yes"}', times: always}
- {validator: judge, contains: good, reply: '{"valid": true, "reason": "yes"}', times: always}
- {validator: judge, reply: '{"valid": false, "reason": "no"}', times: always}
`

// A skipped verdict never counts as a pass of a released text. In all modes,
// every counting check has passed a released text, or the text is degraded by
// that check. Every blocking check must have passed the text. After a text is
// rejected, no check runs whose verdict is not needed.
func TestReleasedTextsAreJudged(t *testing.T) {
	seen := map[string]int{}
	for _, on := range []string{"fail", "last", "best"} {
		for _, moment := range []string{"turn", "post"} {
			for _, judge := range []string{"", ", after: free", ", mode: retry", ", mode: retry, after: free", ", mode: advisory, after: free"} {
				for _, free := range []string{"validator: contains, with: {text: owl}", "validator: slow_no, with: {text: bat}"} {
					for _, mode := range []string{"blocking", "retry", "advisory"} {
						for _, reply := range []string{"good owl", "good bat", "owl", "bat"} {
							text := fmt.Sprintf(waiting, on, moment, judge, free, mode, reply)
							released(t, storytest.Read(t, "waiting", []byte(text)), text, seen)
						}
					}
				}
			}
		}
	}
	for _, what := range []string{"released", "degraded", "kept back", "skipped", "skipped and degraded"} {
		if seen[what] == 0 {
			t.Errorf("no run was %s: %v", what, seen)
		}
	}
}

func released(t *testing.T, s *storytest.Story, text string, seen map[string]int) {
	t.Helper()
	verdicts := map[string]*event.Verdict{}
	asked := map[string]bool{}
	sink := event.Func(func(e event.Event) {
		switch e.Kind {
		case event.AttemptStarted:
			verdicts, asked = map[string]*event.Verdict{}, map[string]bool{}
		case event.ModelCalled:
			asked[e.Validator] = true
		case event.VerdictGiven:
			verdicts[e.Verdict.Validator] = e.Verdict
		}
	})
	result, err := engine.Run(s.Host(t, runner.WithSink(sink)), s.Cascade, s.Start())
	skipped := false
	for name, v := range verdicts {
		if v.Skipped() {
			skipped = true
			refused := verdicts["free"].Valid != nil && !*verdicts["free"].Valid && verdicts["free"].Mode != "advisory"
			if name != "judge" || asked[name] || !refused || v.Status != event.Skipped {
				t.Errorf("%s was skipped: %+v\n%s", name, v, text)
			}
		}
	}
	if skipped {
		seen["skipped"]++
	}
	if err != nil {
		seen["kept back"]++
		return
	}
	var unmet []string
	for _, d := range result.Degraded {
		unmet = append(unmet, d.Checks...)
	}
	seen["released"]++
	if len(unmet) > 0 {
		seen["degraded"]++
		if skipped {
			seen["skipped and degraded"]++
		}
	}
	for _, name := range []string{"judge", "free", "eager"} {
		v := verdicts[name]
		yes := v != nil && v.Valid != nil && *v.Valid
		if v == nil || !yes && v.Mode != "advisory" && (v.Mode == "blocking" || !slices.Contains(unmet, name)) {
			t.Errorf("released with %s as %+v, unmet %q\n%s", name, v, unmet, text)
		}
	}
}
