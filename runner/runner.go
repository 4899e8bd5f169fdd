// Package runner runs cascades: it is the library's front.
//
//	r, err := runner.New(runner.WithModel(m))
//	c, err := r.Load("post.yaml")
//	res, err := r.Run(ctx, c, map[string]any{"topic": "owls"})
//
// A text that Run returns has passed every blocking and retry ward. The ward has seen
// exactly this text. Without an output, the error is an *[engine.Error]. Its Code
// distinguishes a rejected text (blocked, exhausted) from a broken model, tool or
// validator (failed).
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
	"strings"
	"time"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/files"
	"github.com/seed61713e19/capstan/internal/pins"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/builtins"
)

// A Runner runs cascades. It is safe for concurrent use and retains nothing of
// finished runs.
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
	ask        func(context.Context, engine.Question) (engine.Answer, error)
	notices    *Notices
}

// An Option configures a runner. With [Runner.Run] or [Runner.Resume] it
// configures only that run: it replaces the runner's setting, but sinks are
// added. Pass validators, tools and servers to [New], because cascades resolve
// names when they are loaded.
type Option func(*Runner)

func (o Option) forRun(r *Runner, _ *Start) { o(r) }

// WithModel sets the model for phases and judges. A panic of the model counts
// as a failed call. A [model.Host] receives the providers of each cascade
// before its run begins.
func WithModel(m model.Model) Option { return func(r *Runner) { r.model = m } }

// WithModelName overrides the models of cascades, see [cascades.Chosen]. A name
// replaces a cascade's default but not the model of a phase.
func WithModelName(name string) Option { return func(r *Runner) { r.modelName = name } }

// WithValidators adds validators to the built-in ones and those of
// [builtins.Register].
func WithValidators(list ...validators.Validator) Option {
	return func(r *Runner) { r.validators = r.validators.With(list...) }
}

// WithTools adds tools for cascades. A runner has no tools by default:
// [tool.Builtins] returns those of Capstan.
func WithTools(list ...tool.Tool) Option {
	return func(r *Runner) { r.tools = r.tools.With(list...) }
}

// WithRemote adds the validators and tools of MCP servers.
func WithRemote(m cascades.Remote) Option { return func(r *Runner) { r.remote = m } }

// WithRoot sets the folder of the file tools. Validator programs with cwd: root
// run there, and cascades may name files below it. Default: the working
// directory.
func WithRoot(dir string) Option { return func(r *Runner) { r.root = dir } }

// WithTackle adds folders in which cascades find validators, tools and other
// cascades by id. The folder tackle next to the cascade comes first.
func WithTackle(dirs ...string) Option {
	return func(r *Runner) { r.tackle = append(r.tackle, dirs...) }
}

// WithMissingTools allows cascades that name unknown tools. Such a tool fails
// when it is called.
func WithMissingTools() Option { return func(r *Runner) { r.missing = true } }

// WithSink adds a sink for all events; s may be nil. A sink of a runner may
// receive several runs at the same time. Panics of the sink reach the caller of
// the run.
func WithSink(s event.Sink) Option {
	return func(r *Runner) {
		if s != nil {
			r.sinks = append(r.sinks, s)
		}
	}
}

// WithTrace sets a function that derives the context of each model, tool and
// validator call. It receives the run's context, the run's id and the path of
// the call. The sinks receive the run's events first.
func WithTrace(f func(ctx context.Context, run string, at event.Path) context.Context) Option {
	return func(r *Runner) { r.trace = f }
}

// WithText calls f with a phase's text as it arrives from the model. It may be
// called for several phases at the same time; f may be nil.
func WithText(f func(phase, text string)) Option {
	if f == nil {
		return WithDrafts(nil)
	}
	return func(r *Runner) {
		r.onText = func(_ event.Path, phase string) func(string) { return func(text string) { f(phase, text) } }
	}
}

// WithDrafts is like [WithText], but distinguishes the calls. Before each call
// of a phase's model, f returns the function that receives its text. If f
// returns nil, the model need not stream. An empty piece means that the text
// starts again.
func WithDrafts(f func(at event.Path) func(text string)) Option {
	if f == nil {
		return func(r *Runner) { r.onText = nil }
	}
	return func(r *Runner) { r.onText = func(at event.Path, _ string) func(string) { return f(at) } }
}

// WithAsk answers human_input with f. Without it, such a run ends as waiting.
// The same happens if f returns [ErrNobody].
func WithAsk(f func(context.Context, engine.Question) (engine.Answer, error)) Option {
	return func(r *Runner) { r.ask = f }
}

