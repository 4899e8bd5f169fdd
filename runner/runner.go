// Package runner runs cascades: it is the library's front.
//
//	r, err := runner.New(runner.WithModel(m))
//	c, err := r.Load("post.yaml")
//	res, err := r.Run(ctx, c, map[string]any{"topic": "owls"})
//
// A text that Run returns has passed every blocking and retry ward on exactly that
// text. Without an output, the error is an *[Error]. Its Code tells a rejected text
// (blocked, exhausted) from a broken model, tool or validator (failed).
//
// A Runner has models, tools, validators and a journal, which options set. It is safe
// for concurrent use. Begin with New, then read Run.
package runner

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/files"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/internal/pins"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/builtins"
	"github.com/seed61713e19/capstan/validators/patterns"
)

// What a run gives and why it did not succeed are the engine's.
type (
	// Result is what a run came to.
	Result = engine.Result
	// Error is why a run did not succeed.
	Error = engine.Error
	// Question is put to a person by a phase's human_input.
	Question = engine.Question
	// Answer is a person's answer.
	Answer = engine.Answer
)

// The statuses of a run and, but for Succeeded, the codes of an [Error].
const (
	Succeeded  = engine.Succeeded
	Blocked    = engine.Blocked
	Exhausted  = engine.Exhausted
	Failed     = engine.Failed
	Waiting    = engine.Waiting
	OverBudget = engine.OverBudget
	Cancelled  = engine.Cancelled
)

// Invalid is the code of an [Error] that is the caller's: an input that the
// cascade does not take. The run's status is Failed.
const Invalid = engine.Invalid

// TakenOver is the code of an [Error] that says that another process goes on
// with the run: this one writes nothing of it any more and spends nothing more
// on it. The result's status is Failed; the run's own is what that process
// makes of it.
const TakenOver = engine.TakenOver

// A Runner runs cascades. It is safe for concurrent use and keeps nothing of a
// run that has ended.
type Runner struct {
	model      model.Model
	modelName  string
	validators validators.Set
	tools      tool.Set
	remote     cascades.Remote
	root       string
	tackle     []string
	missing    bool
	sinks      []event.Sink
	journal    Journal
	onText     func(at event.Path, phase string) func(text string)
	trace      func(ctx context.Context, run string, at event.Path) context.Context
	ask        func(context.Context, Question) (Answer, error)
	notices    *Notices
}

// An Option changes a runner under construction, or, given to [Runner.Run] or
// [Runner.Resume], that run alone: what it sets stands in for the runner's own,
// a sink is told beside the runner's. What the cascade names was settled when it
// was loaded, so that validators, tools and servers are given to [New].
type Option func(*Runner)

func (o Option) forRun(r *Runner, _ *Start) { o(r) }

// WithModel has phases and judges answered by m; a call that panics is one without an
// answer. One that is a [model.Host] is told of the providers of each cascade before
// its run begins.
func WithModel(m model.Model) Option { return func(r *Runner) { r.model = m } }

// WithModelName says what is asked in place of what cascades say, as
// [cascades.Chosen] has it: a name replaces their own default, not a phase's.
func WithModelName(name string) Option { return func(r *Runner) { r.modelName = name } }

// WithValidators adds validators that cascades may name, beside the built-in
// ones and those of [builtins.Register].
func WithValidators(list ...validators.Validator) Option {
	return func(r *Runner) { r.validators = r.validators.With(list...) }
}

// WithTools adds tools that cascades may name. A runner has none of its own:
// [tool.Builtins] gives those that come with Capstan.
func WithTools(list ...tool.Tool) Option {
	return func(r *Runner) { r.tools = r.tools.With(list...) }
}

// WithRemote lets cascades use validators and tools of MCP servers.
func WithRemote(m cascades.Remote) Option { return func(r *Runner) { r.remote = m } }

// WithRoot sets the folder that the file tools were given. The programs of validators
// with cwd: root run there, and cascades may name files below it. Default: the working
// directory.
func WithRoot(dir string) Option { return func(r *Runner) { r.root = dir } }

// WithTackle adds folders in which cascades find validators, tools and other
// cascades by id, behind the folder tackle beside them.
func WithTackle(dirs ...string) Option {
	return func(r *Runner) { r.tackle = append(r.tackle, dirs...) }
}

// WithMissingTools lets cascades load that name tools which are nowhere: such a
// tool fails when it is called.
func WithMissingTools() Option { return func(r *Runner) { r.missing = true } }

// WithSink has s told of every event, if it is any; one of the runner's is told of
// several runs at the same time. What panics in it panics where the cascade is run.
func WithSink(s event.Sink) Option {
	return func(r *Runner) {
		if s != nil {
			r.sinks = append(r.sinks, s)
		}
	}
}

// WithTrace has the context of each call of a model, a tool or a validator made
// by a function, from that of the run, the run's id and the place of the call:
// so what is called learns whose work it is. The run's events went to the sinks
// before.
func WithTrace(f func(ctx context.Context, run string, at event.Path) context.Context) Option {
	return func(r *Runner) { r.trace = f }
}

