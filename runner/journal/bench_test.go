package journal

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
)

// quick is a host whose effects take no time.
type quick struct{ reply string }

func (q quick) Model(_ event.Path, req model.Request) (model.Response, error) {
	text := strings.ReplaceAll(q.reply, "{turn}", strconv.Itoa(req.Turn))
	return model.Response{Text: text, Usage: model.Usage{Calls: 1, InputTokens: 100, OutputTokens: 50, CostUSD: 0.001}}, nil
}
func (quick) Tool(event.Path, engine.Job) (tool.Result, error) {
	return tool.Result{Value: "done"}, nil
}
func (quick) Validate(event.Path, engine.Validation) (engine.Finding, error) {
	return engine.Finding{}, nil
}
func (quick) Ask(event.Path, engine.Question) (engine.Answer, error) {
	return engine.Answer{}, engine.ErrSuspended
}
func (q quick) Each(n, _ int, body func(engine.Host, int) error) error {
	for i := range n {
		if err := body(q, i); err != nil {
			return err
		}
	}
	return nil
}
func (q quick) Within(_ event.Path, _ time.Duration, body func(engine.Host) error) error {
	return body(q)
}
func (quick) Now() time.Time                { return time.Now() }
func (quick) Stopped() error                { return nil }
func (quick) Checkpoint(engine.State) error { return nil }
func (quick) Emit(event.Event)              {}

// A talker runs a conversation of one phase over a host, as the engine does: a
// turn is three events, a message in each direction and one effect.
type talker struct {
	h      engine.Host
	id     string
	thread *model.Thread
	turn   int
	reply  string
}

func newTalker(h engine.Host, id, reply string) *talker {
	h.Emit(event.Event{Kind: event.RunStarted, RunID: id, CascadeID: "bench", Input: map[string]any{}})
	h.Emit(event.Event{Kind: event.PhaseStarted, Path: "talk", Phase: "talk"})
	h.Emit(event.Event{Kind: event.AttemptStarted, Path: "talk/attempt[1]", Phase: "talk", Attempt: 1})
	return &talker{h: h, id: id, thread: model.NewThread(model.Message{Role: model.User, Content: "Let us talk."}), reply: reply}
}

// take runs one turn and returns the duration of its effect.
func (k *talker) take(tb testing.TB) time.Duration {
	turn := k.turn
	k.turn++
	where := event.Path("talk/attempt[1]").At("turn", turn)
	at := where.Join("model")
	k.h.Emit(event.Event{Kind: event.TurnStarted, Path: where, Phase: "talk", Attempt: 1, Turn: &turn})
	if turn > 0 {
		k.thread.Append(model.Message{Role: model.User, Content: fmt.Sprintf("Turn %d: %s", turn, k.reply)})
	}
	req := model.Request{Model: "m", Messages: k.thread.Messages(), Thread: k.thread, Phase: "talk", Attempt: 1, Turn: turn, Key: k.id + ":" + string(at)}
	began := time.Now()
	k.h.Emit(event.Event{
		Kind: event.ModelCalled, Path: at, Phase: "talk", Attempt: 1, Turn: &turn, Request: &req,
		Conversation: "talk/attempt[1]/turn[0]/model", Before: max(2*turn-1, 0),
	})
	resp, err := k.h.Model(at, req)
	if err != nil {
		tb.Error(err)
	}
	k.h.Emit(event.Event{Kind: event.ModelReplied, Path: at, Phase: "talk", Attempt: 1, Turn: &turn, Response: &resp})
	took := time.Since(began)
	k.thread.Append(model.Message{Role: model.Assistant, Content: resp.Text})
	return took
}

func median(list []time.Duration) float64 {
	slices.Sort(list)
	return float64(list[len(list)/2].Nanoseconds()) / 1e3
}

func benchJournal(b *testing.B, o Options) *Journal {
	b.Helper()
	j, err := Open(filepath.Join(b.TempDir(), "j.db"), o)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { j.Close() })
	return j
}

const sentence = "A sentence of some eighty bytes, as people and models say them to each other.\n"

// BenchmarkEffect measures the cost of the journal for one effect of one run, with its
// events. BenchmarkEffectOf64 measures the same for many concurrent runs.
func BenchmarkEffect(b *testing.B) {
	for _, bench := range []struct {
		name string
		o    Options
		size int
	}{{"small", Options{}, 1}, {"long", Options{}, 40}, {"power", Options{Power: true}, 1}} {
		b.Run(bench.name, func(b *testing.B) {
			j := benchJournal(b, bench.o)
			r := begin(b, j, runner.Start{RunID: "run"})
			text := strings.Repeat(sentence, bench.size)
			k := newTalker(r.Host(quick{"Reply {turn}: " + text}), "run", text)
			var took []time.Duration
			for b.Loop() {
				took = append(took, k.take(b))
			}
			b.ReportMetric(median(took), "median-µs/effect")
		})
	}
}

