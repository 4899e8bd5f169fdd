package enginetest_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/engine/enginetest"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model/scripted"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators"
)

var update = flag.Bool("update", false, "rewrite what the transcripts want")

// A story is one transcript file: a cascade, a script, perhaps an input, the
// answers of a person and other files, and what the run is wanted to be.
type story struct {
	archive *txtar.Archive
	cascade *cascades.Cascade
	input   map[string]any
	answers []any
	known   cascades.Known
}

func (s *story) file(name string) ([]byte, error) {
	for _, f := range s.archive.Files {
		if f.Name == name {
			return f.Data, nil
		}
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

func read(t *testing.T, file string) *story {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s := &story{archive: archive, known: cascades.Known{Validators: validators.Default().With(odd...), Tools: tool.NewSet(tools...)}}
	if s.cascade, err = cascades.Load("cascade.yaml", s.file, s.known); err != nil {
		t.Fatal(err)
	}
	for name, into := range map[string]any{"input.json": &s.input, "answers.json": &s.answers} {
		if text, err := s.file(name); err == nil {
			if err := json.Unmarshal(text, into); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
	return s
}

// runnerFor makes a runner that answers from the story's script; scripts and
// people remember what they have said, as the world would.
func (s *story) runner(t *testing.T, sink event.Sink) *runner.Runner {
	t.Helper()
	text, err := s.file("script.yaml")
	if err != nil {
		text = []byte("[]")
	}
	script, err := scripted.Parse("script.yaml", text, s.file)
	if err != nil {
		t.Fatal(err)
	}
	answers := s.answers
	r, err := runner.New(runner.WithModel(script), runner.WithSink(sink), runner.WithAsk(
		func(context.Context, runner.Question) (runner.Answer, error) {
			if len(answers) == 0 {
				return runner.Answer{}, runner.ErrNobody
			}
			a := answers[0]
			answers = answers[1:]
			return runner.Answer{Value: a}, nil
		}))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (s *story) start() engine.State { return engine.State{RunID: "run", Input: s.input} }

// tell gives the transcript of a run and its result.
func tell(t *testing.T, s *story, host func(engine.Host) engine.Host) (string, error) {
	t.Helper()
	transcript := &enginetest.Transcript{}
	r := s.runner(t, transcript)
	result, err := engine.Run(host(enginetest.Serial{Host: r.Host(t.Context())}), s.cascade, s.start())
	shown, e := json.MarshalIndent(struct {
		Outputs  map[string]any       `json:"outputs"`
		Phases   []engine.PhaseRecord `json:"phases"`
		Degraded []engine.Degraded    `json:"degraded"`
	}{result.Outputs, result.Phases, result.Degraded}, "", "  ")
	if e != nil {
		t.Fatal(e)
	}
	return transcript.String() + string(shown) + "\n", err
}

func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			s := read(t, file)
			t.Run("in process", func(t *testing.T) { inProcess(t, s, file) })
			if *update {
				return
			}
			t.Run("recorded", func(t *testing.T) { recorded(t, s) })
			t.Run("broken off", func(t *testing.T) { brokenOff(t, s) })
		})
	}
}

func (s *story) want() string {
	text, _ := s.file("want")
	return string(text)
}

func inProcess(t *testing.T, s *story, file string) {
	got, _ := tell(t, s, func(h engine.Host) engine.Host { return h })
	if *update {
		for i, f := range s.archive.Files {
			if f.Name == "want" {
				s.archive.Files = append(s.archive.Files[:i], s.archive.Files[i+1:]...)
				break
			}
		}
		s.archive.Files = append(s.archive.Files, txtar.File{Name: "want", Data: []byte(got)})
		if err := os.WriteFile(file, txtar.Format(s.archive), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	same(t, got, s.want())
}

func same(t *testing.T, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			t.Fatalf("line %d:\ngot  %s\nwant %s\n\nall of it:\n%s", i+1, at(a, i), at(b, i), got)
		}
	}
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(nothing)"
}

// recorded runs with a recorder, then replays what it recorded with nothing
// that could answer: the same effects, the same events.
func recorded(t *testing.T, s *story) {
	j := enginetest.NewJournal()
	got, _ := tell(t, s, func(h engine.Host) engine.Host { return &enginetest.Recorder{Host: h, Journal: j} })
	same(t, got, s.want())
	if twice := j.Twice(); len(twice) > 0 {
		t.Fatalf("two effects have one path: %v", twice)
	}
	if len(s.answers) == 0 && strings.Contains(s.want(), "\nwaiting ") {
		return // what nobody answered is asked again
	}
	before := j.Effects()
	got, _ = tell(t, s, func(h engine.Host) engine.Host { return enginetest.Replayer(h, j) })
	same(t, got, s.want())
	if after := j.Effects(); len(after) != len(before) {
		t.Fatalf("the replay made effects: %d, then %d", len(before), len(after))
	}
}

// brokenOff lets the host be gone at every effect in turn, and goes on with
// what was recorded: the run ends as if nothing had been, and nothing that was
// done is done again.
func brokenOff(t *testing.T, s *story) {
	whole := enginetest.NewJournal()
	tell(t, s, func(h engine.Host) engine.Host { return &enginetest.Recorder{Host: h, Journal: whole} })
	for k := range whole.Len() {
		j := enginetest.NewJournal()
		made := map[event.Path]int{}
		count := func(at event.Path) { made[at]++ }
		transcript := &enginetest.Transcript{}
		r := s.runner(t, transcript)
		world := enginetest.Serial{Host: r.Host(t.Context())}
		_, err := engine.Run(&enginetest.Recorder{Host: enginetest.NewFault(world, int64(k+1)), Journal: j}, s.cascade, s.start())
		if !errors.Is(err, enginetest.ErrFault) {
			t.Fatalf("gone at effect %d: got %v", k+1, err)
		}
		if j.Len() != k {
			t.Fatalf("gone at effect %d: %d effects were recorded", k+1, j.Len())
		}
		result, _ := engine.Run(&enginetest.Recorder{Host: world, Journal: j, Made: count}, s.cascade, s.start())
		if got, want := j.Effects(), whole.Effects(); len(got) != len(want) {
			t.Fatalf("gone at effect %d: then %d effects, want %d", k+1, len(got), len(want))
		} else {
			for at := range want {
				if got[at] != want[at] {
					t.Fatalf("gone at effect %d: %s is\n%s, want\n%s", k+1, at, got[at], want[at])
				}
			}
		}
		for at, n := range made {
			if n > 1 {
				t.Errorf("gone at effect %d: %s was made %d times", k+1, at, n)
			}
		}
		if !strings.Contains(s.want(), "\nrun_finished  "+result.Status) {
			t.Fatalf("gone at effect %d: the run ended as %s", k+1, result.Status)
		}
	}
}

var errCrash = errors.New("the validator crashed")

// odd are validators that the stories need and nobody else would want.
var odd = []validators.Validator{
	validators.New("crashes", "crashes", func(context.Context, struct{}, validators.Subject) (validators.Verdict, error) {
		return validators.Verdict{}, errCrash
	}, validators.Impure),
	validators.New("panics", "panics", func(context.Context, struct{}, validators.Subject) (validators.Verdict, error) {
		panic("no reason")
	}),
	validators.New("scored", "gives the length as a score", func(_ context.Context, _ struct{}, s validators.Subject) (validators.Verdict, error) {
		score := float64(len(s.Content)) / 100
		v := validators.Fail("never good enough")
		v.Score = &score
		return v, nil
	}),
	validators.New("slow_no", "says no, but not at once", func(_ context.Context, p struct {
		Text string `json:"text"`
	}, s validators.Subject) (validators.Verdict, error) {
		if strings.Contains(s.Content, p.Text) {
			return validators.Fail("it says %s", p.Text), nil
		}
		return validators.Pass("it does not say %s", p.Text), nil
	}, validators.Impure),
}

var tools = []tool.Tool{
	tool.New("add", "Add two numbers.", func(_ context.Context, a struct {
		A int `json:"a"`
		B int `json:"b"`
	}) (any, error) {
		return map[string]any{"sum": a.A + a.B}, nil
	}),
	tool.New("breaks", "Breaks.", func(context.Context, struct{}) (any, error) {
		return nil, errors.New("it is broken")
	}),
}