// WithText has f called with a phase's text as it arrives from the model. It
// may be called for several phases' tries at the same time. Where f is nil nobody
// listens.
func WithText(f func(phase, text string)) Option {
	if f == nil {
		return WithDrafts(nil)
	}
	return func(r *Runner) {
		r.onText = func(_ event.Path, phase string) func(string) { return func(text string) { f(phase, text) } }
	}
}

// WithDrafts is [WithText] for who tells calls apart and does not hear all of them:
// before each call of a phase's model, f gives what is to be called with its text as
// it arrives, by the path of the call's events. Where that is nil the model need not
// stream. An empty piece says that the text begins anew.
func WithDrafts(f func(at event.Path) func(text string)) Option {
	if f == nil {
		return func(r *Runner) { r.onText = nil }
	}
	return func(r *Runner) { r.onText = func(at event.Path, _ string) func(string) { return f(at) } }
}

// WithAsk has human_input answered by f; without it such a run ends as
// waiting. Returning [ErrNobody] does the same.
func WithAsk(f func(context.Context, Question) (Answer, error)) Option {
	return func(r *Runner) { r.ask = f }
}

// ErrNobody says that no person is there to answer.
var ErrNobody = engine.ErrSuspended

// New makes a runner. Without a model it runs cascades that need none.
func New(options ...Option) (*Runner, error) {
	r := &Runner{validators: builtins.Default(), notices: NewNotices(NoticeOptions{})}
	for _, o := range options {
		o(r)
	}
	return r, nil
}

// Known is what cascades may name with this runner.
func (r *Runner) Known() cascades.Known {
	return cascades.Known{Validators: r.validators, Tools: r.tools, Remote: r.remote, Root: r.root, Tackle: r.tackle, MissingTools: r.missing, Chosen: cascades.Chosen(r.modelName), Receipts: receipts}
}

// Load reads and checks a cascade file, which may be anywhere. The files that it names
// must be in its folder, in the root of [WithRoot] or in a folder of [WithTackle]. An
// error is [cascades.Diagnostics].
func (r *Runner) Load(file string) (*cascades.Cascade, error) {
	return cascades.Load(filepath.ToSlash(file), r.Opener(file), r.known(file))
}

// LoadFS is [Runner.Load] from a file system.
func (r *Runner) LoadFS(fsys fs.FS, file string) (*cascades.Cascade, error) {
	return cascades.Load(file, func(name string) ([]byte, error) { return fs.ReadFile(fsys, name) }, r.Known())
}

// Unpack is [Runner.Load] for the files that a run has stored, the cascade's own
// first. It reads nothing from disk.
func (r *Runner) Unpack(stored []cascades.File) (*cascades.Cascade, error) {
	if len(stored) == 0 {
		return nil, errors.New("the run has kept no cascade")
	}
	file := stored[0].Name
	return cascades.Load(file, cascades.Unpacked(stored), r.known(file))
}

// ReadFile reads a file that an operator named. It must be a regular file of at most
// 64 MiB.
func ReadFile(name string) ([]byte, error) { return files.Read(name, maxFile) }

// maxFile is the largest cascade, and the largest file that a cascade may name, in bytes.
const maxFile = 64 << 20

// Opener reads the files that a cascade file names, as [Runner.Load] does, and the
// cascade file itself.
func (r *Runner) Opener(file string) cascades.Opener {
	root := r.reach(file)
	return func(name string) ([]byte, error) { return root.Read(filepath.FromSlash(name), maxFile) }
}

// reach is where the files are that a cascade file may name.
func (r *Runner) reach(file string) files.Root {
	dirs := []string{cmp.Or(r.root, "."), filepath.Dir(file)}
	return files.Root{Dirs: append(dirs, r.tackle...), Files: []string{file}, Flag: "--root"}
}

// known is what the cascade in a file may name. The files and folders that its databases
// and the parameters of validators name are confined as the files of the cascade are.
func (r *Runner) known(file string) cascades.Known {
	k := r.Known()
	k.Inside = r.reach(file).Check
	k.Validators = k.Validators.Within(k.Inside)
	return k
}

// A RunOption changes one run: it is an [Option], or of [WithRunID],
// [WithSettings] and [WithParent].
type RunOption interface{ forRun(*Runner, *Start) }

type startOption func(*Start)

func (o startOption) forRun(_ *Runner, s *Start) { o(s) }

// WithRunID names the run, as [CheckRunID] allows; without it, or with "", it gets a
// new name.
func WithRunID(id string) RunOption { return startOption(func(s *Start) { s.RunID = id }) }

// ofOne is the runner for a run to have options of its own.
func (r *Runner) ofOne() *Runner {
	one := *r
	one.sinks, one.tackle = slices.Clip(r.sinks), slices.Clip(r.tackle)
	return &one
}

