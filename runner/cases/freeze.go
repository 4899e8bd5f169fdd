package cases

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
)

// A Run is a recorded run: what it began with, what its effects came to, and
// what it came to itself.
type Run struct {
	ID      string
	Dir     string          // where it was begun: names of files are relative to it; "" for the working directory
	Files   []cascades.File // the cascade's own first
	Input   map[string]any
	Model   string // replaced the cascade's own default
	Effects iter.Seq2[Effect, error]
	Result  engine.Result
	Request func(at event.Path) (*model.Request, error) // of a model call that was answered
}

// An Effect is what one effect of a run came to. One of the last five is set.
// It has the fields of a journal's, and is converted from one.
type Effect struct {
	Path     event.Path
	Response *model.Response
	Result   *tool.Result
	Finding  *engine.Finding
	Answer   *engine.Answer
	TimedOut bool
}

func (e Effect) effect() *effect {
	out := &effect{at: e.Path, response: e.Response, result: e.Result, finding: e.Finding, answer: e.Answer, timedOut: e.TimedOut}
	switch {
	case e.Response != nil:
		out.kind = callKind
	case e.Result != nil:
		out.kind = toolKind
	case e.Finding != nil:
		out.kind = findingKind
	case e.Answer != nil:
		out.kind = questionKind
	default:
		out.kind = timeoutKind
	}
	return out
}

// Options say how a run is frozen.
type Options struct {
	Dir   string // of the case; made where it is not there
	Link  bool   // the case tests the cascade file in use, not a copy of it
	Known cascades.Known
}

// An Unfaithful is a run that cannot be frozen: done again from what was
// recorded, it does not come to the same. So it is where branches raced for the
// last of a budget, or where a validator is no longer the one that judged.
type Unfaithful struct{ Outcome Outcome }

// Error tells the first difference.
func (e *Unfaithful) Error() string {
	return fmt.Sprintf("the run cannot be recorded as a test: its replay differs from it: %s", e.Outcome.Differences[0])
}

// Freeze writes a run as a case. It does the run again from what was recorded,
// and writes nothing where that does not come to the same: an *[Unfaithful].
// The same run always gives the same bytes: no time, name of a run or place on
// a machine is among them. A directory that is not empty must be a case's,
// which is replaced.
func Freeze(ctx context.Context, run Run, o Options) (*Case, error) {
	if s := run.Result.Status; s == engine.Cancelled || s == "running" || s == "" {
		return nil, fmt.Errorf("run %s has not ended: resume it first", run.ID)
	}
	if len(run.Files) == 0 {
		return nil, fmt.Errorf("run %s: its cascade was not kept", run.ID)
	}
	if err := replaceable(o.Dir); err != nil {
		return nil, err
	}
	f := &freezing{Run: run, known: o.Known, seed: run.ID}
	r, err := f.replayed(ctx)
	if err != nil {
		return nil, err
	}
	files, err := f.pack(r, o)
	if err != nil {
		return nil, err
	}
	if err := folder(o.Dir).save(files, effectsDir, textsDir, cascadeDir); err != nil {
		return nil, err
	}
	c, err := Load(o.Dir)
	if err != nil {
		return nil, err
	}
	if o.Link {
		return c, nil
	}
	if outcome, _ := c.again(ctx, o.Known); !outcome.OK() {
		return nil, &Unfaithful{outcome}
	}
	return c, nil
}

// replaceable tells whether a case may be written into a directory.
func replaceable(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0:
		return nil
	case err != nil:
		return err
	}
	if !isCase(dir) {
		return fmt.Errorf("%s is not empty, and not a case", dir)
	}
	return nil
}

func isCase(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, headFile))
	return err == nil && info.Mode().IsRegular()
}

// A freezing looks for the way in which a recorded run comes to the same when
// it is done again.
type freezing struct {
	Run
	known cascades.Known
	seed  string
	order int
	cut   bool // branches were cancelled beside one that failed
}

// maxOrders and maxSeeds are how many orders of branches and of candidates are
// tried. Five candidates have 120 orders. Below maxStarts branches only begin in
// another order, from there on one may be ahead of another anywhere.
const (
	maxStarts = 32
	maxOrders = 256
	maxSeeds  = 200
)

// replayed does the run again in the first order of its branches that gives the
// same run. For the seed, on which the order hangs in which an evaluator is
// shown the candidates, and what is drawn by lot, it then takes none, or a small
// number, that gives the same as the run's name does, where there is one.
func (f *freezing) replayed(ctx context.Context) (*replay, error) {
	var other *Unfaithful
	r, first := f.again(ctx)
	for err := first; err != nil; r, err = f.again(ctx) {
		if f.order++; !errors.As(err, &other) || f.order == maxStarts && !f.cut || f.order == maxOrders {
			return nil, first
		}
	}
	name := f.seed
	for n := range maxSeeds {
		if f.seed = ""; n > 0 {
			f.seed = strconv.Itoa(n)
		}
		if again, err := f.again(ctx); err == nil {
			return again, nil
		} else if !errors.As(err, &other) {
			return nil, err
		}
	}
	f.seed = name
	return r, nil
}

