// Package batch runs a cascade on every row of a set: production batches, and
// evaluations that say how often it accepts, at what cost, and how often it is
// right.
//
// A set is a file of rows, JSON Lines or CSV, each an input. It is streamed: what
// a batch holds in memory does not grow with it. Every row is a run of its own,
// kept by the runner's journal under a name that is made of the batch and of the
// row, and the batch's name is made of what it is: the cascade's files, the model
// that is asked, the set. So the same batch, begun again after whatever ended it,
// goes on: a row that has finished is read back and not paid for again, one that
// was in flight is resumed.
//
// Rows are done side by side and told in the order of the set: a row that is done
// before its turn waits, and where too much waits no further row is begun. A row
// that cannot be read, or that fails, is told and stops nothing else.
//
// What the rows came to is counted by a tally as they are done, and told by a
// [Report].
//
// Begin with [Batch] here, then rows.go, which reads a set, and window.go, which keeps
// its order.
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
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
)

// Runs begins runs, or goes on with them: a [runner.Runner] with a journal.
type Runs interface {
	Run(ctx context.Context, c *cascades.Cascade, input map[string]any, options ...runner.RunOption) (runner.Result, error)
	Resume(ctx context.Context, id string, options ...runner.Option) (runner.Result, error)
}

// A Batch is a cascade and a set, and how it is to be done.
type Batch struct {
	Cascade  *cascades.Cascade
	Set      *Set
	Model    string         // that replaces the cascade's own, as [runner.WithModelName] has it
	Name     string         // tells batches apart that are else the same; may be ""
	Input    map[string]any // of every row, where the row has no other
	Times    int            // how often each row is done; 0 is once
	Parallel int            // how many runs at the same time; 0 is one
	Budget   Budget
	Settings map[string]string // kept with every run

	// Answers gives who answers a run, for that run alone: so a model that remembers
	// what it has said, as a script does, says the same of every row. It is called by
	// several at the same time; nil for the model of the runner.
	Answers func() model.Model
	// Took tells how long a run took, from its beginning to its end, that was begun
	// before; nil for not known.
	Took func(id string) time.Duration
	// Told is called with every outcome as it comes, in no order, by one at a time;
	// nil for nobody.
	Told func(Outcome)
	// Result is called with every outcome in the order of the set. An error of it
	// ends the batch.
	Result func(Outcome) error

	against *Baseline // nil for none
}

// A Budget bounds a batch: once it is spent, no further row is begun. Those that
// are under way come to their end, so that it may be passed by what so many runs
// spend at most. Zero is no bound. What earlier starts have spent counts, but for
// time.
type Budget struct {
	MaxCalls   int
	MaxTokens  int
	MaxCostUSD float64
	MaxTime    time.Duration
}

// An Outcome is what a row came to, once.
type Outcome struct {
	Row      int          `json:"row"`            // from 1
	Line     int          `json:"line"`           // of the set, where the row begins, from 1
	Time     int          `json:"time,omitempty"` // from 1, where every row is done more than once
	RunID    string       `json:"run_id,omitempty"`
	Status   string       `json:"status"` // of the run; failed where there is none
	Output   any          `json:"output"`
	Expected *bool        `json:"expected,omitempty"` // whether the output is what the row expects; nil where that is not known
	Degraded bool         `json:"degraded,omitempty"` // the output did not pass every check
	Usage    model.Usage  `json:"usage"`
	Seconds  float64      `json:"seconds"`
	Error    *event.Error `json:"error"`
	Other    string       `json:"other_columns,omitempty"` // how the row's columns differ from the first row's

	Phases   []Visit         `json:"-"` // what became of each
	Verdicts []event.Verdict `json:"-"`
	first    bool            // every phase let its first attempt out
	expects  bool            // the row says what its output should be
	was      Shares          // what the baseline has of it
}

// A Visit is what became of a phase in a run.
type Visit struct {
	Phase    string
	Status   string
	Attempts int
}

// Unreadable is the code of the error of a row that cannot be read.
const Unreadable = "unreadable"

// Accepted tells whether the row has an output that passed every check.
func (o *Outcome) Accepted() bool { return o.Status == runner.Succeeded && !o.Degraded }

// The ends of a batch before its set's end.
var (
	ErrBudget  = errors.New("the batch's budget is spent")
	ErrChanged = errors.New("the set has changed while it was read")
)

// ID is the batch's name: the same for the same files of the cascade, the same
// model, input of every row and set, wherever these lie. How often a row is done
// and how many at a time make no other batch of it.
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
	input, _ := json.Marshal(b.Input) // plain values, in the order of their names
	add(string(input))
	add(b.Set.Digest)
	return "b" + hex.EncodeToString(h.Sum(nil))[:12]
}

// RunID is the name of the run of a row, done for the n-th time.
func RunID(batch string, row, n int) string {
	if n > 1 {
		return fmt.Sprintf("%s-%06d.%d", batch, row, n)
	}
	return fmt.Sprintf("%s-%06d", batch, row)
}

