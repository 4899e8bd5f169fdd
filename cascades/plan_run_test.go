package cascades_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/exchanges"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators"
)

// A chance is a host that answers at random and counts its calls.
type chance struct {
	*rand.Rand
	tools   bool // models may call tools
	no      float64
	counted cascades.Counts
}

func (c *chance) verdict(name string) bool {
	return strings.HasPrefix(name, "ok") || c.Float64() >= c.no
}

func (c *chance) Model(_ event.Path, r model.Request) (model.Response, error) {
	c.counted.ModelCalls++
	for _, one := range r.Messages {
		c.counted.Tokens.Input += exchanges.Weigh(one.Content)
	}
	c.counted.Tokens.Input += exchanges.Overhead(r.Tools, r.Schema)
	resp := model.Response{Text: "text", Usage: model.Usage{Calls: 1}}
	switch {
	case r.Validator != "":
		c.counted.JudgeCalls++
		c.counted.Validators.Judge++
		resp.Text = fmt.Sprintf(`{"valid": %v, "reason": "chance"}`, c.verdict(r.Validator))
	case r.Role != "":
		resp.Text = `{"winner": 1}`
	case len(r.Schema) > 0 && c.Float64() >= c.no:
		resp.Text = `{"a": 1}`
	}
	c.counted.Tokens.Output += exchanges.Weigh(resp.Text)
	if c.tools && len(r.Tools) > 0 && c.Float64() < 0.5 {
		name := r.Tools[c.IntN(len(r.Tools))].Name
		resp.ToolCalls = []model.ToolCall{{ID: "1", Name: name, Arguments: fmt.Sprintf(`{"target": "p%d", "key": "k", "value": 1, "path": "x"}`, c.IntN(4))}}
	}
	return resp, nil
}

func (c *chance) Tool(event.Path, engine.Job) (tool.Result, error) {
	return tool.Result{Value: "done"}, nil
}

func (c *chance) Validate(_ event.Path, v engine.Validation) (engine.Finding, error) {
	if v.Pure {
		c.counted.Validators.Pure++
	} else {
		c.counted.Validators.Exec++
	}
	return engine.Finding{Verdict: validators.Verdict{Valid: c.verdict(v.Validator)}}, nil
}

func (c *chance) Each(n, _ int, body func(engine.Host, int) error) error {
	for i := range n {
		if err := body(c, i); err != nil {
			return err
		}
	}
	return nil
}

func (c *chance) Emit(e event.Event) {
	switch e.Kind {
	case event.AttemptStarted:
		c.counted.Attempts++
	case event.TurnStarted:
		c.counted.Turns++
	case event.VerdictGiven:
		if e.Verdict.Moment == "output_schema" {
			c.counted.Validators.Pure++
		}
		if strings.Contains(e.Verdict.Validator, "cascade") {
			c.counted.Validators.Cascade++
		}
	}
}

func (c *chance) Ask(event.Path, engine.Question) (engine.Answer, error) {
	return engine.Answer{Value: true}, nil
}
func (c *chance) Within(_ event.Path, _ time.Duration, body func(engine.Host) error) error {
	return body(c)
}
func (c *chance) Now() time.Time                { return time.Time{} }
func (c *chance) Stopped() error                { return nil }
func (c *chance) Checkpoint(engine.State) error { return nil }