// ErrNobody means that no person can answer.
var ErrNobody = engine.ErrSuspended

// New returns a runner. Without a model it runs only cascades that need none.
func New(options ...Option) (*Runner, error) {
	r := &Runner{validators: builtins.Default(), notices: NewNotices(NoticeOptions{})}
	for _, o := range options {
		o(r)
	}
	return r, nil
}

// Known returns the names that cascades may use with this runner.
func (r *Runner) Known() cascades.Known {
	return cascades.Known{Validators: r.validators, Tools: r.tools, Remote: r.remote, Root: r.root, Tackle: r.tackle, MissingTools: r.missing, Chosen: cascades.Chosen(r.modelName), Receipts: verifyReceipt}
}

// Load reads and checks a cascade file from any folder. The files that it names
// must be in its folder, in the root of [WithRoot] or in a folder of
// [WithTackle]. Errors are [syntax.Diagnostics].
func (r *Runner) Load(file string) (*cascades.Cascade, error) {
	return cascades.Load(filepath.ToSlash(file), r.Opener(file), r.known(file))
}

// LoadFS is like [Runner.Load], but reads from a file system.
func (r *Runner) LoadFS(fsys fs.FS, file string) (*cascades.Cascade, error) {
	return cascades.Load(file, func(name string) ([]byte, error) { return fs.ReadFile(fsys, name) }, r.Known())
}

// Unpack is like [Runner.Load], but reads the files that a run has stored, the
// cascade's own first. It reads nothing from disk.
func (r *Runner) Unpack(stored []cascades.File) (*cascades.Cascade, error) {
	if len(stored) == 0 {
		return nil, errors.New("the run has kept no cascade")
	}
	file := stored[0].Name
	return cascades.Load(file, cascades.Unpacked(stored), r.known(file))
}

// ReadFile reads a file that an operator named. It must be a regular file of at
// most 64 MiB.
func ReadFile(name string) ([]byte, error) { return files.Read(name, maxFile) }

// maxFile is the largest cascade, and the largest file that a cascade may name, in bytes.
const maxFile = 64 << 20

// Opener returns a function that reads the cascade file and the files that it
// names, as [Runner.Load] does.
func (r *Runner) Opener(file string) cascades.Opener {
	root := r.reach(file)
	return func(name string) ([]byte, error) { return root.Read(filepath.FromSlash(name), maxFile) }
}

// reach returns the folders whose files a cascade may name.
func (r *Runner) reach(file string) files.Root {
	dirs := []string{cmp.Or(r.root, "."), filepath.Dir(file)}
	return files.Root{Dirs: append(dirs, r.tackle...), Files: []string{file}, Flag: "--root"}
}

// known returns the names that the cascade of a file may use. Files and folders
// of its databases and validators must be within reach.
func (r *Runner) known(file string) cascades.Known {
	k := r.Known()
	k.Inside = r.reach(file).Check
	k.Validators = k.Validators.Within(k.Inside)
	return k
}

// A RunOption configures one run: an [Option], or the result of [WithRunID],
// [WithSettings], [WithParent] or [WithOnly].
type RunOption interface{ forRun(*Runner, *Start) }

type startOption func(*Start)

func (o startOption) forRun(_ *Runner, s *Start) { o(s) }

// WithRunID sets the run's name, see [CheckRunID]. If it is "", the run gets a
// new name.
func WithRunID(id string) RunOption { return startOption(func(s *Start) { s.RunID = id }) }

// ofOne returns a copy of the runner for a run with its own options.
func (r *Runner) ofOne() *Runner {
	one := *r
	one.sinks, one.tackle = slices.Clip(r.sinks), slices.Clip(r.tackle)
	return &one
}

