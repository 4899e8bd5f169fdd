package storytest_test

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/storytest"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/tool"
)

// If a check ends the run, the verdicts of its neighbours are emitted with the end. If
// the run is only interrupted, they are emitted after its resume.
func TestVerdictsBesideAnEnd(t *testing.T) {
	for _, c := range []struct {
		phase   string
		lost    int64 // the effect at which the host is
		status  string
		emitted []string
	}{
		{`{name: s, compose: s, handoffs: [s]}`, 9, engine.OverBudget, []string{"slow_no"}},
		{`{name: s, compose: s, human_input: {prompt: "Is it so?"}}`, 9, engine.Waiting, nil},
		{`{name: s, tool: breaks}`, 2, engine.Cancelled, nil},
	} {
		s := storytest.Read(t, "beside", []byte(`A cascade that judges ends its run.
-- cascade.yaml --
cascade_id: c
validators: {last: {cascade: sub.yaml}}
phases: [{name: a, compose: a text, wards: {post: [{validator: slow_no, with: {text: bat}}, {validator: last}]}}]
-- sub.yaml --
cascade_id: sub
budget: {max_phases: 1}
phases: [`+c.phase+"]\n"))
		result, _ := engine.Run(storytest.NewFault(s.Host(t), c.lost), s.Cascade, s.Start())
		var emitted []string
		for _, v := range result.Verdicts {
			emitted = append(emitted, v.Validator)
		}
		if result.Status != c.status || !slices.Equal(emitted, c.emitted) {
			t.Errorf("%s: it is %s, and told is %q: %+v", c.phase, result.Status, emitted, result.Error)
		}
	}
}

// A losing host cannot store a tool's result, because another process has the run or
// the store fails.
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

// An error of the host ends the run, and it does not end a phase, an item, a tool or a
// check. If another process has the run, the error has no position in a file.
func TestHostEndsTheRun(t *testing.T) {
	for _, code := range []string{engine.Failed, engine.TakenOver} {
		for _, phase := range []string{
			`tool: breaks`, `tool: asks`, `compose: a, wards: {post: [{validator: judges, mode: advisory}]}`,
			`each: {in: [1], on_failure: keep}, tool: breaks`, `instructions: a, tackle: [breaks]`, `instructions: a, tackle: [asks]`,
			`instructions: a, tackle: [breaks], soundings: {factor: 2, validator: {expr: "true"}}`,
		} {
			s := storytest.Read(t, "losing", []byte(`A host that loses its run.
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
			var cause *engine.Error
			if !errors.As(err, &cause) || cause.Code != code || result.Status != engine.Failed || !errors.Is(err, errEnded) || (cause.Position.Line > 0) != (code == engine.Failed) {
				t.Errorf("%s, %s: it is %s: %+v", code, phase, result.Status, cause)
			}
		}
	}
}

// A branching host runs all branches, also after an error, and each tool fails.
type branching struct{ engine.Host }

func (h branching) Tool(at event.Path, _ engine.Job) (tool.Result, error) {
	return tool.Result{}, &engine.Error{Code: engine.Failed, Path: at, Message: "it broke"}
}

func (h branching) Each(n, limit int, body func(engine.Host, int) error) (first error) {
	for i := range n {
		first = cmp.Or(first, body(h, i))
	}
	return first
}

// If several parallel branches fail, a resumed run tries all of them again.
func TestRetryPathsOfParallelFailures(t *testing.T) {
	s := storytest.Read(t, "parallel failures", []byte(`Two phases fail at the same time.
-- cascade.yaml --
cascade_id: c
phases: [{name: a, together: [{name: b, tool: breaks}, {name: c, tool: breaks}]}]
`))
	_, err := engine.Run(branching{s.Host(t)}, s.Cascade, s.Start())
	var cause *engine.Error
	if !errors.As(err, &cause) {
		t.Fatal(err)
	}
	paths, _ := cause.RetryPaths()
	if slices.Sort(paths); !slices.Equal(paths, []event.Path{"a/b/attempt[1]/tool", "a/c/attempt[1]/tool"}) {
		t.Errorf("it tries %q again", paths)
	}
}