// Run runs a cascade on an input of plain values (what JSON decodes to). The
// result is whole whatever the error: an *[Error], nil where it succeeded.
//
// What the cascade needs is looked for before anything is spent: an input that
// [cascades.Cascade.CheckInput] finds wrong, a variable of the environment that is
// not there, a program that cannot be started (except one that a phase with a tool may
// build before) and a model that is not [model.Readier.Ready] are [Invalid], all at once, and no run is kept; an MCP server
// that cannot be reached, or has not the tool that is named, is [Failed].
func (r *Runner) Run(ctx context.Context, c *cascades.Cascade, input map[string]any, options ...RunOption) (Result, error) {
	s := Start{CascadeID: c.ID, Files: c.Files}
	r = r.ofOne()
	for _, o := range options {
		o.forRun(r, &s)
	}
	s.Model = r.modelName
	if s.RunID == "" {
		s.RunID = NewRunID(time.Now())
	}
	if err := CheckRunID(s.RunID); err != nil {
		e := &Error{Code: Invalid, Message: err.Error()}
		return ended(s, e), e
	}
	plain, err := plainInput(input)
	if err != nil {
		e := &Error{Code: Invalid, Message: fmt.Sprintf("input: %v", err)}
		return ended(s, e), e
	}
	s.Input = plain
	if len(c.Phases) == 0 {
		e := &Error{Code: Invalid, Message: fmt.Sprintf("%s has hooks and no phases to run; capstan hook uses it", c.File)}
		return ended(s, e), e
	}
	needs := c.Needs()
	r = r.Provide(c)
	if e := refused(ctx, c.CheckInput(ctx.Err, plain), slices.Concat(unset(needs), absent(needs), r.unready(c, s.Model))); e != nil {
		return ended(s, e), e
	}
	set, err := r.begin(c, &s)
	if err != nil {
		e := &Error{Code: Failed, Message: err.Error(), Err: err}
		return ended(s, e), e
	}
	ctx = pins.With(ctx, set)
	run := func(h engine.Host, s engine.State) (Result, error) {
		if e := unreached(ctx, needs); e != nil {
			return engine.Refuse(h, c, s, e)
		}
		return engine.Run(h, c, s)
	}
	if r.journal == nil {
		return run(r.host(ctx, s.RunID), engine.State{RunID: s.RunID, Model: s.Model, Input: s.Input})
	}
	recording, err := r.journal.Begin(s)
	if err != nil {
		e := &Error{Code: Failed, Message: fmt.Sprintf("journal: %v", err), Err: fmt.Errorf("%w: %w", ErrNotKept, err)}
		return ended(s, e), e
	}
	return r.record(ctx, recording, run)
}

// Judge gives a validator's verdict on a subject, asking the model where it is
// a judge. An error says that there is no verdict.
func (r *Runner) Judge(ctx context.Context, c *cascades.Cascade, v *cascades.Validator, s validators.Subject) (validators.Verdict, error) {
	r = r.Provide(c)
	return engine.Judge(r.host(ctx, ""), c, v, s, r.modelName)
}

// Provide is the runner for a cascade: its model asks the providers that the cascade
// brings along, too. [Runner.Run] and [Runner.Resume] see to it; whoever makes effects
// with [Runner.Host] takes that of this runner. Without such providers it is the
// runner itself; c may be nil.
func (r *Runner) Provide(c *cascades.Cascade) *Runner {
	h, ok := r.model.(model.Host)
	if !ok || c == nil {
		return r
	}
	list := c.EveryProvider()
	if len(list) == 0 {
		return r
	}
	one := *r
	one.model = h.Provide(list)
	return &one
}

var runID = patterns.Lazy(`^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$`)

// CheckRunID says why a run cannot have that name, which stands in addresses, in
// tables and on command lines: it is 1 to 128 letters, digits and . _ : - of ASCII, a
// letter or digit first.
func CheckRunID(id string) error {
	switch {
	case id == "last":
		return errors.New("a run cannot be called last, which is the newest of all")
	case runID().MatchString(id):
		return nil
	}
	return fmt.Errorf("a run cannot be called %q: its name is 1 to 128 letters, digits and . _ : - of ASCII, a letter or digit first", id)
}

// NewRunID makes a name for a run that sorts by time: 20060102-150405-1a2b3c4d.
func NewRunID(now time.Time) string {
	id := make([]byte, 0, len("20060102-150405-1a2b3c4d"))
	id = now.UTC().AppendFormat(id, "20060102-150405-")
	return string(hex.AppendEncode(id, binary.BigEndian.AppendUint32(nil, rand.Uint32())))
}

// Host is the in-process host of one run, for hosts that are built around it.
func (r *Runner) Host(ctx context.Context) engine.Host { return r.host(ctx, "") }

// Parse is [Runner.Load] for a text that was read already, as of a file called name.
func (r *Runner) Parse(name string, source []byte) (*cascades.Cascade, error) {
	return cascades.Parse(filepath.ToSlash(name), source, r.Opener(name), r.known(name))
}