// Run runs a cascade on an input of plain values, as JSON decodes them. The result is
// complete even if the run does not succeed. In this case, the error is an
// *[engine.Error].
//
// Before the first call, Run checks the needs of the cascade. All problems of the
// caller are one error with the code [engine.Invalid], and no run is stored:
//   - an input that [cascades.Cascade.CheckInput] rejects
//   - a missing environment variable
//   - a program that cannot be started, unless an earlier phase with a tool may build it
//   - a model that is not [model.Readier.Ready]
//
// An MCP server that cannot be reached, or does not have a named tool, ends the run with
// the code [engine.Failed].
func (r *Runner) Run(ctx context.Context, c *cascades.Cascade, input map[string]any, options ...RunOption) (_ engine.Result, err error) {
	defer func() { addContextError(ctx, err) }()
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
		e := &engine.Error{Code: engine.Invalid, Message: err.Error()}
		return ended(s, e), e
	}
	plain, err := plainInput(input)
	if err != nil {
		e := &engine.Error{Code: engine.Invalid, Message: fmt.Sprintf("input: %v", err)}
		return ended(s, e), e
	}
	s.Input = plain
	if len(c.Phases) == 0 {
		e := &engine.Error{Code: engine.Invalid, Message: fmt.Sprintf("%s has hooks and no phases to run; capstan hook uses it", c.File)}
		return ended(s, e), e
	}
	if e := r.checkOnly(c, s.Only); e != nil {
		return ended(s, e), e
	}
	needs := c.Needs()
	r = r.Provide(c)
	if e := refused(ctx, c.CheckInput(ctx.Err, plain), slices.Concat(missingVariables(needs), missingPrograms(needs), r.unavailableModels(c, s.Model))); e != nil {
		return ended(s, e), e
	}
	set, err := r.begin(c, &s)
	if err != nil {
		e := &engine.Error{Code: engine.Failed, Message: err.Error(), Err: err}
		return ended(s, e), e
	}
	ctx = pins.With(ctx, set)
	run := func(h engine.Host, s engine.State) (engine.Result, error) {
		if e := missingRemoteTools(ctx, needs); e != nil {
			return engine.Refuse(h, c, s, e)
		}
		return engine.Run(h, c, s)
	}
	if r.journal == nil {
		return run(r.host(ctx, s.RunID), engine.State{RunID: s.RunID, Model: s.Model, Input: s.Input})
	}
	recording, err := r.journal.Begin(s)
	if err != nil {
		e := &engine.Error{Code: engine.Failed, Message: fmt.Sprintf("journal: %v", err), Err: fmt.Errorf("%w: %w", ErrNotKept, err)}
		return ended(s, e), e
	}
	return r.record(ctx, recording, run)
}

// addContextError adds ctx.Err to the chain of a cancelled run's error, whose cause may
// be another error.
func addContextError(ctx context.Context, err error) {
	var e *engine.Error
	if errors.As(err, &e) && e.Code == engine.Cancelled && !errors.Is(e, ctx.Err()) {
		e.Err = errors.Join(e.Err, ctx.Err())
	}
}

// Judge returns a validator's verdict on a subject. An error means that there
// is no verdict.
func (r *Runner) Judge(ctx context.Context, c *cascades.Cascade, v *cascades.Validator, s validators.Subject) (validators.Verdict, error) {
	r = r.Provide(c)
	return engine.Judge(r.host(ctx, ""), c, v, s, r.modelName)
}

// Provide returns a runner whose model also uses the providers of the cascade.
// [Runner.Run] and [Runner.Resume] call it themselves. Callers of [Runner.Host]
// must use the returned runner. Without such providers it is r itself; c may be
// nil.
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

// The characters of the name of a run, and its maximum length.
const (
	alphanumeric = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	runIDBytes   = alphanumeric + "._:-"
	maxRunID     = 128
)

// CheckRunID returns an error if the name is not allowed for a run. It must
// consist of 1 to 128 ASCII letters, digits or the characters . _ : - and start
// with a letter or digit.
func CheckRunID(id string) error {
	switch {
	case id == "last":
		return errors.New("a run cannot be called last, which is the newest of all")
	case id != "" && len(id) <= maxRunID && strings.Trim(id, runIDBytes) == "" && strings.IndexByte(alphanumeric, id[0]) >= 0:
		return nil
	}
	return fmt.Errorf("a run cannot be called %q: its name is 1 to 128 letters, digits and . _ : - of ASCII, a letter or digit first", id)
}

// NewRunID returns a name that sorts by time: 20060102-150405-1a2b3c4d.
func NewRunID(now time.Time) string {
	id := make([]byte, 0, len("20060102-150405-1a2b3c4d"))
	id = now.UTC().AppendFormat(id, "20060102-150405-")
	return string(hex.AppendEncode(id, binary.BigEndian.AppendUint32(nil, rand.Uint32())))
}

// Host returns the in-process host of one run, for hosts that wrap it.
func (r *Runner) Host(ctx context.Context) engine.Host { return r.host(ctx, "") }

// Parse is like [Runner.Load], but for source text of a file called name.
func (r *Runner) Parse(name string, source []byte) (*cascades.Cascade, error) {
	return cascades.Parse(filepath.ToSlash(name), source, r.Opener(name), r.known(name))
}