func BenchmarkEffectOf64(b *testing.B) {
	for name, o := range map[string]Options{"normal": {}, "power": {Power: true}} {
		b.Run(name, func(b *testing.B) {
			j := benchJournal(b, o)
			const runs = 64
			talkers := make([]*talker, runs)
			for i := range talkers {
				id := fmt.Sprintf("run%d", i)
				talkers[i] = newTalker(begin(b, j, runner.Start{RunID: id}).Host(quick{"Reply {turn}: " + sentence}), id, sentence)
			}
			turns := b.N/runs + 1
			b.ResetTimer()
			var all sync.WaitGroup
			for _, k := range talkers {
				all.Go(func() {
					for range turns {
						k.take(b)
					}
				})
			}
			all.Wait()
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(turns*runs), "µs/effect")
		})
	}
}

// fill stores finished runs of some turns each.
func fill(tb testing.TB, j *Journal, runs, turns int) {
	tb.Helper()
	var all sync.WaitGroup
	slots := make(chan struct{}, 64)
	for i := range runs {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			id := fmt.Sprintf("run%06d", i)
			r, err := j.Begin(runner.Start{RunID: id, CascadeID: "bench", Input: map[string]any{}})
			if err != nil {
				tb.Error(err)
				return
			}
			h := r.Host(quick{"Reply {turn}: " + sentence})
			k := newTalker(h, id, sentence)
			for range turns {
				k.take(tb)
			}
			result := engine.Result{RunID: id, CascadeID: "bench", Status: engine.Succeeded, Output: "done", Outputs: map[string]any{"talk": "done"}, Usage: model.Usage{Calls: turns}}
			for turn := range turns {
				yes := true
				v := event.Verdict{
					Path: event.Path("talk/attempt[1]").At("turn", turn).Join("ward[0]"), Phase: "talk", Attempt: 1, Turn: turn, Moment: "turn",
					Validator: "non_empty", Mode: "retry", Valid: &yes, Reason: "the text is not empty",
				}
				h.Emit(event.Event{Kind: event.VerdictGiven, Path: v.Path, Verdict: &v})
				result.Verdicts = append(result.Verdicts, v)
			}
			h.Emit(event.Event{Kind: event.RunFinished, RunID: id, Status: engine.Succeeded, Output: "done", Usage: &result.Usage})
			if err := r.End(result, nil); err != nil {
				tb.Error(err)
			}
		})
	}
	all.Wait()
}

func BenchmarkRuns(b *testing.B) {
	j := benchJournal(b, Options{noSync: true})
	fill(b, j, 10_000, 12)
	for b.Loop() {
		list, err := j.Runs(b.Context(), Filter{})
		if err != nil || len(list) != 10_000 || list[0].Events < 50 {
			b.Fatal(len(list), err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/op")
	began := time.Now()
	gates, err := j.Gates(b.Context(), "")
	if err != nil || len(gates) != 1 {
		b.Fatal(gates, err)
	}
	b.ReportMetric(float64(time.Since(began).Milliseconds()), "ms/gates")
}

func BenchmarkResult(b *testing.B) {
	j := benchJournal(b, Options{noSync: true})
	fill(b, j, 1, 25_000)
	for b.Loop() {
		r, err := j.Result(b.Context(), "last")
		if err != nil || len(r.Verdicts) != 25_000 {
			b.Fatal(len(r.Verdicts), err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/op")
	began := time.Now()
	n := 0
	for _, err := range j.Events(context.Background(), "last", 0, Brief) {
		if err != nil {
			b.Fatal(err)
		}
		n++
	}
	b.ReportMetric(float64(time.Since(began).Milliseconds()), "ms/events")
	if n < 100_000 {
		b.Fatal(n)
	}
}

// BenchmarkEvents writes the events of a run of 25,000 turns as JSON. It
// reports the peak of additional memory and the size of the output.
func BenchmarkEvents(b *testing.B) {
	made := benchJournal(b, Options{noSync: true})
	fill(b, made, 1, 25_000)
	file := fileOf(made)
	if err := made.Close(); err != nil {
		b.Fatal(err)
	}
	j, err := Open(file, Options{ReadOnly: true})
	if err != nil {
		b.Fatal(err)
	}
	defer j.Close()
	made = nil
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	for b.Loop() {
		var most, n, size uint64
		for e, err := range j.Events(b.Context(), "last", 0, News) {
			if err != nil {
				b.Fatal(err)
			}
			text, err := e.MarshalJSON()
			if err != nil {
				b.Fatal(err)
			}
			size += uint64(len(text))
			if n++; n%1000 == 0 {
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapInuse-min(m.HeapInuse, before.HeapInuse))
			}
		}
		b.ReportMetric(float64(most)/1e6, "MB-heap")
		b.ReportMetric(float64(size)/1e6, "MB-written")
	}
}
