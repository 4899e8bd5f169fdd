package batch_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed61713e19/capstan/internal/measures/batch"
	"github.com/seed61713e19/capstan/internal/measures/stats"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/model"
)

func value(t testing.TB, text string) any {
	t.Helper()
	v, err := schema.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

const gated = `
cascade_id: gated
inputs_schema: {topic: what about}
phases:
  - name: say
    instructions: "{{ input.topic }}"
    wards: {post: [{validator: contains, with: {text: owl}, mode: retry, max_attempts: 2}, {validator: excludes, with: {text: bad}}]}
`

// An author answers with the topic and counts its calls.
type author struct {
	mu    sync.Mutex
	asked map[string]int // by the run's name
	stop  func(asked int)
	all   int
}

func (a *author) Call(ctx context.Context, r model.Request) (model.Response, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked[r.Run]++
	a.all++
	if a.stop != nil {
		a.stop(a.all)
	}
	if ctx.Err() != nil {
		return model.Response{}, context.Cause(ctx)
	}
	topic := r.Messages[0].Content
	if topic == "breaks" {
		return model.Response{}, &model.Failure{Class: model.Rejected, Message: "no"}
	}
	if topic == "learns" && len(r.Messages) > 1 {
		topic = "owl"
	}
	return model.Response{Text: topic, Finish: "stop", Usage: model.Usage{Calls: 1, InputTokens: 1, CostUSD: 0.5}}, nil
}

// A bench is a runner with its own journal and author.
type bench struct {
	*runner.Runner
	*author
	journal *journal.Journal
}

func newBench(t testing.TB) *bench {
	t.Helper()
	j, err := journal.Open(filepath.Join(t.TempDir(), "runs.db"), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	b := &bench{author: &author{asked: map[string]int{}}, journal: j}
	if b.Runner, err = runner.New(runner.WithModel(b.author), runner.WithJournal(j)); err != nil {
		t.Fatal(err)
	}
	return b
}

func topics(list ...string) string {
	var b strings.Builder
	for _, topic := range list {
		fmt.Fprintf(&b, "{\"topic\": %q}\n", topic)
	}
	return b.String()
}

// Outcomes are in the order of the dataset. A failed row stops no other, and a second batch makes
// no calls.
func TestBatch(t *testing.T) {
	bench := newBench(t)
	text := "{\"topic\": \"an owl\", \"expect\": \"an owl\"}\n" + topics("a bat", "learns", "a bad owl", "breaks") + "nonsense\n{\"tpic\": 1}\n" + topics("owl")
	set := written(t, "s.jsonl", text)
	want := []string{"1 succeeded", "2 exhausted", "3 succeeded", "4 blocked", "5 failed", "6 failed", "7 failed", "8 succeeded"}
	for _, parallel := range []int{1, 8, 3} {
		var got []string
		b := &batch.Batch{Cascade: parsed(t, gated), Dataset: set, Parallel: parallel, Result: func(o batch.Outcome) error {
			got = append(got, fmt.Sprint(o.Row, " ", o.Status))
			return nil
		}}
		report, err := b.Evaluate(t.Context(), bench, nil)
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%v: got %q", err, got)
		}
		if r := report; r.Accepted.K != 3 || r.Blocked.K != 1 || r.Exhausted.K != 1 || r.Failed.K != 3 || r.Unreadable != 1 || r.FirstTry.K != 2 ||
			r.Runs != 8 || r.Rows != 8 || r.Quality.Right.K != 1 || r.Quality.Overall.N != 1 {
			t.Errorf("report %+v", r)
		}
		if r := report; len(r.Attempts) != 2 || r.Attempts[0].Accepted.K != 2 || r.Attempts[0].Accepted.N != 5 || r.Attempts[1].Accepted.K != 1 || r.Attempts[1].Accepted.N != 2 {
			t.Errorf("attempts %+v", r.Attempts)
		}
	}
	// A failed row is tried again.
	for run, n := range bench.asked {
		if !strings.HasSuffix(run, "-000005") && n > 2 {
			t.Errorf("run %s was asked %d times", run, n)
		}
	}
	if n := bench.all; n != 2+2+1+1+1+3 {
		t.Errorf("%d calls", n)
	}
}

// The name of a batch does not depend on the location of files.
func TestID(t *testing.T) {
	b := batch.Batch{Cascade: parsed(t, gated), Dataset: written(t, "a.jsonl", topics("a"))}
	same := batch.Batch{Cascade: parsed(t, gated), Dataset: written(t, "b.jsonl", topics("a")), Times: 3, Parallel: 9}
	if b.ID() != same.ID() {
		t.Error("the same batch has two names")
	}
	for _, other := range []batch.Batch{
		{Cascade: parsed(t, gated+"\n"), Dataset: b.Dataset}, {Cascade: b.Cascade, Dataset: written(t, "a.jsonl", topics("b"))},
		{Cascade: b.Cascade, Dataset: b.Dataset, Model: "m"}, {Cascade: b.Cascade, Dataset: b.Dataset, Name: "m"}, {Cascade: b.Cascade, Dataset: b.Dataset, Input: map[string]any{"m": 1}},
	} {
		if other.ID() == b.ID() {
			t.Errorf("another batch has the same name: %+v", other)
		}
	}
}

// An interrupted batch continues.
func TestGoesOn(t *testing.T) {
	bench := newBench(t)
	set := written(t, "s.jsonl", strings.Repeat(topics("an owl"), 40))
	b := &batch.Batch{Cascade: parsed(t, gated), Dataset: set, Parallel: 4, Budget: batch.Budget{MaxCostUSD: 5}}
	if _, err := b.Evaluate(t.Context(), bench, nil); !errors.Is(err, batch.ErrBudget) {
		t.Fatalf("got %v", err)
	}
	if n := bench.all; n < 10 || n > 14 {
		t.Fatalf("%d calls of 0.5 for a budget of 5", n)
	}
	b.Budget = batch.Budget{}
	ctx, cancel := context.WithCancel(t.Context())
	bench.stop = func(n int) {
		if n == 20 {
			cancel()
		}
	}
	if report, err := b.Evaluate(ctx, bench, nil); !errors.Is(err, context.Canceled) || report.Runs >= 40 {
		t.Fatalf("got %v after %d runs", err, report.Runs)
	}
	bench.stop = nil
	report, err := b.Evaluate(t.Context(), bench, nil)
	if err != nil || report.Accepted.K != 40 || report.Usage.Calls != 40 || report.Usage.CostUSD != 20 {
		t.Fatalf("got %v, %+v", err, report)
	}
	for run, n := range bench.asked {
		if n > 2 { // that was cut, and asked again
			t.Errorf("run %s was asked %d times", run, n)
		}
	}
}

// Rows with several runs have pass@k and pass^k. Compared with the same rows, only differences
// beyond chance count.
func TestAgainst(t *testing.T) {
	bench := newBench(t)
	rows := strings.Repeat(topics("an owl"), 10) + strings.Repeat(topics("a bat"), 10)
	set := written(t, "s.jsonl", rows)
	before := &batch.Batch{Cascade: parsed(t, gated), Dataset: set, Times: 2, Parallel: 2}
	report, err := before.Evaluate(t.Context(), bench, nil)
	if err != nil || len(report.Pass) != 2 || report.Pass[1].Any.Value != 0.5 || report.Pass[1].All.N != 20 {
		t.Fatalf("%v: %+v", err, report.Pass)
	}
	find := func(ctx context.Context, id string) (r engine.Result, input map[string]any, err error) {
		run, err := bench.journal.Run(ctx, id)
		if err != nil {
			return r, nil, err
		}
		r, err = bench.journal.Result(ctx, id)
		return r, run.Start.Input, err
	}
	against := &batch.Baseline{Batch: before.ID(), Find: find}
	after := &batch.Batch{Cascade: parsed(t, strings.Replace(gated, "text: owl", "text: a", 1)), Dataset: set}
	report, err = after.Evaluate(t.Context(), bench, against)
	if err != nil || report.Baseline.Rows != 20 || report.Baseline.Unpaired != 0 {
		t.Fatalf("%v: %+v", err, report.Baseline)
	}
	for _, d := range report.Baseline.Changes {
		if want := d.Measure == "accepted" || d.Measure == "first_try" || d.Measure == "calls" || d.Measure == "cost_usd"; d.Differs != want || d.Measure == "seconds" {
			t.Errorf("%s differs: %v", d.Measure, d.Differs)
		}
	}
	// Rows with another input are not compared.
	other := &batch.Batch{Cascade: after.Cascade, Dataset: written(t, "s.jsonl", strings.Replace(rows, "an owl", "two owls", 1))}
	if report, err = other.Evaluate(t.Context(), bench, against); err != nil || report.Baseline.Rows != 19 || report.Baseline.Unpaired != 1 {
		t.Fatalf("%v: %+v", err, report.Baseline)
	}
	// Rows that only one batch has are not compared either.
	for n, set := range map[int]*batch.Dataset{15: written(t, "s.jsonl", strings.Join(strings.SplitAfter(rows, "\n")[:15], "")), 25: written(t, "s.jsonl", rows+strings.Repeat(topics("more"), 5))} {
		one := &batch.Batch{Cascade: after.Cascade, Dataset: set}
		if report, err = one.Evaluate(t.Context(), bench, against); err != nil || report.Baseline.Rows != min(n, 20) || report.Baseline.Unpaired != 5 ||
			!strings.Contains(report.Report().Text.String(), ", 5 in one alone") || report.Baseline.Changes[0].Change.N != min(n, 20) {
			t.Errorf("%d rows: %v: %+v", n, err, report.Baseline)
		}
	}
	against.Batch = "b000000000000"
	calls := bench.all
	other.Name = "not begun"
	if _, err = other.Evaluate(t.Context(), bench, against); !errors.Is(err, runner.ErrNoRun) || bench.all != calls {
		t.Errorf("a baseline that is not there: %v, %d calls", err, bench.all-calls)
	}
}

// An interval counts rows. Five runs of each of 20 rows show no more than 20 runs, if the runs of a
// row are equal.
func TestIntervalByRow(t *testing.T) {
	bench := newBench(t)
	set := written(t, "s.jsonl", strings.Repeat(topics("an owl"), 10)+strings.Repeat(topics("a bat"), 10))
	of := func(times int) batch.Result {
		b := &batch.Batch{Cascade: parsed(t, gated), Dataset: set, Name: fmt.Sprint(times), Times: times, Parallel: 3}
		report, err := b.Evaluate(t.Context(), bench, nil)
		if err != nil || report.Accepted.N != 20*times {
			t.Fatalf("%v: %+v", err, report)
		}
		return report
	}
	once, often := of(1), of(5)
	for name, of := range map[string]func(batch.Result) stats.Interval{
		"accepted":   func(r batch.Result) stats.Interval { return r.Accepted.Interval(0.95) },
		"exhausted":  func(r batch.Result) stats.Interval { return r.Exhausted.Interval(0.95) },
		"first try":  func(r batch.Result) stats.Interval { return r.FirstTry.Interval(0.95) },
		"attempt 1":  func(r batch.Result) stats.Interval { return r.Attempts[0].Accepted.Interval(0.95) },
		"first gate": func(r batch.Result) stats.Interval { return r.Gates[0].First.Interval(0.95) },
	} {
		if a, b := of(once), of(often); math.Abs(a.Low-b.Low) > 0.03 || math.Abs(a.High-b.High) > 0.03 {
			t.Errorf("%s: %v by 20 runs, %v by 100 runs of the same rows", name, a, b)
		}
	}
}

// Tables list phases in the order of the file, and checks in the order of a phase.
func TestTablesFollowTheFile(t *testing.T) {
	bench := newBench(t)
	source := `
cascade_id: order
phases:
  - {name: say, instructions: an owl, wards: {post: [{validator: non_empty}, {validator: contains, with: {text: owl}}], pre: [{validator: non_empty}], turn: [{validator: max_length, with: {max: 99}}]}}
  - {name: ask, instructions: an owl, wards: {post: [{validator: non_empty}]}}
`
	b := &batch.Batch{Cascade: parsed(t, source), Dataset: written(t, "s.jsonl", "{}\n{}\n{}\n"), Parallel: 3}
	report, err := b.Evaluate(t.Context(), bench, nil)
	if err != nil {
		t.Fatal(err)
	}
	var gates, attempts []string
	for _, g := range report.Gates {
		gates = append(gates, g.Phase+" "+g.Check())
	}
	for _, a := range report.Attempts {
		attempts = append(attempts, a.Phase)
	}
	if want := []string{"say pre non_empty", "say turn max_length", "say post non_empty", "say post[1] contains", "ask post non_empty"}; !slices.Equal(gates, want) {
		t.Errorf("gates %q, want %q", gates, want)
	}
	if want := []string{"say", "ask"}; !slices.Equal(attempts, want) {
		t.Errorf("attempts %q, want %q", attempts, want)
	}
}

// pass@k and pass^k are unknown for rows with missing runs.
func TestPassOfTooFew(t *testing.T) {
	bench := newBench(t)
	b := &batch.Batch{Cascade: parsed(t, gated), Dataset: written(t, "s.jsonl", topics("an owl")), Times: 3, Parallel: 1, Budget: batch.Budget{MaxCalls: 2}}
	report, err := b.Evaluate(t.Context(), bench, nil)
	if !errors.Is(err, batch.ErrBudget) || report.Runs != 2 || len(report.Pass) != 3 {
		t.Fatalf("%v: %+v", err, report)
	}
	text, err := json.Marshal(report.Pass)
	if err != nil || strings.Contains(string(text), "NaN") {
		t.Fatalf("%s, %v", text, err)
	}
	for _, p := range report.Pass {
		if words := fmt.Sprintf("pass@%d", p.K); p.Any.N != 0 || p.All.N != 0 || !regexp.MustCompile(regexp.QuoteMeta(words)+` +unknown`).MatchString(report.Report().Text.String()) {
			t.Errorf("%s: %+v in\n%s", words, p, report.Report().Text.String())
		}
	}
	if !strings.Contains(string(text), `"value":null`) {
		t.Errorf("in JSON %s", text)
	}
	b.Budget = batch.Budget{}
	if report, err = b.Evaluate(t.Context(), bench, nil); err != nil || report.Pass[2].All.N != 1 || report.Pass[2].All.Value != 1 {
		t.Errorf("%v: %+v", err, report.Pass)
	}
}

// BenchmarkBatch runs 10,000 rows with stored runs, four at a time.
func BenchmarkBatch(b *testing.B) {
	const rows = 10_000
	set := written(b, "s.jsonl", strings.Repeat(topics("an owl"), rows))
	for b.Loop() {
		b.StopTimer()
		bench := newBench(b)
		b.StartTimer()
		one := &batch.Batch{Cascade: parsed(b, gated), Dataset: set, Parallel: 4}
		if report, err := one.Evaluate(b.Context(), bench, nil); err != nil || report.Accepted.K != rows {
			b.Fatalf("%v: %+v", err, report)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*rows), "ns/row")
}

// BenchmarkLargeSet runs datasets of 100 MB and 1 GB in rows of 100 KB, and reports the maximum
// memory. It does not grow with the dataset.
func BenchmarkLargeSet(b *testing.B) {
	line := topics(strings.Repeat("an owl of the wood ", 5300))
	for _, rows := range []int{1_000, 10_000} {
		b.Run(fmt.Sprint(rows*len(line)>>20, "MB"), func(b *testing.B) {
			name := filepath.Join(b.TempDir(), "s.jsonl")
			f, err := os.Create(name)
			if err != nil {
				b.Fatal(err)
			}
			for range rows {
				if _, err := f.WriteString(line); err != nil {
					b.Fatal(err)
				}
			}
			if err := f.Close(); err != nil {
				b.Fatal(err)
			}
			set, err := batch.Open(name)
			if err != nil {
				b.Fatal(err)
			}
			var most uint64
			for b.Loop() {
				one := &batch.Batch{Cascade: parsed(b, gated), Dataset: set, Parallel: 2, Progress: func(batch.Outcome) {
					var now runtime.MemStats
					runtime.ReadMemStats(&now)
					most = max(most, now.HeapInuse)
				}}
				if report, err := one.Evaluate(b.Context(), newBench(b), nil); err != nil || report.Accepted.N != rows {
					b.Fatalf("%v: %+v", err, report)
				}
			}
			b.ReportMetric(float64(most>>20), "MB-heap")
		})
	}
}

// The name of a check contains its moment, its position and its validator.
func TestCheckNames(t *testing.T) {
	for want, g := range map[string]batch.GateRate{
		"post contains":       {Moment: "post", Validator: "contains"},
		"post[1] contains":    {Moment: "post", Index: 1, Validator: "contains"},
		"post expr a == b":    {Moment: "post", Validator: "expr", Expr: "a == b"},
		"output_schema":       {Moment: "output_schema", Validator: "output_schema"},
		"loop_until contains": {Moment: "loop_until", Validator: "contains"},
	} {
		if got := g.Check(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
