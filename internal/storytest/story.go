package storytest

import (
	"context"
	"embed"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/model/scripted"
)

//go:embed testdata/*.txtar
var embedded embed.FS

// minStories is the minimum number of transcripts. With fewer, some transcripts and
// their checks are missing.
const minStories = 50

// A Story is one run in a file in txtar format. It contains cascade.yaml, the
// optional files script.yaml, input.json, answers.json and last.json, further files that
// these name, and the expected transcript in want. Running a story does not
// change it.
type Story struct {
	Name    string // name of the file, without .txtar
	Cascade *cascades.Cascade
	Known   cascades.Known // validators and tools of the cascade
	Input   map[string]any
	Last    string // the phase after which the run ends; "" for the cascade's own end
	Answers []any  // answers of people, in order

	open   cascades.Opener
	script func() (*scripted.Script, error) // parses the script once; each run rewinds it
}

// Stories returns the embedded transcripts, sorted by name. The test ends if a
// transcript cannot be loaded.
func Stories(tb testing.TB) []*Story {
	tb.Helper()
	files, err := embedded.ReadDir("testdata")
	if err != nil || len(files) < minStories {
		tb.Fatalf("only %d transcripts: %v", len(files), err)
	}
	list := make([]*Story, len(files))
	for i, f := range files {
		list[i] = Embedded(tb, strings.TrimSuffix(f.Name(), ".txtar"))
	}
	return list
}

// readStories caches the embedded transcripts by name.
var readStories sync.Map

// Embedded returns the embedded transcript with a name. Each is parsed once per
// process.
func Embedded(tb testing.TB, name string) *Story {
	tb.Helper()
	if s, ok := readStories.Load(name); ok {
		again := *s.(*Story)
		return &again
	}
	text, err := embedded.ReadFile("testdata/" + name + ".txtar")
	if err != nil {
		tb.Fatal(err)
	}
	s := Read(tb, name, text)
	copy := *s
	readStories.Store(name, &copy)
	return s
}

// Read parses a story in txtar format. Its cascade is loaded with [Known].
func Read(tb testing.TB, name string, text []byte) *Story {
	tb.Helper()
	s := &Story{Name: name, Known: Known(), open: unpacked(text)}
	s.script = sync.OnceValues(s.readScript)
	s.Cascade = s.Load(tb)
	for file, into := range map[string]any{"input.json": &s.Input, "answers.json": &s.Answers, "last.json": &s.Last} {
		if text, err := s.open(file); err == nil {
			if err := schema.Unmarshal(text, into); err != nil {
				tb.Fatalf("%s: %s: %v", name, file, err)
			}
		}
	}
	return s
}

// unpacked returns a function that opens the files of a txtar text.
func unpacked(text []byte) cascades.Opener {
	var files []cascades.File
	for _, f := range txtar.Parse(text).Files {
		files = append(files, cascades.File{Name: f.Name, Text: f.Data})
	}
	return cascades.Unpacked(files)
}

// Load loads the story's cascade again, as another process would.
func (s *Story) Load(tb testing.TB) *cascades.Cascade {
	tb.Helper()
	c, err := cascades.Load("cascade.yaml", s.open, s.Known)
	if err != nil {
		tb.Fatalf("%s: %v", s.Name, err)
	}
	return c
}

// Want returns the expected result of [Transcript.Format], or "" if the story
// has none.
func (s *Story) Want() string {
	text, _ := s.open("want")
	return string(text)
}

// withWant returns the story with another expected transcript.
func (s *Story) withWant(want string) *Story {
	other := *s
	other.open = func(name string) ([]byte, error) {
		if name == "want" {
			return []byte(want), nil
		}
		return s.open(name)
	}
	return &other
}

// Start returns the initial state of the story's run. Its id is "run".
func (s *Story) Start() engine.State { return engine.State{RunID: "run", Input: s.Input, Last: s.Last} }

// Script returns a new model with the story's script.
func (s *Story) Script(tb testing.TB) *scripted.Script {
	tb.Helper()
	script, err := s.script()
	if err != nil {
		tb.Fatalf("%s: %v", s.Name, err)
	}
	return script.Rewound()
}

func (s *Story) readScript() (*scripted.Script, error) {
	text, err := s.open("script.yaml")
	if err != nil {
		text = []byte("[]")
	}
	return scripted.Parse("script.yaml", text, s.open)
}

// late as an answer means that nobody answers in time.
const late = "(nobody in time)"

// People returns a runner's option for people who give the answers in order. After the
// last answer, nobody answers. It must be used for a single runner.
func People(answers ...any) runner.Option {
	var one sync.Mutex // branches ask concurrently
	return runner.WithAsk(func(context.Context, engine.Question) (engine.Answer, error) {
		one.Lock()
		defer one.Unlock()
		if len(answers) == 0 {
			return engine.Answer{}, runner.ErrNobody
		}
		a := answers[0]
		answers = answers[1:]
		if a == late {
			return engine.Answer{Expired: true}, nil
		}
		return engine.Answer{Value: a, By: "kim"}, nil
	})
}

// Runner returns a runner with the story's script as the model and the story's
// answers. options may replace both.
func (s *Story) Runner(tb testing.TB, options ...runner.Option) *runner.Runner {
	tb.Helper()
	r, err := runner.New(append([]runner.Option{runner.WithModel(s.Script(tb)), People(s.Answers...)}, options...)...)
	if err != nil {
		tb.Fatalf("%s: %v", s.Name, err)
	}
	return r
}

// Host returns the host of a new [Story.Runner], whose branches run in order.
func (s *Story) Host(tb testing.TB, options ...runner.Option) Serial {
	tb.Helper()
	return Serial{s.Runner(tb, options...).Host(tb.Context())}
}
