package enginetest_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/engine/enginetest"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/tool"
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

// A losing host cannot keep what a tool came to: another has the run, or nothing is
// written any more.
type losing struct {
	engine.Host
	code string
}

func (h losing) Tool(at event.Path, _ engine.Job) (tool.Result, error) {
	return tool.Result{}, &engine.Error{Code: h.code, Path: at, Message: "journal: lost", Err: errEnded}
}

func (h losing) Each(n, limit int, body func(engine.Host, int) error) error {
	return h.Host.Each(n, limit, func(inner engine.Host, i int) error { return body(losing{inner, h.code}, i) })
}

// What ends the run for its host is no end of a phase, an item, a tool or a check that
// the run could go on from. Where another has the run no file is to blame.
func TestHostEndsTheRun(t *testing.T) {
	for _, code := range []string{engine.Failed, engine.TakenOver} {
		for _, phase := range []string{
			`tool: breaks`, `tool: asks`, `compose: a, wards: {post: [{validator: judges, mode: advisory}]}`,
			`each: {in: [1], on_failure: keep}, tool: breaks`, `instructions: a, tackle: [breaks]`, `instructions: a, tackle: [asks]`,
			`instructions: a, tackle: [breaks], soundings: {factor: 2, validator: {expr: "true"}}`,
		} {
			s := enginetest.Read(t, "losing", []byte(`A host that loses its run.
-- cascade.yaml --
cascade_id: c
validators: {judges: {cascade: sub.yaml}}
tools: {asks: {cascade: sub.yaml}}
phases: [{name: a, rules: {on_error: late}, `+phase+`}, {name: late, compose: late}]
-- sub.yaml --
cascade_id: sub
phases: [{name: s, tool: breaks}]
-- script.yaml --
- {phase: a, tool_calls: [{name: `+map[bool]string{true: "asks", false: "breaks"}[strings.Contains(phase, "asks")]+`, arguments: {}}]}
- {phase: a, reply: text, times: always}
`))
			result, err := engine.Run(losing{s.Host(t), code}, s.Cascade, s.Start())
			var why *engine.Error
			if !errors.As(err, &why) || why.Code != code || result.Status != engine.Failed || !errors.Is(err, errEnded) || (why.Position.Line > 0) != (code == engine.Failed) {
				t.Errorf("%s, %s: it is %s: %+v", code, phase, result.Status, why)
			}
		}
	}
}
