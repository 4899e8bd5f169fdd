package enginetest

import (
	"context"
	"embed"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/model/scripted"
	"github.com/seed61713e19/capstan/validators/schema"
)

//go:embed testdata/*.txtar
var shipped embed.FS

// fewest is how many transcripts there are at least: with fewer of them some
// are lost, and with them what they hold.
const fewest = 50

// A Story is one run as a file in txtar form tells it: cascade.yaml; what the
// world says to it, in script.yaml, input.json and answers.json, each of which
// may be missing; files that these name; and in want what comes of it. Running
// a story does not change it.
type Story struct {
	Name    string // the file's, without .txtar
	Cascade *cascades.Cascade
	Known   cascades.Known // what the cascade was loaded with
	Input   map[string]any
	Answers []any // what people say to its questions, in turn

	open   cascades.Opener
	script func() (*scripted.Script, error) // reads it once: it is rewound for each run
}

// Stories reads the shipped transcripts, in the order of their names. It ends
// the test where one of them does not load.
func Stories(tb testing.TB) []*Story {
	tb.Helper()
	files, err := shipped.ReadDir("testdata")
	if err != nil || len(files) < fewest {
		tb.Fatalf("only %d transcripts: %v", len(files), err)
	}
	list := make([]*Story, len(files))
	for i, f := range files {
		list[i] = Shipped(tb, strings.TrimSuffix(f.Name(), ".txtar"))
	}
	return list
}

// readStories are the shipped transcripts that were read, by their names.
var readStories sync.Map

// Shipped reads the shipped transcript that has a name, once in a process.
func Shipped(tb testing.TB, name string) *Story {
	tb.Helper()
	if s, ok := readStories.Load(name); ok {
		again := *s.(*Story)
		return &again
	}
	text, err := shipped.ReadFile("testdata/" + name + ".txtar")
	if err != nil {
		tb.Fatal(err)
	}
	s := Read(tb, name, text)
	kept := *s
	readStories.Store(name, &kept)
	return s
}

// Read makes a story of a text in txtar form. Its cascade is loaded with what
// is [Known].
func Read(tb testing.TB, name string, text []byte) *Story {
	tb.Helper()
	s := &Story{Name: name, Known: Known(), open: unpacked(text)}
	s.script = sync.OnceValues(s.readScript)
	s.Cascade = s.Load(tb)
	for file, into := range map[string]any{"input.json": &s.Input, "answers.json": &s.Answers} {
		if text, err := s.open(file); err == nil {
			if err := schema.Unmarshal(text, into); err != nil {
				tb.Fatalf("%s: %s: %v", name, file, err)
			}
		}
	}
	return s
}

// unpacked opens the files of a text in txtar form.
func unpacked(text []byte) cascades.Opener {
	var files []cascades.File
	for _, f := range txtar.Parse(text).Files {
		files = append(files, cascades.File{Name: f.Name, Text: f.Data})
	}
	return cascades.Unpacked(files)
}

// Load loads the story's cascade as another process would.
func (s *Story) Load(tb testing.TB) *cascades.Cascade {
	tb.Helper()
	c, err := cascades.Load("cascade.yaml", s.open, s.Known)
	if err != nil {
		tb.Fatalf("%s: %v", s.Name, err)
	}
	return c
}

// Want is what [Transcript.Told] gives of the story's run, or "" where the
// story has none.
func (s *Story) Want() string {
	text, _ := s.open("want")
	return string(text)
}

// wanting is the story where something else comes of it.
func (s *Story) wanting(want string) *Story {
	other := *s
	other.open = func(name string) ([]byte, error) {
		if name == "want" {
			return []byte(want), nil
		}
		return s.open(name)
	}
	return &other
}

// Start is where the story's run begins; its id is "run".
func (s *Story) Start() engine.State { return engine.State{RunID: "run", Input: s.Input} }

// Script makes the model that says what the story's script does. It remembers
// what it has said, as the world would.
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

// late among answers says that nobody answers in time.
const late = "(nobody in time)"

// People is a runner's option: people who give the answers in turn, or none in
// time; after the last there is nobody who could answer. It is for one runner.
func People(answers ...any) runner.Option {
	var one sync.Mutex // branches ask at once
	return runner.WithAsk(func(context.Context, runner.Question) (runner.Answer, error) {
		one.Lock()
		defer one.Unlock()
		if len(answers) == 0 {
			return runner.Answer{}, runner.ErrNobody
		}
		a := answers[0]
		answers = answers[1:]
		if a == late {
			return runner.Answer{Expired: true}, nil
		}
		return runner.Answer{Value: a, By: "kim"}, nil
	})
}

// Runner makes a runner that has the story's script for its model and the
// story's answers for its people, and the options over these.
func (s *Story) Runner(tb testing.TB, options ...runner.Option) *runner.Runner {
	tb.Helper()
	r, err := runner.New(append([]runner.Option{runner.WithModel(s.Script(tb)), People(s.Answers...)}, options...)...)
	if err != nil {
		tb.Fatalf("%s: %v", s.Name, err)
	}
	return r
}

// Host makes the host of a new [Story.Runner], whose branches run one after
// the other.
func (s *Story) Host(tb testing.TB, options ...runner.Option) Serial {
	tb.Helper()
	return Serial{s.Runner(tb, options...).Host(tb.Context())}
}
