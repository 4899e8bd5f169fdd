package trust_test

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/measures/stats"
	"github.com/seed61713e19/capstan/internal/measures/trust"
	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/validators/builtins"
)

const source = `cascade_id: post
model: small
phases:
  - name: draft
    instructions: Write.
    wards:
      post: [{expr: "len(content) > 8", name: long}, {judge: "Is it friendly?", name: tone, mode: retry, votes: 3}]
`

func gates(t testing.TB, chosen cascades.Chosen) []cascades.Gate {
	t.Helper()
	c, err := cascades.Parse("post.yaml", []byte(source), nil, cascades.Known{Validators: builtins.Default()})
	if err != nil {
		t.Fatal(err)
	}
	list, err := c.Gates(chosen, nil)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

var began = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// attempt returns the first attempt of the n-th run, with the verdicts of both gates.
func attempt(n int, text string, long, tone bool) journal.Attempt {
	name := stats.TextDigest(text)[:stats.TextDigits]
	at := event.Path("draft/attempt[1]")
	third := 1.0 / 3
	v := func(i int, name40, validator string, valid bool) journal.Judgement {
		return journal.Judgement{Path: at.At("post", i), Moment: "post", Validator: validator, Mode: "retry", Valid: &valid, Text: name40, Time: began.Add(time.Duration(n) * time.Minute), Score: &third}
	}
	return journal.Attempt{
		RunID: fmt.Sprint("run", n), Version: "1", Started: began.Add(time.Duration(n) * time.Minute), Path: at, Phase: "draft", Number: 1, Outcome: "retry", Text: name,
		Verdicts: []journal.Judgement{v(0, name, "long", long), v(1, name, "tone", tone)},
	}
}

func all(list ...journal.Attempt) iter.Seq2[journal.Attempt, error] {
	return func(yield func(journal.Attempt, error) bool) {
		for _, a := range list {
			if !yield(a, nil) {
				return
			}
		}
	}
}

func ask(t testing.TB, labels []stats.Label, attempts iter.Seq2[journal.Attempt, error], change func(*trust.Question)) *trust.Result {
	t.Helper()
	q := trust.Question{
		CascadeID: "post", Gates: gates(t, ""), Labels: stats.NewLedger(labels),
		Past: func(string) ([]cascades.Gate, error) { return gates(t, ""), nil },
	}
	if change != nil {
		change(&q)
	}
	r, err := q.Ask(attempts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func good(text string, good bool) stats.Label {
	return stats.Label{Text: stats.TextDigest(text), Phase: "draft", Gate: stats.All, Good: good, By: "ann", Time: began, Draw: &stats.Draw{Order: stats.Random}}
}

func TestConfusion(t *testing.T) {
	labels := []stats.Label{good("a", true), good("b", true), good("c", false), good("d", false), good("never", true)}
	r := ask(t, labels, all(
		attempt(1, "a", true, true), attempt(2, "a", false, false), // the first verdict counts
		attempt(3, "b", true, false), attempt(4, "c", true, true), attempt(5, "d", true, false), attempt(6, "of nobody", true, true),
	), nil)
	tone := r.Gates[1]
	if want := (stats.Confusion{GoodPassed: 1, GoodRefused: 1, BadPassed: 1, BadRefused: 1}); tone.Natural.Texts() != want {
		t.Errorf("tone: %+v, want %+v", tone.Natural, want)
	}
	if long := r.Gates[0].Natural.Texts(); long != (stats.Confusion{GoodPassed: 2, BadPassed: 2}) {
		t.Errorf("long: %+v", long)
	}
	if tone.Passed != (stats.Rate{K: 3, N: 6}) || tone.Unanimous != (stats.Rate{K: 0, N: 6}) {
		t.Errorf("tone passes %v, unanimous %v", tone.Passed, tone.Unanimous)
	}
	p := r.Phases[0]
	if p.Released.K != 1 || p.Released.N != 2 || p.FalseBlock.K != 1 || p.FalseBlock.N != 2 || p.Accepted != (stats.Rate{K: 3, N: 6}) {
		t.Errorf("phase: %+v", p)
	}
	if r.Unknown != 1 || r.Runs != 6 || r.Attempts != 6 {
		t.Errorf("unknown %d, runs %d, attempts %d", r.Unknown, r.Runs, r.Attempts)
	}
}

// TestLastWord checks that the last verdict counts if a gate judged a text twice in one attempt.
func TestLastWord(t *testing.T) {
	again := func(n int, valid bool) journal.Attempt {
		a := attempt(n, fmt.Sprint("owls", n), true, valid)
		second := a.Verdicts[1]
		turned := !valid
		second.Valid = &turned
		a.Verdicts = append(a.Verdicts, second)
		return a
	}
	unsaid := attempt(3, "owls3", true, true)
	unsaid.Verdicts = append(unsaid.Verdicts[:1], unsaid.Verdicts[0]) // tone has no verdict
	for name, row := range map[string]struct {
		attempt journal.Attempt
		want    stats.Rate
	}{
		"no, then yes":      {again(1, false), stats.Rate{K: 1, N: 1}},
		"yes, then no":      {again(2, true), stats.Rate{K: 0, N: 1}},
		"one of two, twice": {unsaid, stats.Rate{}},
	} {
		if got := ask(t, nil, all(row.attempt), nil).Phases[0].Accepted; got != row.want {
			t.Errorf("%s: accepted %v, want %v", name, got, row.want)
		}
	}
}

// TestSharedCountsOnce checks that shared attempts do not change a rate. Their labels count if no
// other run has the text.
func TestSharedCountsOnce(t *testing.T) {
	again := attempt(2, "a", true, false)
	again.Shared = true
	for i := range again.Verdicts {
		again.Verdicts[i].Shared = true
	}
	labels := []stats.Label{good("a", true)}
	r := ask(t, labels, all(attempt(1, "a", true, true), again), nil)
	if tone := r.Gates[1]; tone.Passed != (stats.Rate{K: 1, N: 1}) || tone.Natural.Texts() != (stats.Confusion{GoodPassed: 1}) || r.Shared != 1 || r.Phases[0].Accepted.N != 1 {
		t.Errorf("%+v, phase %+v", tone, r.Phases[0])
	}
	if r := ask(t, labels, all(again), nil); r.Gates[1].Passed.Known() || r.Gates[1].Natural.Texts().N() != 1 {
		t.Errorf("by itself: %+v", r.Gates[1])
	}
}

func TestPlantedApart(t *testing.T) {
	digest := gates(t, "")[1].Digest
	planted := good("broken", false)
	planted.Planted, planted.Verdicts = "number_digit", map[string]bool{digest: true, "sha256:other": false}
	r := ask(t, []stats.Label{planted}, all(), nil)
	tone := r.Gates[1]
	if tone.PlantedAlways != (stats.Rate{K: 1, N: 1}) || tone.FalsePass.Known() || len(tone.Planted) != 1 {
		t.Errorf("planted %v, natural %v", tone.PlantedAlways, tone.FalsePass)
	}
	if r.Gates[0].PlantedAlways.Known() {
		t.Error("a gate that was not asked has a rate")
	}
}

func TestStaleCountsForNothing(t *testing.T) {
	r := ask(t, []stats.Label{good("a", true)}, all(attempt(1, "a", true, false)), func(q *trust.Question) {
		q.Past = func(string) ([]cascades.Gate, error) { return gates(t, "other"), nil }
	})
	if tone := r.Gates[1]; tone.Stale != 1 || tone.Passed.Known() || tone.Natural.Texts().N() > 0 {
		t.Errorf("tone: %+v", tone)
	}
	if r.Gates[0].Stale != 0 || r.Gates[0].Natural.Texts().N() != 1 {
		t.Errorf("long, which asks no model, is stale: %+v", r.Gates[0])
	}
	if r.Phases[0].Texts.Texts().N() > 0 {
		t.Error("the phase counts a text that a stale gate judged")
	}
}

// TestDrift checks that a changed model raises an alarm in time, and that an unchanged gate raises
// none.
func TestDrift(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	stream := func(swap int) iter.Seq2[journal.Attempt, error] {
		return func(yield func(journal.Attempt, error) bool) {
			for n := range 1500 {
				p := 0.6
				if n >= swap {
					p = 0.9
				}
				if !yield(attempt(n, fmt.Sprint(n), rng.Float64() < 0.7, rng.Float64() < p), nil) {
					return
				}
			}
		}
	}
	r := ask(t, nil, stream(1000), nil)
	d := r.Gates[1].Drift
	if d.Alarm == nil || d.Alarm.Verdict < 1000-trust.Baseline || d.Alarm.Verdict > 1000-trust.Baseline+150 {
		t.Fatalf("swapped at verdict %d behind the baseline, reported at %+v", 1000-trust.Baseline, d.Alarm)
	}
	if !r.Drifted() || r.Gates[0].Drift.Alarm != nil {
		t.Errorf("drifted %v, the other gate %+v", r.Drifted(), r.Gates[0].Drift)
	}
	// In every format, only the gate that has drifted fails.
	var xml strings.Builder
	if err := r.Report("post.yaml", false).Write(&xml, "junit"); err != nil || strings.Count(xml.String(), "<failure message=\"ALARM at verdict") != 1 || !strings.Contains(xml.String(), `tests="3" failures="1" errors="0"`) {
		t.Errorf("%v:\n%s", err, xml.String())
	}
	var errors []reports.Finding
	for _, c := range r.Report("post.yaml", false).Cases {
		errors = append(errors, slices.DeleteFunc(c.Findings, func(f reports.Finding) bool { return f.Level != reports.Error })...)
	}
	if len(errors) != 1 || errors[0].Rule != "drifted-gate" || !strings.HasPrefix(errors[0].Message, "draft, post tone: ALARM at verdict ") || errors[0].Line != 7 {
		t.Errorf("findings %+v", errors)
	}
	if ask(t, nil, stream(9999), nil).Drifted() {
		t.Error("an alarm about gates that stay")
	}
	// The verdicts after the alarm are the new baseline.
	measured := r.Gates[1].Measured("post", "test")
	measured.Passed, measured.Verdicts = 900, 1000
	again := ask(t, nil, stream(0), func(q *trust.Question) {
		q.Evidence = func(g cascades.Gate) (stats.Evidence, bool, bool) {
			return stats.Evidence{Passed: 900, Verdicts: 1000, Time: began.Add(100 * time.Minute)}, g.Name == "tone", false
		}
	})
	if d := again.Gates[1].Drift; d.Alarm != nil || d.Since.N != 1399 {
		t.Errorf("since it was measured: %+v", d)
	}
}

// TestRenamed checks that a renamed gate keeps its verdicts. It also keeps the labels of its old
// name, unless another gate has this name. Labels of unknown names do not count and are reported.
func TestRenamed(t *testing.T) {
	was := attempt(1, "a", true, false)
	own, named, lost := good("a", false), good("a", true), good("b", true)
	named.Gate, lost.Gate = "tone", "old"
	labels := []stats.Label{own, named, lost}
	r := ask(t, labels, all(was), func(q *trust.Question) {
		q.Gates = gates(t, "")
		q.Gates[1].Name = "new"
	})
	if g := r.Gates[1]; g.Gate != "new" || g.Passed != (stats.Rate{K: 0, N: 1}) || g.Natural.Texts() != (stats.Confusion{GoodRefused: 1}) || g.Stale != 0 {
		t.Errorf("%+v", g)
	}
	swapped := ask(t, labels, all(was), func(q *trust.Question) {
		q.Gates = gates(t, "")
		q.Gates[0].Name, q.Gates[1].Name = "tone", "long"
	})
	if long := swapped.Gates[1]; long.Gate != "long" || long.Natural.Texts() != (stats.Confusion{BadRefused: 1}) {
		t.Errorf("%+v", long)
	}
	if r.Gates[0].Passed.N != 1 {
		t.Errorf("another gate has its verdicts: %+v", r.Gates[0])
	}
	if want := []string{"1 label is of a gate that the cascade does not have: draft old"}; !slices.Equal(r.Notes, want) {
		t.Errorf("notes %q, want %q", r.Notes, want)
	}
}

func TestText(t *testing.T) {
	r := ask(t, []stats.Label{good("a", false)}, all(attempt(1, "a", true, true)), nil)
	r.Gates[1].Mode = "shadow"
	r.People = []trust.People{{First: "ann\n\x1b[31mfalse pass    0 of 99", Second: "bob"}}
	var b strings.Builder
	if err := r.Report("post.yaml", true).Write(&b, "text"); err != nil {
		t.Fatal(err)
	}
	if words := b.String(); strings.Contains(words, "\x1b") || strings.Contains(words, "\nfalse pass") || !strings.Contains(words, "\nann") {
		t.Errorf("a person's name shapes the report:\n%s", words)
	}
	for _, want := range []string{"false pass    1 of 1, 100.0 % (1.0-100.0)", "false block   unknown", "of 1 released labelled texts, 1 are bad: 100.0 %", "would have rejected 0 of 1, 0 rightly and 0 wrongly (labels)"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

// BenchmarkAsk counts 100,000 attempts with two verdicts each. 1,000 texts are labelled.
func BenchmarkAsk(b *testing.B) {
	var list []journal.Attempt
	var labels []stats.Label
	for n := range 100_000 {
		list = append(list, attempt(n, fmt.Sprint(n), n%3 > 0, n%5 > 0))
		if n%100 == 0 {
			labels = append(labels, good(fmt.Sprint(n), n%2 > 0))
		}
	}
	for b.Loop() {
		if r := ask(b, labels, all(list...), nil); r.Attempts != len(list) {
			b.Fatal(r.Attempts)
		}
	}
}

// TestAskedAnew checks that a gate runs only on labelled texts of its phase without a verdict, and
// that the rejections of a gate in shadow are counted apart.
func TestAskedAnew(t *testing.T) {
	labels := []stats.Label{good("a", true), good("b", false), good("c", true)}
	labels[2].Phase = "elsewhere"
	r := ask(t, labels, all(attempt(1, "a", true, true)), func(q *trust.Question) {
		q.Judge = func(g cascades.Gate, text string) (bool, bool) {
			if text != stats.TextDigest("b") {
				t.Errorf("%s is asked about %s", g.Name, text)
			}
			return false, g.Name == "long"
		}
	})
	long, tone := r.Gates[0], r.Gates[1]
	if long.Rerun != 1 || long.Natural.Texts() != (stats.Confusion{GoodPassed: 1, BadRefused: 1}) || tone.Rerun != 0 || tone.Natural.Texts().N() != 1 {
		t.Errorf("long %+v, tone %+v", long.Natural, tone.Natural)
	}
	long.Mode = "shadow"
	var b strings.Builder
	if err := r.Report("post.yaml", true).Write(&b, "text"); err != nil || !strings.Contains(b.String(), "would have rejected 0 of 1, 0 rightly") || !strings.Contains(b.String(), "rerun on      1 labelled text ") {
		t.Error(err, b.String())
	}
}