// again does the run again, and holds it against what it was.
func (f *freezing) again(ctx context.Context) (*replay, error) {
	run := f.Run
	var recorded []*effect
	for e, err := range run.Effects {
		if err != nil {
			return nil, err
		}
		recorded = append(recorded, e.effect())
	}
	c, err := cascades.Load(run.Files[0].Name, cascades.Unpacked(run.Files), offline(f.known))
	if err != nil {
		return nil, err
	}
	r := newReplay(ctx, recorded, run.Result.Verdicts)
	r.ordered(f.order)
	r.open = f.programFiles()
	r.recorded = true
	r.phases, r.waits = run.Result.Phases, run.Result.Status == engine.Waiting
	r.tools = func(at event.Path) []model.Tool {
		req, err := run.Request(at)
		if err != nil {
			return nil
		}
		return req.Tools
	}
	got := r.run(c, engine.State{RunID: f.seed, Model: run.Model, Input: run.Input})
	f.cut = f.cut || r.cut
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	was := expected(run.Result, run.Result.Verdicts)
	was.calls = got.Usage.Calls // of a run that shares another's calls, the journal has counted its own
	o := Outcome{Differences: compare(recorded, r, was, expected(got, r.verdicts()))}
	o.Differences = append(o.Differences, requests(run, r)...)
	if !o.OK() {
		return nil, &Unfaithful{o}
	}
	return r, nil
}

// requests holds every request against the one that was sent.
func requests(run Run, r *replay) (found []Difference) {
	all := byPath(r.asked)
	for _, e := range r.asked {
		if e.kind != callKind || e.response == nil {
			continue
		}
		req, err := run.Request(e.at)
		if err != nil {
			return append(found, Difference{About: Request, Path: e.at, Message: err.Error()})
		}
		sent := *e.request
		sent.tools, sent.schema, sent.model = req.Tools, req.Schema, req.Model
		same := slices.EqualFunc(r.messages[e.at], req.Messages, func(a, b model.Message) bool {
			a.CacheEnd = b.CacheEnd // no journal has it
			return reflect.DeepEqual(a, b)
		})
		before, after := conversation(&sent, nil), conversation(e.request, nil)
		if same && before == after {
			continue
		}
		found = append(found, Difference{
			About: Request, Path: e.at, Phase: req.Phase, Message: "another request was sent",
			Diff: diff(conversation(&sent, req.Messages), conversation(e.request, whole(e, all))),
		})
	}
	return found
}

// pack makes the files of a case from a run that was done again.
func (f *freezing) pack(r *replay, o Options) (map[string][]byte, error) {
	c := &Case{Dir: o.Dir, model: f.Model, seed: f.seed, order: f.order, effects: r.asked}
	c.want = expected(r.result, r.verdicts())
	if !o.Link {
		c.source = f.sourceOf(o.Dir, r.asked)
	}
	w := newWriter()
	input := map[string]any{} // and not null
	maps.Copy(input, f.Input)
	w.files[inputFile] = append(indented(input), '\n')
	if err := c.place(w, f.Files, o); err != nil {
		return nil, err
	}
	return w.files, w.page(c)
}

// place puts the cascade into the case, or names the file that is in use.
func (c *Case) place(w *writer, files []cascades.File, o Options) error {
	if o.Link {
		return c.link(files[0].Name)
	}
	places, mapped := layout(files)
	for i, f := range files {
		w.files[path.Join(cascadeDir, places[i])] = f.Text
	}
	c.cascade, c.files = path.Join(cascadeDir, places[0]), mapped
	for name, p := range mapped {
		mapped[name] = path.Join(cascadeDir, p)
	}
	return nil
}

func (c *Case) link(name string) error {
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return err
	}
	file, err := filepath.Abs(filepath.FromSlash(name))
	if err != nil {
		return err
	}
	if _, err := runner.ReadFile(file); err != nil {
		return fmt.Errorf("link: %w", err)
	}
	linked, err := filepath.Rel(dir, file)
	c.cascade = filepath.ToSlash(linked)
	return err
}

// Update rewrites what the case expects, requests among it, to what a run of it
// was. The cascade, the input and the answers stay. Where the run asked for
// something that was not recorded there is nothing to expect, and nothing is
// written.
func (c *Case) Update(o Outcome) error {
	for _, d := range o.Differences {
		switch d.About {
		case Missing:
			return fmt.Errorf("%s needs an unrecorded reply: %s; run the cascade and record that run", c.Name, d.Path)
		case Invalid, Broken, Cancelled, Caught: // what a cascade asks of its checks is not the case's to change
			return fmt.Errorf("%s: %s", c.Name, d.Message)
		}
	}
	if o.replay == nil {
		return fmt.Errorf("%s has not been run", c.Name)
	}
	updated := *c
	updated.effects, updated.want = o.replay.asked, o.got
	w := newWriter()
	if err := w.page(&updated); err != nil {
		return err
	}
	return folder(c.Dir).save(w.files, effectsDir, textsDir)
}
