package runner_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
)

// instant answers immediately, so that the benchmark measures the engine alone.
var instant = model.Func(func(context.Context, model.Request) (model.Response, error) {
	return model.Response{Text: "a text", Usage: model.Usage{Calls: 1}}, nil
})

func parsed(tb testing.TB, r *runner.Runner, source string) *cascades.Cascade {
	tb.Helper()
	c, err := cascades.Parse("bench.yaml", []byte(source), nil, r.Known())
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func newRunner(tb testing.TB, options ...runner.Option) *runner.Runner {
	tb.Helper()
	r, err := runner.New(options...)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

func mustRun(tb testing.TB, r *runner.Runner, c *cascades.Cascade) {
	tb.Helper()
	if _, err := r.Run(context.Background(), c, nil); err != nil {
		tb.Fatal(err)
	}
}

// BenchmarkTurn measures the engine's cost of a turn without the model: with a
// sink, a template and, in the second case, three checks. One operation is one
// turn.
func BenchmarkTurn(b *testing.B) {
	for name, extra := range map[string]string{
		"bare":  "",
		"gated": "\n    rules: {max_turns: 100, turn_prompt: 'Turn {{ turn }} of {{ max_turns }}: improve it.'}\n    wards:\n      turn: [{expr: 'len(content) > 2'}, {validator: non_empty}, {validator: max_length, with: {max: 100}}]",
	} {
		b.Run(name, func(b *testing.B) {
			if extra == "" {
				extra = "\n    rules: {max_turns: 100}"
			}
			events := 0
			r := newRunner(b, runner.WithModel(instant), runner.WithSink(event.Func(func(event.Event) { events++ })))
			c := parsed(b, r, "cascade_id: bench\nphases:\n  - name: a\n    instructions: Write."+extra)
			b.ReportAllocs()
			for n := 0; n < b.N; n += 100 {
				mustRun(b, r, c)
			}
		})
	}
}

// BenchmarkPhases runs cascades with 1 to 1,000 phases. An operation is a phase
// with one turn, so the time must not grow.
func BenchmarkPhases(b *testing.B) {
	for _, n := range []int{1, 10, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var source strings.Builder
			fmt.Fprintf(&source, "cascade_id: bench\nbudget: {max_phases: %d}\nphases:\n", n)
			for i := range n {
				fmt.Fprintf(&source, "  - {name: phase_%d, instructions: Write.}\n", i)
			}
			r := newRunner(b, runner.WithModel(instant))
			c := parsed(b, r, source.String())
			b.ReportAllocs()
			b.ResetTimer()
			for done := 0; done < b.N; done += n {
				mustRun(b, r, c)
			}
		})
	}
}

// BenchmarkThousandRuns runs 1,000 runs at the same time in one process and
// reports their memory.
func BenchmarkThousandRuns(b *testing.B) {
	const runs = 1000
	var arrived, left sync.WaitGroup
	release := make(chan struct{})
	waiting := model.Func(func(context.Context, model.Request) (model.Response, error) {
		arrived.Done()
		<-release
		return model.Response{Text: strings.Repeat("a text ", 100), Usage: model.Usage{Calls: 1}}, nil
	})
	r := newRunner(b, runner.WithModel(waiting))
	c := parsed(b, r, "cascade_id: bench\nphases:\n  - {name: a, instructions: 'Write about {{ input.x }}.', wards: {post: [{validator: non_empty}]}}")
	for b.Loop() {
		before := heap()
		release = make(chan struct{})
		arrived.Add(runs)
		for range runs {
			left.Go(func() { r.Run(context.Background(), c, map[string]any{"x": strings.Repeat("x", 1000)}) })
		}
		arrived.Wait()
		b.ReportMetric(float64(heap()-before)/(1<<20), "MB/1000runs")
		close(release)
		left.Wait()
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}

// BenchmarkEach runs a tool that costs nothing for 10,000 items, with a sink.
// One operation is a whole run. The memory is that of the finished run.
func BenchmarkEach(b *testing.B) {
	free := tool.New("add", "Add.", func(_ context.Context, a struct {
		A int `json:"a"`
	}) (any, error) {
		return a.A + 1, nil
	}).WithEffect(tool.None)
	events := 0
	r := newRunner(b, runner.WithTools(free), runner.WithSink(event.Func(func(event.Event) { events++ })))
	c := parsed(b, r, "cascade_id: many\nphases: [{name: all, each: {in: '{{ input.list }}', max_items: 10000}, tool: add, inputs: {a: '{{ item }}'}}]")
	list := make([]any, 10_000)
	for i := range list {
		list[i] = i
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for b.Loop() {
		res, err := r.Run(context.Background(), c, map[string]any{"list": list})
		if err != nil || len(res.Output.([]any)) != len(list) {
			b.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.HeapSys-before.HeapSys)/1e6, "MB")
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/1e4, "µs/item")
}