// cascadeByChance returns a random cascade of one or four phases.
func cascadeByChance(r *rand.Rand, nested bool) string {
	var b strings.Builder
	b.WriteString("cascade_id: cascade_by_chance\nbudget: {max_phases: 6}\nmodel: {name: m, max_output_tokens: 40}\ntoken_budget: {max_total: 1500, strategy: prune_oldest}\nphases:\n")
	forms := []string{`expr: "true"`, "exec: [x]", "judge: good", `schema: {}`}
	if nested {
		forms = append(forms, "cascade: nested.yaml, input_map: {}")
	}
	check := func(name string) string { return fmt.Sprintf("name: %s, %s", name, forms[r.IntN(len(forms))]) }
	maybe := func(format string, args ...any) {
		if r.IntN(3) == 0 {
			fmt.Fprintf(&b, format, args...)
		}
	}
	ward := func() string {
		name := "ward"
		switch r.IntN(3) {
		case 0:
			return fmt.Sprintf("{%s, mode: retry, max_attempts: %d}", nameOf(check(name)), 1+r.IntN(3))
		case 1:
			return fmt.Sprintf("{%s, mode: advisory}", nameOf(check(name)))
		default:
			return fmt.Sprintf("{%s}", nameOf(check("ok")))
		}
	}
	phases := 1 + 3*r.IntN(2)
	for i := range phases {
		fmt.Fprintf(&b, "- name: p%d\n", i)
		if r.IntN(5) == 0 {
			fmt.Fprintf(&b, "  tool: read_file\n  inputs: {path: x}\n")
			maybe("  wards: {post: [%s, %s]}\n", ward(), ward())
			continue
		}
		b.WriteString("  instructions: x\n")
		maybe("  output_schema: {type: object}\n")
		maybe("  tackle: [set_state, read_file]\n")
		b.WriteString("  rules:\n    on_exhausted: " + []string{"last", "best", "fail", "p3"}[r.IntN(3+phases/4)] + "\n")
		maybe("    max_turns: %d\n", 1+r.IntN(3))
		maybe("    max_attempts: %d\n", 1+r.IntN(4))
		maybe("    loop_until: {%s}\n", nameOf(check("loop")))
		b.WriteString("  wards:\n")
		fmt.Fprintf(&b, "    pre: [{%s}]\n", nameOf(check("ok")))
		maybe("    turn: [%s]\n", ward())
		maybe("    post: [%s, %s]\n", ward(), ward())
		maybe("  soundings: {factor: %d, evaluator_instructions: x, validator: {%s}}\n", 1+r.IntN(3), nameOf(check("filter")))
		if nested {
			maybe("  sub_cascades: [{ref: nested.yaml}]\n")
		}
		switch r.IntN(4) + 4 - phases {
		case 0:
			fmt.Fprintf(&b, "  handoffs: [p%d]\n", r.IntN(4))
		case 1:
			b.WriteString("  handoffs: [{target: p1, description: x}, {target: p2, description: y}]\n")
		case 2:
			b.WriteString("  handoffs: [{target: p3, when: \"turn == 0\"}]\n  when: \"attempt == 0\"\n")
		}
	}
	return b.String()
}

// nameOf adds the word cascade to the name of a check that runs a cascade.
func nameOf(check string) string {
	if strings.Contains(check, "cascade:") {
		return strings.Replace(check, "name: ", "name: cascade_", 1)
	}
	return check
}

// TestPlanHolds runs random cascades and checks that no run exceeds its plan.
// The first few of the 400 runs find a plan that is too low. Dozens of the
// plans are bounded.
func TestPlanHolds(t *testing.T) {
	reached, bounded := 0, 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 7))
		nested := cascadeByChance(r, false)
		source := cascadeByChance(r, true)
		c, err := cascades.Parse("x.yaml", []byte(source), func(string) ([]byte, error) { return []byte(nested), nil }, cascades.PlanKnown())
		if err != nil {
			t.Fatalf("%v\n%s", err, source)
		}
		plan := c.Plan("", nil)
		host := &chance{Rand: r, tools: seed%2 == 0, no: []float64{0.3, 0.6, 0.9, 1}[r.IntN(4)]}
		_, err = engine.Run(host, c, engine.State{RunID: "r"})
		if e, ok := err.(*engine.Error); ok && e.Code == engine.Invalid {
			t.Fatalf("%v\n%s", err, source)
		}
		total, got := plan.Total, host.counted
		if host.tools {
			total.ModelCalls = total.ModelCallsWithTools
		}
		if total.Tokens.Input < cascades.Most && got.Tokens.Input > 1000 {
			bounded++
		}
		if got.Tokens.Input > total.Tokens.Input || got.Tokens.Output > total.Tokens.Output || err == nil && got.Tokens.Input < plan.Least.Input {
			t.Fatalf("seed %d: the run sent and was answered %v, and its plan says at least %v, at worst %v\n%s", seed, got.Tokens, plan.Least, total.Tokens, source)
		}
		over := got.Attempts > total.Attempts || got.Turns > total.Turns || got.ModelCalls > total.ModelCalls || got.JudgeCalls > total.JudgeCalls ||
			got.Validators.Pure > total.Validators.Pure || got.Validators.Exec > total.Validators.Exec ||
			got.Validators.Judge > total.Validators.Judge || got.Validators.Cascade > total.Validators.Cascade
		if over {
			t.Fatalf("seed %d: the run did\n%v\nand its plan says\n%v\n%s\n%s", seed, got, total, source, plan.Text())
		}
		if got.Turns == total.Turns && got.Turns > 3 {
			reached++
		}
	}
	if bounded < 10 {
		t.Errorf("the plans of %d runs have a bound of what is sent", bounded)
	}
	if reached == 0 {
		t.Errorf("no run came to what its plan says: is it too much?")
	}
}
