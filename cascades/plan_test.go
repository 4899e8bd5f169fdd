package cascades

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/internal/codes"
)

// String writes counts in the form of the expected texts below.
func (c Counts) String() string {
	v := c.Validators
	return fmt.Sprintf("attempts %s turns %s calls %s tools %s judges %s | pure %s exec %s judge %s cascade %s",
		count(c.Attempts), count(c.Turns), count(c.ModelCalls), count(c.ModelCallsWithTools), count(c.JudgeCalls), count(v.Pure), count(v.Exec), count(v.Judge), count(v.Cascade))
}

const (
	pure = "{expr: \"true\"}"
	exec = "{exec: [x]}"
)

var planParts = map[string]string{
	"put.yaml": "cascade_id: put\nphases: [{name: a, compose: x}]\n",
	"two.yaml": "cascade_id: two\nphases:\n- {name: a, instructions: x}\n- {name: b, instructions: x, wards: {post: [{validator: grammar_check}]}}\n",
}

// TestPlanPhase compares the plan of a phase with hand-computed counts.
func TestPlanPhase(t *testing.T) {
	tests := []struct{ name, phase, want string }{
		{"plain", "", "attempts 1 turns 1 calls 1 tools 1 judges 0 | pure 0 exec 0 judge 0 cascade 0"},
		{"tools: 16 rounds and the last words", "tackle: [read_file]", "attempts 1 turns 1 calls 1 tools 17 judges 0 | pure 0 exec 0 judge 0 cascade 0"},
		{"turns", "rules: {max_turns: 3}", "attempts 1 turns 3 calls 3 tools 3 judges 0 | pure 0 exec 0 judge 0 cascade 0"},
		{"max_attempts with nothing to check", "rules: {max_attempts: 5}", "attempts 1 turns 1 calls 1 tools 1 judges 0 | pure 0 exec 0 judge 0 cascade 0"},
		{"output_schema: three attempts unless written", "output_schema: {type: object}", "attempts 3 turns 3 calls 3 tools 3 judges 0 | pure 3 exec 0 judge 0 cascade 0"},
		{"loop_until is asked after every turn", "rules: {max_turns: 2, max_attempts: 4, loop_until: grammar_check}", "attempts 4 turns 8 calls 16 tools 16 judges 8 | pure 0 exec 0 judge 8 cascade 0"},
		{"output_schema and loop_until share a budget", "output_schema: {}\n  rules: {loop_until: " + exec + "}", "attempts 3 turns 3 calls 3 tools 3 judges 0 | pure 3 exec 3 judge 0 cascade 0"},
		{"retry wards have budgets of their own: 1 + 2 + 1", "wards: {post: [{validator: grammar_check, mode: retry}, {validator: style_check, mode: retry, max_attempts: 2}]}", "attempts 4 turns 4 calls 12 tools 12 judges 8 | pure 0 exec 0 judge 8 cascade 0"},
		{"all causes: 1 + 2 + 2", "output_schema: {}\n  wards: {post: [{validator: no_secrets, mode: retry}]}", "attempts 5 turns 5 calls 5 tools 5 judges 0 | pure 10 exec 0 judge 0 cascade 0"},
		{"a written max_attempts is the cap", "rules: {max_attempts: 2}\n  output_schema: {}\n  wards: {post: [{validator: no_secrets, mode: retry}]}", "attempts 2 turns 2 calls 2 tools 2 judges 0 | pure 4 exec 0 judge 0 cascade 0"},
		{"and so is a written 1", "rules: {max_attempts: 1}\n  wards: {post: [{validator: no_secrets, mode: retry}]}", "attempts 1 turns 1 calls 1 tools 1 judges 0 | pure 1 exec 0 judge 0 cascade 0"},
		{"blocking and advisory wards send nothing back", "wards: {post: [{validator: no_secrets}, {validator: style_check, mode: advisory}]}", "attempts 1 turns 1 calls 2 tools 2 judges 1 | pure 1 exec 0 judge 1 cascade 0"},
		{"pre-wards", "wards: {pre: [{validator: no_secrets}, " + exec + "]}", "attempts 1 turns 1 calls 1 tools 1 judges 0 | pure 1 exec 1 judge 0 cascade 0"},
		{"turn wards redo turns: 2 × (1 + 2)", "rules: {max_turns: 2}\n  wards: {turn: [{validator: grammar_check, mode: retry}]}", "attempts 1 turns 6 calls 12 tools 12 judges 6 | pure 0 exec 0 judge 6 cascade 0"},
		{"soundings: 3 × 2, post-wards for the winner", "soundings: {factor: 3, evaluator_instructions: x, validator: grammar_check}\n  rules: {max_attempts: 2, loop_until: " + pure + "}\n  wards: {post: [{validator: no_secrets}]}", "attempts 6 turns 6 calls 10 tools 10 judges 3 | pure 8 exec 0 judge 3 cascade 0"},
		{"soundings: the winner goes on by itself: 2 × 1 + 3", "soundings: {factor: 3}\n  wards: {post: [{validator: no_secrets, mode: retry}]}", "attempts 5 turns 5 calls 5 tools 5 judges 0 | pure 3 exec 0 judge 0 cascade 0"},
		{"one sounding needs no evaluator", "soundings: {factor: 1, evaluator_instructions: x}", "attempts 1 turns 1 calls 1 tools 1 judges 0 | pure 0 exec 0 judge 0 cascade 0"},
		{"a sub-cascade", "sub_cascades: [{ref: two.yaml}]", "attempts 3 turns 3 calls 4 tools 4 judges 1 | pure 0 exec 0 judge 1 cascade 0"},
		{"a cascade that judges", "wards: {post: [{cascade: two.yaml, mode: retry, max_attempts: 2}]}", "attempts 6 turns 6 calls 8 tools 8 judges 2 | pure 0 exec 0 judge 2 cascade 2"},
		{"a cascade as a tool: a message may call it as often as it likes", "tackle: [two.yaml]", "attempts 1 turns 1 calls 1 tools ∞ judges 0 | pure 0 exec 0 judge 0 cascade 0"},
		{"one that asks no model", "tackle: [put.yaml]", "attempts 1 turns 1 calls 1 tools 17 judges 0 | pure 0 exec 0 judge 0 cascade 0"},
		{"a judge looks at each call", "tackle: [read_file]\n  wards: {tool: [{validator: grammar_check}]}", "attempts 1 turns 1 calls 1 tools ∞ judges 0 | pure 0 exec 0 judge ∞ cascade 0"},
		{"and at each result", "tackle: [read_file]\n  wards: {result: [{validator: no_secrets}, " + exec + "]}", "attempts 1 turns 1 calls 1 tools 17 judges 0 | pure ∞ exec ∞ judge 0 cascade 0"},
		{"what a person makes of a text is one more", "human_input: {prompt: x, type: edit}", "attempts 2 turns 1 calls 1 tools 1 judges 0 | pure 0 exec 0 judge 0 cascade 0"},
		{"what a person makes is judged as often: 3 + 3", "output_schema: {}\n  human_input: {prompt: x, type: edit}", "attempts 6 turns 3 calls 3 tools 3 judges 0 | pure 6 exec 0 judge 0 cascade 0"},
		{"a choice the model has to be asked for", "handoffs: [{target: b, description: x}, {target: c, description: y}]", "attempts 1 turns 1 calls 2 tools 18 judges 0 | pure 0 exec 0 judge 0 cascade 0"},
		{"a choice with a way out", "handoffs: [{target: b, description: x}, c]", "attempts 1 turns 1 calls 1 tools 17 judges 0 | pure 0 exec 0 judge 0 cascade 0"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			source := "cascade_id: x\nphases:\n- name: a\n  instructions: x\n  " + test.phase + "\n- {name: b, instructions: x}\n- {name: c, instructions: x}\n"
			if got := parsed(t, source, planParts).Plan("", nil).Phases[0].Visit.String(); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// TestPlanTools checks the plans of phases without a model.
func TestPlanTools(t *testing.T) {
	tests := []struct{ name, phase, want string }{
		{"tool", "tool: read_file\n  inputs: {path: x}\n  wards: {post: [{validator: no_secrets, mode: retry}]}", "attempts 3 turns 0 calls 0 tools 0 judges 0 | pure 3 exec 0 judge 0 cascade 0"},
		{"gate", "tool: no_secrets", "attempts 1 turns 0 calls 0 tools 0 judges 0 | pure 1 exec 0 judge 0 cascade 0"},
		{"judge", "tool: grammar_check", "attempts 1 turns 0 calls 1 tools 1 judges 1 | pure 0 exec 0 judge 1 cascade 0"},
		{"cascade", "tool: two.yaml", "attempts 3 turns 2 calls 3 tools 3 judges 1 | pure 0 exec 0 judge 1 cascade 0"},
	}
	for _, test := range tests {
		c := parsed(t, "cascade_id: x\nphases:\n- name: a\n  "+test.phase+"\n", planParts)
		if got := c.Plan("", nil).Total.String(); got != test.want {
			t.Errorf("%s\ngot  %s\nwant %s", test.name, got, test.want)
		}
	}
}

// TestWithinTools checks that a judging cascade, used as a phase's tool, counts
// as nested.
func TestWithinTools(t *testing.T) {
	c := parsed(t, "cascade_id: x\nvalidators: {v: {cascade: two.yaml}}\nphases: [{name: a, tool: v}]\n", planParts)
	if got := c.Within(); len(got) != 2 || got[1].ID != "two" {
		t.Errorf("%d are within", len(got))
	}
}

// TestPlanRoutes checks the sums over the routes through the phases. Phase a
// calls a model once, b twice, c four times.
func TestPlanRoutes(t *testing.T) {
	const a, b, c = "{name: a, instructions: x%s}", "{name: b, instructions: x, rules: {max_turns: 2}%s}", "{name: c, instructions: x, rules: {max_turns: 4}%s}"
	tests := []struct {
		name    string
		a, b, c string
		budget  string
		calls   int
		visits  string
		bound   string
	}{
		{"in a row", "", "", "", "", 7, "1 1 1", ""},
		{"past one", ", handoffs: [c]", "", "", "", 5, "1 0 1", ""},
		{"one or the other", ", handoffs: [{target: b, when: input.b}, c]", ", handoffs: [c]", "", "", 7, "1 1 1", ""},
		{"branches that do not meet", ", handoffs: [{target: b, when: input.b}]", ", handoffs: [b]", "", "{max_phases: 5}", 9, "1 5 0", "max_phases"},
		{"a circle of two", "", ", handoffs: [a]", "", "{max_phases: 10}", 15, "10 10 0", "max_phases"},
		{"the dearest way round", "", ", handoffs: [{target: a, when: input.x}, {target: c}]", ", handoffs: [b]", "{max_phases: 6}", 1 + 2 + 4 + 2 + 4 + 2, "6 6 6", "max_phases"},
		{"two ways round", ", handoffs: [{target: b, when: input.x}, c]", ", handoffs: [a]", ", handoffs: [a]", "", 50*1 + 50*4, "100 100 100", "max_phases"},
		{"a phase by itself", ", handoffs: [a]", "", "", "", 100, "100 0 0", "max_phases"},
		{"calls are bounded", ", handoffs: [a]", "", "", "{max_calls: 7}", 7, "100 0 0", "max_phases max_calls"},
		{"calls that just fit", "", "", "", "{max_calls: 7}", 7, "1 1 1", ""},
		{"one call", "", "", "", "{max_calls: 1}", 1, "1 1 1", "max_calls"},
		{"a row that just fits", "", "", "", "{max_phases: 3}", 7, "1 1 1", ""},
		{"a row that is too long", "", "", "", "{max_phases: 2}", 3, "1 1 1", "max_phases"},
		{"where on_exhausted goes", ", rules: {on_exhausted: c}", ", handoffs: [b]", "", "{max_phases: 2}", 5, "1 2 1", "max_phases"},
		{"a skipped phase goes on in the file", ", when: input.x, handoffs: [a, c]", "", "", "{max_phases: 2}", 6, "2 1 1", "max_phases"},
		{"a skipped phase follows its handoff", ", when: input.x, handoffs: [c]", "", "", "", 5, "1 0 1", ""},
		{"more visits than will be counted", "", ", handoffs: [a]", "", "{max_phases: 2000000000}", 3_999_000_000, "2000000000 2000000000 0", "max_phases"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			source := "cascade_id: x\nphases:\n- " + fmt.Sprintf(a, test.a) + "\n- " + fmt.Sprintf(b, test.b) + "\n- " + fmt.Sprintf(c, test.c) + "\n"
			if test.budget != "" {
				source += "budget: " + test.budget + "\n"
			}
			c := parsed(t, source, nil)
			if warned := strings.Contains(c.Warnings.Error(), codes.Visits); warned != (test.name == "a row that is too long") {
				t.Errorf("warned that it is too long: %t", warned)
			}
			p := c.Plan("", nil)
			var visits []string
			for _, phase := range p.Phases {
				visits = append(visits, count(phase.Visits))
			}
			if got := strings.Join(visits, " "); got != test.visits {
				t.Errorf("visits %s, want %s", got, test.visits)
			}
			if got := strings.Join(p.BoundBy, " "); got != test.bound {
				t.Errorf("bound by %q, want %q", got, test.bound)
			}
			got := p.Total.ModelCalls
			if test.calls > 1_000_000 { // an upper limit, close to the exact number
				if got < test.calls*3/4 || got > test.calls*3/2 {
					t.Errorf("%d calls, want about %d", got, test.calls)
				}
			} else if got != test.calls {
				t.Errorf("%d calls, want %d", got, test.calls)
			}
		})
	}
}

// TestPlanIsBounded checks that large numbers do not make a plan wrong or slow.
func TestPlanIsBounded(t *testing.T) {
	started := time.Now()
	huge := parsed(t, "cascade_id: x\nbudget: {max_phases: 9223372036854775807}\nphases:\n- {name: a, instructions: x, handoffs: [a], rules: {max_turns: 9223372036854775807, max_attempts: 9223372036854775807, loop_until: no_secrets}, wards: {post: [{validator: no_secrets, mode: retry, max_attempts: 9223372036854775807}]}}\n", nil)
	if got := huge.Plan("", nil).Total; got.ModelCalls != Most || got.Validators.Pure != Most {
		t.Errorf("got %v", got)
	}
	texts := map[string]string{"c16.yaml": "cascade_id: c\nphases: [{name: a, instructions: x}]"}
	for i := range 16 {
		one := fmt.Sprintf("{ref: c%d.yaml, context_out: true}", i+1)
		texts[fmt.Sprintf("c%d.yaml", i)] = "cascade_id: c\nphases: [{name: a, instructions: x, sub_cascades: [" + strings.Repeat(one+", ", 15) + one + "]}]"
	}
	c, err := Load("c0.yaml", files(texts), known())
	if err != nil {
		t.Fatal(err)
	}
	if got := len(c.Within()); got != 17 {
		t.Errorf("%d cascades", got)
	}
	if got := c.Plan("", nil).Total.ModelCalls; got != Most { // 16¹⁶
		t.Errorf("got %d", got)
	}
	var dense strings.Builder
	dense.WriteString("cascade_id: x\nbudget: {max_phases: 1000000}\nphases:\n")
	for i := range 200 {
		fmt.Fprintf(&dense, "- {name: p%d, instructions: x, handoffs: [", i)
		for j := range 200 {
			fmt.Fprintf(&dense, "p%d, ", j)
		}
		dense.WriteString("]}\n")
	}
	if got := parsed(t, dense.String(), nil).Plan("", nil).Total.ModelCalls; got != 2_000_000 { // each with a choice
		t.Errorf("got %d", got)
	}
	// After 200,000 steps, each further visit has the cost of the most
	// expensive visit.
	long := parsed(t, "cascade_id: x\nbudget: {max_phases: 300000}\nphases: [{name: b, instructions: x, rules: {max_turns: 2}}, {name: a, instructions: x, handoffs: [b]}]\n", nil)
	if got := long.Plan("", nil).Total.ModelCalls; got != 200_002/2*(2+1)+(300_000-200_002)*2 {
		t.Errorf("got %d", got)
	}
	if took := time.Since(started); took > time.Minute {
		t.Errorf("took %v", took)
	}
}

// TestPlanText checks the table and the JSON of a plan.
func TestPlanText(t *testing.T) {
	c := parsed(t, `
cascade_id: x
budget: {max_calls: 40, max_tokens: 1000, max_cost_usd: 1.5, max_seconds: 90}
phases:
- {name: outline, instructions: x}
- {name: draft, instructions: x, tackle: [read_file], soundings: {factor: 3}, wards: {post: [{validator: grammar_check, mode: retry}]}}
- {name: check, tool: no_secrets}
`, nil)
	want := `phase    visits  attempts  turns  model calls  with tools  judges  pure  programs  cascades
outline  1       1         1      1            1           0       0     0         0
draft    1       3 × 3     5      8            88          3       0     0         0
check    1       1         0      0            0           0       1     0         0
in all           7         6      9            40          3       1     0         0
max_calls bounds it
budget: 40 model calls, 1000 tokens, $1.5, 1m30s, 100 phase visits

estimated  sent, least  cost, least  sent at worst  answered at worst  cost at worst
outline    ~1           no price     ~17            no bound           no bound
draft      ~3           no price     no bound       no bound           no bound
in all     ~4           no price     no bound       no bound           no bound
no bound of what is sent: say token_budget; a judge needs criteria without values and a bound of what it judges: judge grammar_check, draft
no bound of what is answered: say max_output_tokens: outline, judge grammar_check, draft
no price is known, so there are tokens only: (the run's)
max_tokens bounds the worst: no call begins once 1000 tokens are spent; those under way are paid
max_cost_usd bounds the worst: no call begins once $1.5 is spent; those under way are paid
`
	p := c.Plan("", nil)
	if got := p.Text(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	text, err := json.Marshal(p)
	if err != nil || !strings.Contains(string(text), `"total":{"attempts":7,"turns":6,"model_calls":9,"model_calls_with_tools":40,"judge_calls":3,"validators":{"pure":1,"exec":0,"judge":3,"cascade":0},"tokens":{"input":null,`) {
		t.Errorf("%s, %v", text, err)
	}
}

// TestPlanNumbers checks the format of numbers in a plan, including the limits.
func TestPlanNumbers(t *testing.T) {
	for want, c := range map[string]Tokens{
		"~3, answered: ~4; cost: ~$0.0001":                             {Input: 3, Output: 4, Nano: 100_000},
		"~0, answered: ~0; cost: <$0.0001":                             {Nano: 99_999},
		"~1, answered: ~0; cost: ~$0.0000":                             {Input: 1},
		"~2, answered: ~2; cost: no price":                             {Input: 2, Output: 2, Nano: Most},
		"no bound, answered: ~1; cost: no bound":                       {Input: Most, Output: 1, Nano: Most},
		fmt.Sprintf("~%d, answered: no bound; cost: no bound", Most-1): {Input: Most - 1, Output: Most},
	} {
		if got := c.Text(); got != "estimated tokens sent: "+want {
			t.Errorf("%+v: got %s", c, got)
		}
	}
	for _, c := range []*Cascade{{ID: "none"}, parsed(t, "cascade_id: x\nphases: [{name: a, instructions: x, handoffs: [a]}]\n", nil)} {
		p := c.Plan("", nil)
		if got := p.Least; got != (Tokens{}) {
			t.Errorf("%s has no end, and costs at least %v", c.ID, got)
		}
		if got := len(p.BoundBy); got != len(c.Phases) {
			t.Errorf("%s is bounded by %q", c.ID, p.BoundBy)
		}
	}
	if a, b := count(Most-1), count(Most); a != strconv.Itoa(Most-1) || b != "∞" {
		t.Errorf("got %s and %s", a, b)
	}
	for b, want := range map[int]int{1 << 20: 1 << 53, 1<<20 - 1: (1<<20 - 1) << 33, 1 << 31: Most, 1 << 40: Most} {
		if got := product(1<<33, b); got != want {
			t.Errorf("2³³ times %d: got %d", b, got)
		}
	}
	for _, c := range []struct {
		tokens int
		price  float64
		want   int
	}{{1, 0.0001, 1}, {1000, 0.25, 250_000}, {3, 0, 0}, {Most, 0, 0}, {Most, 1, Most}, {Most, 0.0001, Most}, {Most - 1, 1, Most}, {0, 1, 0}} {
		if got := nano(c.tokens, c.price); got != c.want {
			t.Errorf("%d tokens at $%v: got %d, want %d", c.tokens, c.price, got, c.want)
		}
	}
}

// TestPlanTextBounds checks the text of the smallest and the largest plans.
func TestPlanTextBounds(t *testing.T) {
	name := strings.Repeat("a", 38) + "<b>"
	one := PhasePlan{Name: name, Visits: 1, Soundings: 2, Attempts: 1, Turns: 1, Items: 1, Visit: all(1)}
	p := Plan{
		Phases:  []PhasePlan{{Name: name, Soundings: 1, Together: []PhasePlan{one}, Visit: all(1)}, {Name: strings.Repeat("c", 40), Soundings: 1}},
		Total:   Counts{ModelCallsWithTools: 1, Tokens: Tokens{Input: 1, Output: 2, Nano: 2e9}},
		Unknown: Unknown{Output: []string{name, strings.Repeat("b", 358)}, Price: []string{"c"}},
		Budget:  BudgetPlan{1, 1, 1, 1, 1},
	}
	const want = `phase                                       visits  attempts         turns  model calls  with tools  judges  pure  programs  cascades
aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa<…    0       together         1      1            1           1       1     1         1
  aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa<…  1       1 items × 2 × 1  1      1            1           1       1     1         1
cccccccccccccccccccccccccccccccccccccccc    0       0                0      0            0           0       0     0         0
in all                                              0                0      0            1           0       0     0         0
budget: 1 model calls, 1 tokens, $1, 1s, 1 phase visits

estimated                                   sent, least  cost, least  sent at worst  answered at worst  cost at worst
aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa<…    ~0           ~$0.0000     ~1             ~1                 <$0.0001
  aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa<…  ~0           ~$0.0000     ~1             ~1                 <$0.0001
in all                                      ~0           ~$0.0000     ~1             ~2                 ~$2.0000
no bound of what is answered: say max_output_tokens: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa<b>, b…
no price is known, so there are tokens only: c
max_tokens bounds the worst: no call begins once 1 tokens are spent; those under way are paid
max_cost_usd bounds the worst: no call begins once $1 is spent; those under way are paid
phase   visits  attempts  turns  model calls  with tools  judges  pure  programs  cascades
in all          0         0      0            0           0       0     0         0
`
	got := strings.Replace(p.Text(), strings.Repeat("b", 356)+"…", "b…", 1) + Plan{}.Text()
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if p.Budget = (BudgetPlan{MaxTokens: 3, MaxCostUSD: 2}); strings.Contains(p.Text(), "bounds the worst") {
		t.Errorf("what is just enough bounds nothing\n%s", p.Text())
	}
}

// TestPlanVotes checks that a plan contains all votes of a judge, and the
// second opinion on a rejection.
func TestPlanVotes(t *testing.T) {
	for judge, want := range map[string]int{
		"{judge: good}": 1, "{judge: good, votes: 3}": 3, "{judge: good, confirm: no}": 2, "{judge: good, votes: 5, confirm: no}": 10,
	} {
		c := parsed(t, "cascade_id: a\nphases: [{name: a, instructions: x, wards: {pre: ["+judge+"]}}]", nil)
		if total := c.Plan("", nil).Total; total.JudgeCalls != want || total.ModelCalls != want+1 || total.Validators.Judge != 1 {
			t.Errorf("%s: got %+v, want %d calls of judges", judge, total, want)
		}
	}
}

// TestPlanTries checks that the inputs of changed tries have no limit in the
// plan. A try of a whole cascade appears under the cascade's phases.
func TestPlanTries(t *testing.T) {
	for keys, bounded := range map[string]bool{"": true, ", mutate: false": true, ", mutate: true": false, ", reforge: {honing_prompt: shorter}": false} {
		p := parsed(t, "cascade_id: x\nmodel: {name: m, max_output_tokens: 9}\nsoundings: {factor: 2"+keys+"}\nphases: [{name: a, instructions: Say it.}]", nil).Plan("", nil)
		if got := p.Total.Tokens.Input < Most; got != bounded || len(p.Unknown.Output) > 0 {
			t.Errorf("%q: bounded %t, unknown %v", keys, got, p.Unknown)
		}
		if want := map[bool][]string{true: {}, false: {"a"}}[bounded]; !slices.Equal(p.Unknown.Input, want) {
			t.Errorf("%q: told of %v", keys, p.Unknown.Input)
		}
	}
}
