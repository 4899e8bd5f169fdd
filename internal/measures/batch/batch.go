// Package batch runs a cascade on every row of a dataset, and measures how often it accepts, at
// what cost, and how often it is right.
//
// A [Dataset] is a file of rows (JSON Lines or CSV) that is read as a stream, so memory does not
// grow with it. Every row is a stored run. The name of the run consists of the name of the batch
// and the number of the row. The name of the batch is a digest of the cascade's files, the model
// and the dataset. Therefore the same batch continues after an interruption: finished rows are read
// back, and unfinished rows are resumed.
//
// Rows run in parallel, and their outcomes are reported in the order of the dataset (window.go). A
// row that cannot be read, or that fails, does not stop the others. A tally counts the outcomes for
// the [Result]. Begin with [Batch].
package batch

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
)

// Runs starts and resumes runs. A [runner.Runner] with a journal implements it.
type Runs interface {
	Run(ctx context.Context, c *cascades.Cascade, input map[string]any, options ...runner.RunOption) (engine.Result, error)
	Resume(ctx context.Context, id string, options ...runner.Option) (engine.Result, error)
}

// A Batch is a cascade, a dataset, and the way to run them.
type Batch struct {
	Cascade  *cascades.Cascade
	Dataset  *Dataset
	Model    string         // replaces the default of the cascade, see [runner.WithModelName]
	Name     string         // distinguishes batches that are otherwise the same; may be ""
	Input    map[string]any // of every row, unless the row has the input
	Times    int            // number of runs of each row; 0 means 1
	Parallel int            // maximum number of concurrent runs; 0 means 1
	Budget   Budget
	Settings map[string]string // stored with every run
	People   map[string]string // the answers to questions of human_input, by phase

	// NewModel returns the model for one run, so that a script starts from its beginning for every
	// row. It is called concurrently. If it is nil, the model of the runner is used.
	NewModel func() model.Model
	// Duration returns the time from the start to the end of a resumed run, or 0 if unknown. It may
	// be nil.
	Duration func(id string) time.Duration
	// Progress is called with every outcome when it is known, from one goroutine at a time. It may
	// be nil.
	Progress func(Outcome)
	// Result is called with every outcome in the order of the dataset. Its error ends the batch.
	Result func(Outcome) error

	baseline *Baseline // may be nil
}

// A Budget limits a batch. When it is exhausted, no further row starts, and running rows finish. So
// the costs of running rows may exceed it. Zero means no limit. The costs of earlier starts count.
// Their time does not.
type Budget struct {
	MaxCalls   int
	MaxTokens  int
	MaxCostUSD float64
	MaxTime    time.Duration
}

// An Outcome is the result of one run of a row. Its JSON is one line of results.
type Outcome struct {
	Row      int          `json:"row" jsonschema:"from 1"`
	Line     int          `json:"line" jsonschema:"of the set, where the row begins, from 1"`
	Time     int          `json:"time,omitempty" jsonschema:"from 1, where every row is done more than once"`
	RunID    string       `json:"run_id,omitempty" jsonschema:"the stored run, if there is one"`
	Status   string       `json:"status" jsonschema:"of the run; failed if there is none"`
	Output   any          `json:"output" jsonschema:"null unless succeeded"`
	Expected *bool        `json:"expected,omitempty" jsonschema:"whether the output is what the row expects, if that is known"`
	Degraded bool         `json:"degraded,omitempty" jsonschema:"the output did not pass every check"`
	Usage    model.Usage  `json:"usage"`
	Seconds  float64      `json:"seconds"`
	Error    *event.Error `json:"error" jsonschema:"of the run, or with the code unreadable"`
	Other    string       `json:"other_columns,omitempty" jsonschema:"how the columns of the row differ from those of the first row"`

	Phases   []engine.PhaseRecord `json:"-"`
	Verdicts []event.Verdict      `json:"-"`
	first    bool                 // every phase released its first attempt
	expects  bool                 // the row has an expected output
	earlier  RowSums              // of the row in the baseline
}

// Unreadable is the error code of a row that cannot be read.
const Unreadable = "unreadable"

// Accepted reports whether the run has an output that passed every check.
func (o *Outcome) Accepted() bool { return o.Status == engine.Succeeded && !o.Degraded }

// The errors that end a batch early.
var (
	ErrBudget  = errors.New("the batch's budget is spent")
	ErrChanged = errors.New("the set has changed while it was read")
)

// ID returns the name of the batch. It depends on the contents of files, the model, the input and
// the answers, but not on the location of files, Times or Parallel.
func (b *Batch) ID() string {
	h := sha256.New()
	add := func(text string) {
		h.Write(binary.AppendUvarint(nil, uint64(len(text))))
		h.Write([]byte(text))
	}
	for _, f := range b.Cascade.Files {
		add(path.Base(f.Name))
		add(string(f.Text))
	}
	add(b.Model)
	add(b.Name)
	input, _ := json.Marshal(b.Input) // plain values with sorted keys
	add(string(input))
	add(b.Dataset.Digest)
	if len(b.People) > 0 {
		people, _ := json.Marshal(b.People)
		add(string(people))
	}
	return "b" + hex.EncodeToString(h.Sum(nil))[:12]
}

// RunID returns the name of the n-th run of a row.
func RunID(batch string, row, n int) string {
	if n > 1 {
		return fmt.Sprintf("%s-%06d.%d", batch, row, n)
	}
	return fmt.Sprintf("%s-%06d", batch, row)
}

