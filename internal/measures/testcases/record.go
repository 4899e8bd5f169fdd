package testcases

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
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/model"
)

// A Run is a recorded run: its input, the answers of its effects, and its result.
type Run struct {
	ID      string
	Dir     string          // the folder of relative file names; "" for the working directory
	Files   []cascades.File // the file of the cascade first
	Input   map[string]any
	Model   string // replaced the default of the cascade
	Effects iter.Seq2[journal.Effect, error]
	Result  engine.Result
	Request func(at event.Path) (*model.Request, error) // of an answered model call
}

func newEffect(e journal.Effect) *effect {
	out := &effect{at: e.Path, kind: timeoutKind, response: e.Response, result: e.Result, finding: e.Finding, answer: e.Answer, timedOut: e.TimedOut}
	switch {
	case e.Response != nil:
		out.kind = callKind
	case e.Result != nil:
		out.kind = toolKind
	case e.Finding != nil:
		out.kind = findingKind
	case e.Answer != nil:
		out.kind = questionKind
	}
	return out
}

// Options are the options of Record.
type Options struct {
	Dir   string // of the test case; Record creates it
	Link  bool   // test the cascade file in use, not a copy of it
	Known cascades.Known
}

// A ReplayError means that a replay of the run has another result. Examples: branches competed for
// the rest of a budget, or a validator has changed.
type ReplayError struct{ Outcome Outcome }

// Error returns the first difference.
func (e *ReplayError) Error() string {
	return fmt.Sprintf("the run cannot be recorded as a test: its replay differs from it: %s", e.Outcome.Differences[0])
}

// Record writes a run as a test case. It replays the run first, and returns a *[ReplayError] if the
// result differs. The same run always gives the same bytes. A folder that is not empty must contain
// a test case, which is replaced.
func Record(ctx context.Context, run Run, o Options) (*Case, error) {
	if s := run.Result.Status; s == engine.Cancelled || s == "running" || s == "" {
		return nil, fmt.Errorf("run %s has not ended: resume it first", run.ID)
	}
	if len(run.Files) == 0 {
		return nil, fmt.Errorf("run %s: its cascade was not kept", run.ID)
	}
	if err := replaceable(o.Dir); err != nil {
		return nil, err
	}
	f := &recording{Run: run, known: o.Known, seed: run.ID}
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
	if outcome, _ := c.repeat(ctx, o.Known); !outcome.OK() {
		return nil, &ReplayError{outcome}
	}
	return c, nil
}

// replaceable returns an error if no test case may be written into a folder.
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

// A recording searches for the order of branches and candidates in which a replay has the same
// result.
type recording struct {
	Run
	known cascades.Known
	seed  string
	order int
	cut   bool // branches were cancelled after the error of another branch
}

// The maximum numbers of orders that are tried. Below maxStarts, branches only start in another
// order. From maxStarts on, any branch may run ahead. Five candidates have 120 orders.
const (
	maxStarts = 32
	maxOrders = 256
	maxSeeds  = 200
)

// replayed returns the first replay with the result of the run. It then removes the seed, or
// replaces it by a small number, if the result stays the same. The seed decides the order of
// candidates and all random choices.
func (f *recording) replayed(ctx context.Context) (*replay, error) {
	var other *ReplayError
	r, first := f.repeat(ctx)
	for err := first; err != nil; r, err = f.repeat(ctx) {
		if f.order++; !errors.As(err, &other) || f.order == maxStarts && !f.cut || f.order == maxOrders {
			return nil, first
		}
	}
	name := f.seed
	for n := range maxSeeds {
		if f.seed = ""; n > 0 {
			f.seed = strconv.Itoa(n)
		}
		if repeat, err := f.repeat(ctx); err == nil {
			return repeat, nil
		} else if !errors.As(err, &other) {
			return nil, err
		}
	}
	f.seed = name
	return r, nil
}

// repeat replays the run and compares the result.
func (f *recording) repeat(ctx context.Context) (*replay, error) {
	run := f.Run
	var recorded []*effect
	for e, err := range run.Effects {
		if err != nil {
			return nil, err
		}
		recorded = append(recorded, newEffect(e))
	}
	c, err := cascades.Load(run.Files[0].Name, cascades.Unpacked(run.Files), offline(f.known))
	if err != nil {
		return nil, err
	}
	var verdicts []verdict
	for _, v := range run.Result.Verdicts {
		verdicts = append(verdicts, newVerdict(v))
	}
	r := newReplay(ctx, recorded, verdicts)
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
	was := expected(run.Result, verdicts)
	was.Calls = got.Usage.Calls // a run that shares calls with another run counts only its own calls
	o := Outcome{Differences: compare(recorded, r, was, expected(got, r.verdicts()))}
	o.Differences = append(o.Differences, requests(run, r)...)
	if !o.OK() {
		return nil, &ReplayError{o}
	}
	return r, nil
}

// requests compares every request with the one that was sent.
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
			a.CacheEnd = b.CacheEnd // not stored in a journal
			return reflect.DeepEqual(a, b)
		})
		before, after := conversation(&sent, nil), conversation(e.request, nil)
		if same && before == after {
			continue
		}
		found = append(found, Difference{
			About: Request, Path: e.at, Phase: req.Phase, Message: "another request was sent",
			Diff: diff(conversation(&sent, req.Messages), conversation(e.request, allMessages(e, all))),
		})
	}
	return found
}

// pack returns the files of the test case.
func (f *recording) pack(r *replay, o Options) (map[string][]byte, error) {
	c := &Case{Dir: o.Dir, effects: r.asked}
	c.page = casePage{Version: formatVersion, Model: f.Model, Seed: f.seed, Order: f.order, Expect: expected(r.result, r.verdicts())}
	if !o.Link {
		c.page.Source = f.sourceOf(o.Dir, r.asked)
	}
	w := newWriter()
	input := map[string]any{}
	maps.Copy(input, f.Input)
	w.files[inputFile] = append(indented(input), '\n')
	if err := c.place(w, f.Files, o); err != nil {
		return nil, err
	}
	return w.files, w.page(c)
}

// place stores the files of the cascade, or links to the file in use.
func (c *Case) place(w *writer, files []cascades.File, o Options) error {
	if o.Link {
		return c.link(files[0].Name)
	}
	places, mapped := layout(files)
	for i, f := range files {
		w.files[path.Join(cascadeDir, places[i])] = f.Text
	}
	c.page.Cascade, c.page.Files = path.Join(cascadeDir, places[0]), mapped
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
	c.page.Cascade = filepath.ToSlash(linked)
	return err
}

// Update rewrites the expectations and the requests to those of an outcome. The cascade, the input
// and the answers do not change. It returns an error if a request was not recorded.
func (c *Case) Update(o Outcome) error {
	for _, d := range o.Differences {
		switch d.About {
		case Missing:
			return fmt.Errorf("%s needs an unrecorded reply: %s; run the cascade and record that run", c.Name, d.Path)
		case Invalid, Broken, Cancelled, Caught: // these do not depend on the files of the test case
			return fmt.Errorf("%s: %s", c.Name, d.Message)
		}
	}
	if o.replay == nil {
		return fmt.Errorf("%s has not been run", c.Name)
	}
	updated := *c
	updated.effects, updated.page.Expect = o.replay.asked, o.got
	w := newWriter()
	if err := w.page(&updated); err != nil {
		return err
	}
	return folder(c.Dir).save(w.files, effectsDir, textsDir)
}
