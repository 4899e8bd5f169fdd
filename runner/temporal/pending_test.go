package temporal

import (
	"slices"
	"testing"

	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/model"
)

// A gauge counts the pending activities of a workflow.
type gauge struct {
	interceptor.WorkerInterceptorBase
	asked     []workflow.Future
	most, all int
}

func (g *gauge) InterceptWorkflow(_ workflow.Context, next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	return &gaugeIn{interceptor.WorkflowInboundInterceptorBase{Next: next}, g}
}

type gaugeIn struct {
	interceptor.WorkflowInboundInterceptorBase
	*gauge
}

func (i *gaugeIn) Init(next interceptor.WorkflowOutboundInterceptor) error {
	return i.Next.Init(&gaugeOut{interceptor.WorkflowOutboundInterceptorBase{Next: next}, i.gauge})
}

type gaugeOut struct {
	interceptor.WorkflowOutboundInterceptorBase
	*gauge
}

func (o *gaugeOut) ExecuteActivity(ctx workflow.Context, name string, args ...any) workflow.Future {
	o.asked = slices.DeleteFunc(o.asked, workflow.Future.IsReady)
	made := o.Next.ExecuteActivity(ctx, name, args...)
	o.asked = append(o.asked, made)
	o.all++
	o.most = max(o.most, len(o.asked))
	return made
}

// TestNoMoreArePendingThanMayBe checks that nested wide places stay below the
// limit of pending activities, and that all effects are performed.
func TestNoMoreArePendingThanMayBe(t *testing.T) {
	list := make([]any, 12)
	for i := range list {
		list[i] = i
	}
	x := try(t, `
cascade_id: wide
budget: {max_calls: 5000}
phases:
  - name: both
    together:
      - name: all
        each: {in: "{{ input.list }}", as: one, max_items: 100, max_parallel: 12}
        instructions: "{{ one }}"
        soundings: {factor: 6, max_parallel: 6, evaluator_instructions: the best}
      - {name: more, each: {in: "{{ input.list }}", as: one, max_items: 100, max_parallel: 12}, instructions: "{{ one }}"}
`, map[string]any{"list": list}, func(r model.Request) string {
		if r.Role != "" {
			return `{"winner": 1, "reason": "the best"}`
		}
		return echo(r)
	})
	var g gauge
	x.crew.atWork = 20
	x.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{&g}})
	result, _, err := x.end(t)
	if err != nil || result.Status != engine.Succeeded || g.all < 12*6+12+12 {
		t.Fatalf("%d effects, %+v: %v", g.all, result.Error, err)
	}
	if g.most != x.crew.atWork {
		t.Errorf("%d effects were pending at a time, want %d", g.most, x.crew.atWork)
	}
}