// Run runs every row that has not finished. It returns nil at the end of the dataset, whatever the
// outcomes are. Otherwise it returns [ErrBudget], [ErrChanged], or the error of ctx or of Result.
// The same batch can then continue.
func (b *Batch) Run(ctx context.Context, runs Runs) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	d := &execution{Batch: b, runs: runs, id: b.ID(), started: time.Now(), window: newWindow(b.Result)}
	defer context.AfterFunc(ctx, d.window.close)()
	var working sync.WaitGroup
	slots := make(chan struct{}, max(b.Parallel, 1))
	err := d.each(ctx, func(j job) error {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if d.over() {
			return ErrBudget
		}
		working.Go(func() {
			defer func() { <-slots }()
			if err := d.do(ctx, j); err != nil {
				stop(err)
			}
		})
		return nil
	})
	working.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// A job is the n-th run of a row.
type job struct {
	row   Row
	n     int
	place int // among all outcomes, from 0
}

// An execution is a running batch.
type execution struct {
	*Batch
	runs    Runs
	id      string
	started time.Time
	window  *window

	mu    sync.Mutex // guards spent and calls of Progress
	spent model.Usage
}

// each calls body for every run of every row, when the window has space for its outcome.
func (d *execution) each(ctx context.Context, body func(job) error) error {
	place := 0
	return d.Dataset.Rows(d.Cascade, func(row Row) error {
		for n := 1; n <= max(d.Times, 1); n++ {
			if !d.window.enter(place) {
				return context.Cause(ctx)
			}
			if err := body(job{row, n, place}); err != nil {
				return err
			}
			place++
		}
		return nil
	})
}

// over reports whether the budget is exhausted.
func (d *execution) over() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	b := d.Budget
	return b.MaxCalls > 0 && d.spent.Calls >= b.MaxCalls || b.MaxTokens > 0 && d.spent.Tokens() >= b.MaxTokens ||
		b.MaxCostUSD > 0 && d.spent.CostUSD >= b.MaxCostUSD || b.MaxTime > 0 && time.Since(d.started) >= b.MaxTime
}

// do runs one job. Its error ends the batch.
func (d *execution) do(ctx context.Context, j job) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	o := Outcome{Row: j.row.Number, Line: j.row.Line, Other: j.row.Other}
	if d.Times > 1 {
		o.Time = j.n
	}
	if j.row.Err != nil {
		o.Status, o.Error = engine.Failed, &event.Error{Code: Unreadable, Message: fmt.Sprintf("line %d: %v", j.row.Line, j.row.Err)}
	} else {
		if err := d.run(ctx, j, &o); err != nil {
			return err
		}
		if o.Status == engine.Cancelled && ctx.Err() != nil {
			return context.Cause(ctx) // it continues with the batch
		}
	}
	d.mu.Lock()
	d.spent = d.spent.Add(o.Usage)
	if d.Progress != nil {
		d.Progress(o)
	}
	d.mu.Unlock()
	return d.window.put(j.place, o)
}

// run starts or resumes the run of a row, or reads its result.
func (d *execution) run(ctx context.Context, j job, o *Outcome) error {
	input := map[string]any{}
	maps.Copy(input, d.Input)
	maps.Copy(input, j.row.Input)
	id := RunID(d.id, j.row.Number, j.n)
	started := time.Now()
	var own []runner.Option
	if d.NewModel != nil {
		own = append(own, runner.WithModel(d.NewModel()))
	}
	result, err := d.runs.Run(ctx, d.Cascade, input, d.options(id, own)...)
	before := errors.Is(err, runner.ErrRunExists)
	if before {
		started = time.Now()
		result, err = d.runs.Resume(ctx, id, own...)
	}
	o.Seconds = time.Since(started).Seconds()
	var runErr *engine.Error
	var inputErr cascades.InputErrors
	switch {
	case errors.As(err, &inputErr): // no run is stored
	case err != nil && !errors.As(err, &runErr):
		o.RunID, o.Status, o.Error = id, engine.Failed, &event.Error{Code: engine.Failed, Message: err.Error()}
		return nil
	default:
		o.RunID = id
	}
	o.setResult(result)
	if d.Duration != nil && before {
		if took := d.Duration(id); took > 0 {
			o.Seconds = took.Seconds()
		}
	}
	o.judge(j.row, input)
	if d.baseline != nil {
		if o.earlier, err = d.baseline.earlier(ctx, j.row, j.n, input); err != nil {
			return err
		}
	}
	return nil
}

// options returns the options of a run.
func (d *execution) options(id string, own []runner.Option) []runner.RunOption {
	list := []runner.RunOption{runner.WithRunID(id), runner.WithSettings(d.Settings)}
	for _, o := range own {
		list = append(list, o)
	}
	return list
}

// judge compares the output with the expectation of the row.
func (o *Outcome) judge(row Row, input map[string]any) {
	o.expects = row.Expect != nil
	if o.Status == engine.Succeeded && o.expects {
		o.Expected = row.Expect.Met(o.Output, input)
	}
}

// setResult copies the result of a run.
func (o *Outcome) setResult(r engine.Result) {
	o.Status, o.Output, o.Usage, o.Error = r.Status, r.Output, r.Usage, r.Error
	o.Degraded, o.Verdicts, o.Phases = len(r.Degraded) > 0, r.Verdicts, r.Phases
	o.first = o.Accepted() && !slices.ContainsFunc(o.Phases, func(p engine.PhaseRecord) bool { return p.Attempts > 1 })
}
