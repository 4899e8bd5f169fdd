package enginetest_test

import (
	"slices"
	"testing"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/engine/enginetest"
)

// Verdicts beside a check that ends the run are told with its end. Where the run is
// only cut they are not: it tells them when it goes on.
func TestVerdictsBesideAnEnd(t *testing.T) {
	for _, c := range []struct {
		phase  string
		gone   int64 // the effect at which the host is
		status string
		told   []string
	}{
		{`{name: s, compose: s, handoffs: [s]}`, 9, engine.OverBudget, []string{"slow_no"}},
		{`{name: s, compose: s, human_input: {prompt: "Is it so?"}}`, 9, engine.Waiting, nil},
		{`{name: s, tool: breaks}`, 2, engine.Cancelled, nil},
	} {
		s := enginetest.Read(t, "beside", []byte(`A cascade that judges ends its run.
-- cascade.yaml --
cascade_id: c
validators: {last: {cascade: sub.yaml}}
phases: [{name: a, compose: a text, wards: {post: [{validator: slow_no, with: {text: bat}}, {validator: last}]}}]
-- sub.yaml --
cascade_id: sub
budget: {max_phases: 1}
phases: [`+c.phase+"]\n"))
		result, _ := engine.Run(enginetest.NewFault(s.Host(t), c.gone), s.Cascade, s.Start())
		var told []string
		for _, v := range result.Verdicts {
			told = append(told, v.Validator)
		}
		if result.Status != c.status || !slices.Equal(told, c.told) {
			t.Errorf("%s: it is %s, and told is %q: %+v", c.phase, result.Status, told, result.Error)
		}
	}
}