// Run does every row of the set that is not done. The error is nil where it came
// to the set's end, whatever the rows came to; [ErrBudget], [ErrChanged], that of
// ctx or of Result where it did not. Then the same batch goes on with what is left.
func (b *Batch) Run(ctx context.Context, runs Runs) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	d := &doing{Batch: b, runs: runs, id: b.ID(), began: time.Now(), window: newWindow(b.Result)}
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

// A job is a row, to be done for the n-th time.
type job struct {
	row   Row
	n     int
	place int // among all outcomes, from 0
}

// doing is a batch that is being done.
type doing struct {
	*Batch
	runs   Runs
	id     string
	began  time.Time
	window *window

	mu    sync.Mutex // guards spent and the calls of Told
	spent model.Usage
}

// each gives every row, as often as it is to be done, as soon as there is room for
// what it comes to.
func (d *doing) each(ctx context.Context, body func(job) error) error {
	place := 0
	return d.Set.Rows(d.Cascade, func(row Row) error {
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

// over tells whether the budget is spent.
func (d *doing) over() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	b := d.Budget
	return b.MaxCalls > 0 && d.spent.Calls >= b.MaxCalls || b.MaxTokens > 0 && d.spent.Tokens() >= b.MaxTokens ||
		b.MaxCostUSD > 0 && d.spent.CostUSD >= b.MaxCostUSD || b.MaxTime > 0 && time.Since(d.began) >= b.MaxTime
}

// do does one row and tells what it came to. The error ends the batch.
func (d *doing) do(ctx context.Context, j job) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	o := Outcome{Row: j.row.Number, Line: j.row.Line, Other: j.row.Other}
	if d.Times > 1 {
		o.Time = j.n
	}
	if j.row.Err != nil {
		o.Status, o.Error = runner.Failed, &event.Error{Code: Unreadable, Message: fmt.Sprintf("line %d: %v", j.row.Line, j.row.Err)}
	} else {
		if err := d.run(ctx, j, &o); err != nil {
			return err
		}
		if o.Status == runner.Cancelled && ctx.Err() != nil {
			return context.Cause(ctx) // it goes on when the batch does
		}
	}
	d.mu.Lock()
	d.spent = d.spent.Add(o.Usage)
	if d.Told != nil {
		d.Told(o)
	}
	d.mu.Unlock()
	return d.window.put(j.place, o)
}

// run makes the run of a row, goes on with it, or reads what it came to.
func (d *doing) run(ctx context.Context, j job, o *Outcome) error {
	input := map[string]any{}
	maps.Copy(input, d.Input)
	maps.Copy(input, j.row.Input)
	id := RunID(d.id, j.row.Number, j.n)
	began := time.Now()
	var own []runner.Option
	if d.Answers != nil {
		own = append(own, runner.WithModel(d.Answers()))
	}
	result, err := d.runs.Run(ctx, d.Cascade, input, d.options(id, own)...)
	before := errors.Is(err, runner.ErrRunExists)
	if before {
		began = time.Now()
		result, err = d.runs.Resume(ctx, id, own...)
	}
	o.Seconds = time.Since(began).Seconds()
	var why *runner.Error
	var wrong cascades.InputErrors
	switch {
	case errors.As(err, &wrong): // no run is kept
	case err != nil && !errors.As(err, &why):
		o.RunID, o.Status, o.Error = id, runner.Failed, &event.Error{Code: runner.Failed, Message: err.Error()}
		return nil
	default:
		o.RunID = id
	}
	o.note(result)
	if d.Took != nil && before {
		if took := d.Took(id); took > 0 {
			o.Seconds = took.Seconds()
		}
	}
	o.judge(j.row, input)
	if d.against != nil {
		if o.was, err = d.against.was(ctx, j.row, j.n, input); err != nil {
			return err
		}
	}
	return nil
}

// options are those of the run of that name, and own.
func (d *doing) options(id string, own []runner.Option) []runner.RunOption {
	list := []runner.RunOption{runner.WithRunID(id), runner.WithSettings(d.Settings)}
	for _, o := range own {
		list = append(list, o)
	}
	return list
}

// judge holds the output against what the row expects.
func (o *Outcome) judge(row Row, input map[string]any) {
	o.expects = row.Expect != nil
	if o.Status == runner.Succeeded && o.expects {
		o.Expected = row.Expect.Met(o.Output, input)
	}
}

// note takes over what a run came to.
func (o *Outcome) note(r runner.Result) {
	o.Status, o.Output, o.Usage, o.Error = r.Status, r.Output, r.Usage, r.Error
	o.Degraded, o.Verdicts = len(r.Degraded) > 0, r.Verdicts
	for _, p := range r.Phases {
		o.Phases = append(o.Phases, Visit{p.Name, p.Status, p.Attempts})
	}
	o.first = o.Accepted() && !slices.ContainsFunc(o.Phases, func(v Visit) bool { return v.Attempts > 1 })
}
