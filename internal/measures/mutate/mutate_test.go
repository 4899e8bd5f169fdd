package mutate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/faults"
	"github.com/seed61713e19/capstan/internal/measures/backtest"
	"github.com/seed61713e19/capstan/internal/measures/mutate"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/validators"
)

const story = "The owl hears a mouse under 30 cm of snow. It was seen in May by Anna, and again in June by Carl. They have not come back since the winter began."

// shouting is a validator with its own operator.
var shouting = validators.New("calm", "Validates that the text does not shout", func(_ context.Context, _ struct{}, s validators.Subject) (validators.Verdict, error) {
	if strings.Contains(s.Content, "!") {
		return validators.Fail("it shouts"), nil
	}
	return validators.Pass("it is calm"), nil
}, validators.WithFaults(faults.Operator{Name: "shout", Description: "it shouts", Apply: func(t *faults.Text, _ *rand.Rand) []faults.Fault {
	return []faults.Fault{{Text: t.Content + "!", Place: "line 1", Note: "a shout", Sure: faults.Always}}
}}))

// tested plants faults in a text of a cascade with one phase.
func tested(t *testing.T, phase, text string, change func(*mutate.Test)) *mutate.Result {
	t.Helper()
	r, err := runner.New(runner.WithValidators(shouting), runner.WithModel(yes{}), runner.WithModelName("m"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := r.Parse("c.yaml", []byte("cascade_id: c\ninputs_schema: {source: the source}\nphases:\n  - name: draft\n    instructions: x\n"+phase))
	if err != nil {
		t.Fatal(err)
	}
	given := backtest.NewText(c, c.Phases[0], "good.md", text, map[string]any{"source": "30 cm"}, nil)
	m := mutate.Test{Texts: []backtest.Text{given}, Host: r.Host(t.Context()), Seed: 1}
	if change != nil {
		change(&m)
	}
	report, err := m.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// A yes is a model that accepts every text.
type yes struct{}

func (yes) Call(_ context.Context, r model.Request) (model.Response, error) {
	if r.Validator == "" {
		return model.Response{}, errors.New("nobody writes here")
	}
	return model.Response{Text: `{"valid": true, "reason": "fine"}`, Usage: model.Usage{Calls: 1}}, nil
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

const three = `    wards:
      post:
        - {validator: max_length, with: {max: 200}, mode: retry}
        - {validator: excludes, with: {text: "[TODO]"}}
        - {expr: "not (content contains 'TODO')", mode: advisory, reason: todo}
        - {judge: "Is it good?", votes: 3, confirm: no, mode: retry}
        - {exec: [sh, -c, "exit 0"], verdict: exit_status}
        - {expr: "content contains 'owl'", mode: retry, reason: of owls}
`

// TestSameBytes checks that the result does not depend on the number of goroutines, and that
// another seed plants other faults.
func TestSameBytes(t *testing.T) {
	one := asJSON(t, tested(t, three, story, nil))
	many := asJSON(t, tested(t, three, story, func(m *mutate.Test) { m.Parallel = 8 }))
	if one != many {
		t.Errorf("alone:\n%s\ntogether:\n%s", one, many)
	}
	if other := asJSON(t, tested(t, three, story, func(m *mutate.Test) { m.Seed = 2 })); other == strings.Replace(one, `"seed":1`, `"seed":2`, 1) {
		t.Error("two seeds plant the same")
	}
}

// TestCounts checks the sums, and which gates run.
func TestCounts(t *testing.T) {
	r := tested(t, three, story, nil)
	p := r.Phases[0]
	planted, caught := 0, 0
	for _, op := range p.Operators {
		planted, caught = planted+op.Caught.N, caught+op.Caught.K
	}
	if planted != r.Planted || planted != r.Always.N+r.Usually.N || caught != r.Always.K+r.Usually.K || planted-caught != len(r.Survivors) || p.Always != r.Always || r.Texts != 1 {
		t.Errorf("%d planted and %d caught of %s", planted, caught, asJSON(t, r))
	}
	if len(p.Gates) != 6 || p.Gates[3].Asked || p.Gates[4].Asked || len(r.NotAsked) != 2 {
		t.Errorf("a judge and a program are asked for nothing: %s", asJSON(t, p.Gates))
	}
	for _, g := range p.Gates {
		if n := g.Always.N + g.Usually.N; g.Asked && n != planted || !g.Asked && n != 0 {
			t.Errorf("%s was asked about %d of %d", g.Gate, n, planted)
		}
	}
	if p.Gates[1].Only+p.Gates[5].Only == 0 || p.Gates[2].Only != 0 {
		t.Errorf("what a gate adds: %s", asJSON(t, p.Gates))
	}
}

// TestNamesOfGates checks that gates with the same name are distinguished. TestOnce checks that
// equal texts count once, unless their gates get other values.
func TestOnce(t *testing.T) {
	const texts = 4
	r, err := runner.New()
	if err != nil {
		t.Fatal(err)
	}
	c, err := r.Parse("c.yaml", []byte("cascade_id: c\nphases: [{name: draft, instructions: x, wards: {post: [{validator: min_length, with: {min: 5}}]}}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	given := func(name, text string, input, outputs map[string]any) backtest.Text {
		return backtest.NewText(c, c.Phases[0], name, text, input, outputs)
	}
	counts := map[string]int{}
	for name, change := range map[string]func(i int) backtest.Text{
		"same": func(i int) backtest.Text {
			return given(fmt.Sprint("run", i), story, map[string]any{"source": "30 cm", "other": []any{1.5, nil}}, nil)
		},
		"text": func(i int) backtest.Text {
			return given("run", story+strings.Repeat("!", i), nil, nil)
		},
		"input": func(i int) backtest.Text {
			return given("run", story, map[string]any{"source": i}, nil)
		},
		"outputs": func(i int) backtest.Text {
			return given("run", story, nil, map[string]any{"plan": i})
		},
		"attempt": func(i int) backtest.Text {
			text := given("run", story, nil, nil)
			text.Recorded.Attempt += i
			return text
		},
		"unreadable": func(int) backtest.Text {
			return given("run", story, map[string]any{"source": math.NaN()}, nil)
		},
	} {
		m := mutate.Test{Host: r.Host(t.Context())}
		for i := range texts {
			m.Texts = append(m.Texts, change(i))
		}
		report, err := m.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		counts[name] = report.Texts
	}
	if want := map[string]int{"same": 1, "text": texts, "input": texts, "outputs": texts, "attempt": texts, "unreadable": texts}; !reflect.DeepEqual(counts, want) {
		t.Errorf("got %v, want %v", counts, want)
	}
}

func TestNamesOfGates(t *testing.T) {
	r := tested(t, "    wards:\n      post:\n"+strings.Repeat("        - {validator: non_empty}\n", 12), story, nil)
	names := map[string]bool{}
	for _, g := range r.Phases[0].Gates {
		names[g.Gate] = true
	}
	if len(names) != 12 || !names["post non_empty[12]"] {
		t.Errorf("got %v", names)
	}
}

// TestWhoseNoCounts checks that a rejection by an advisory gate catches nothing and is reported.
func TestWhoseNoCounts(t *testing.T) {
	r := tested(t, "    wards: {post: [{expr: \"false\", mode: advisory, reason: never}, {validator: non_empty}]}\n", story, nil)
	if len(r.FalseBlocks) != 1 || r.FalseBlocks[0].Gate != "post expr" || r.Always.K != 0 || r.Phases[0].Gates[0].Always.N != 0 {
		t.Errorf("a gate that refuses the good text says nothing of faults: %s", asJSON(t, r))
	}
	r = tested(t, "    wards: {post: [{expr: \"len(content) < 148\", mode: advisory, reason: long}, {validator: non_empty}]}\n", story, nil)
	if r.Always.K != 0 || r.Phases[0].Gates[0].Always.K == 0 || r.Survivors[0].NoVerdict != nil {
		t.Error(asJSON(t, r))
	}
	noted := 0
	for _, s := range r.Survivors {
		noted += len(s.Advisory)
	}
	if noted == 0 {
		t.Error("no survivor was noted")
	}
}

// TestUnsaid checks that a gate without a verdict has not rejected the text.
func TestUnsaid(t *testing.T) {
	r := tested(t, "    wards: {post: [{expr: \"output.name != ''\", mode: retry, reason: name}]}\n", `{"name": "Ada and her friends of old"}`, nil)
	unsaid := 0
	for _, s := range r.Survivors {
		unsaid += len(s.NoVerdict)
	}
	if unsaid == 0 || unsaid != r.Phases[0].Gates[0].NoVerdict {
		t.Errorf("%d could not say: %s", unsaid, asJSON(t, r))
	}
}

// TestJudges checks that judges run on request, and that they make no more calls than announced.
func TestJudges(t *testing.T) {
	var reported int
	r := tested(t, three, story, func(m *mutate.Test) { m.Judges = true; reported = m.Calls() })
	g := r.Phases[0].Gates[3]
	if !g.Asked || g.Always.N+g.Usually.N != r.Planted || g.Always.K != 0 || reported != (r.Planted+1)*3*3*2 {
		t.Errorf("%d calls at most for %d faults, %s", reported, r.Planted, asJSON(t, g))
	}
	if r := tested(t, three, story, func(m *mutate.Test) { reported = m.Calls() }); reported != 0 {
		t.Errorf("%d calls for %s", reported, asJSON(t, r.NotAsked))
	}
}

// TestPublished checks that the faults of a gate are planted where the phase has the gate.
func TestPublished(t *testing.T) {
	r := tested(t, "    wards: {post: [{validator: calm}]}\n", story, nil)
	if !strings.Contains(asJSON(t, r.Phases), `{"operator":"shout","sure":"always","caught":{"k":1,"n":1},`) {
		t.Error(asJSON(t, r.Phases))
	}
	if r = tested(t, three, story, nil); strings.Contains(asJSON(t, r.Phases), "shout") {
		t.Error("it is planted where its gate does not stand")
	}
}

// TestSchema checks that the schema is a gate, and that checks that cannot read invalid JSON do not
// count.
func TestSchema(t *testing.T) {
	r := tested(t, "    output_schema: {type: object, required: [name], properties: {name: {type: string}}}\n    wards: {post: [{expr: \"output.name != 'x'\", reason: x}]}\n", `Here: {"name": "Ada"}`, nil)
	p := r.Phases[0]
	if p.Gates[0].Gate != "output_schema" || p.Gates[0].Only == 0 || p.Gates[1].NoVerdict != 0 || len(p.Operators) < 3 {
		t.Error(asJSON(t, p))
	}
}

// TestNothing checks that no fault is planted in a phase without a gate.
func TestNothing(t *testing.T) {
	r := tested(t, "", story, nil)
	if !r.Below(0.1) || len(r.Unguarded) != 1 || r.Planted != 0 || r.Always.N != 0 {
		t.Error(asJSON(t, r))
	}
	var b bytes.Buffer
	if empty := tested(t, three, "", nil); len(empty.Unguarded) != 0 || empty.Texts != 0 || empty.Planted != 0 {
		t.Errorf("nothing can be planted in an empty text, which says nothing of its gates: %s", asJSON(t, empty))
	}
	if err := r.Report("post.yaml", nil, 0).Write(&b, "text"); err != nil || !strings.Contains(b.String(), "0 planted faults") || !strings.Contains(b.String(), "no gate judges the text of: draft") {
		t.Error(err, b.String())
	}
}

// TestOver checks that a stopped host ends the test.
func TestOver(t *testing.T) {
	r, err := runner.New()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	c, err := r.Parse("c.yaml", []byte("cascade_id: c\nphases:\n  - name: draft\n    instructions: x\n"+three))
	if err != nil {
		t.Fatal(err)
	}
	_, err = mutate.Test{Texts: []backtest.Text{backtest.NewText(c, c.Phases[0], "x", story, nil, nil)}, Host: r.Host(ctx)}.Run(ctx)
	if err == nil || err.Error() != "enough" {
		t.Error(err)
	}
}
