package storytest_test

import (
	"flag"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/seed61713e19/capstan/internal/storytest"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
)

var update = flag.Bool("update", false, "rewrite what the transcripts want")

// The tests hold little memory but allocate a lot.
func TestMain(m *testing.M) {
	debug.SetGCPercent(800)
	os.Exit(m.Run())
}

// transcriptOf returns the transcript of a run with its result.
func transcriptOf(t *testing.T, s *storytest.Story, host func(engine.Host) engine.Host) string {
	t.Helper()
	transcript := &storytest.Transcript{}
	result, _ := engine.Run(host(s.Host(t, runner.WithSink(transcript))), s.Cascade, s.Start())
	return transcript.Format(t, result)
}

// Transcripts are written by a run in this process.
func TestTranscripts(t *testing.T) {
	for _, s := range storytest.Stories(t) {
		t.Run(s.Name, func(t *testing.T) {
			if *update {
				got := transcriptOf(t, s, func(h engine.Host) engine.Host { return h })
				if err := rewrite("testdata/"+s.Name+".txtar", got); err != nil {
					t.Fatal(err)
				}
				return
			}
			t.Run("replayed", func(t *testing.T) { replayed(t, s) })
		})
	}
}

func TestInProcess(t *testing.T) {
	if !*update {
		storytest.Run(t, func(testing.TB, *storytest.Story) storytest.Start {
			return func(world engine.Host, run func(engine.Host)) { run(world) }
		})
	}
}

func TestRecorder(t *testing.T) {
	if !*update {
		storytest.RunDurable(t, func(testing.TB, *storytest.Story) storytest.Start {
			j := storytest.NewJournal()
			return func(world engine.Host, run func(engine.Host)) { run(&storytest.Recorder{Host: world, Journal: j}) }
		})
	}
}

// rewrite puts another want into a transcript's file.
func rewrite(file, want string) error {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		return err
	}
	archive.Files = slices.DeleteFunc(archive.Files, func(f txtar.File) bool { return f.Name == "want" })
	archive.Files = append(archive.Files, txtar.File{Name: "want", Data: []byte(want)})
	return os.WriteFile(file, txtar.Format(archive), 0o644)
}

// replayed records a run and replays it without models, tools and validators. Effects
// and events must be the same.
func replayed(t *testing.T, s *storytest.Story) {
	j := storytest.NewJournal()
	got := transcriptOf(t, s, func(h engine.Host) engine.Host { return &storytest.Recorder{Host: h, Journal: j} })
	storytest.Same(t, "recorded", got, s.Want())
	if twice := j.Duplicates(); len(twice) > 0 {
		t.Fatalf("two effects have one path: %v", twice)
	}
	if len(s.Answers) == 0 && strings.Contains(s.Want(), "\nwaiting ") {
		return // what nobody answered is asked again
	}
	before := j.Effects()
	got = transcriptOf(t, s, func(h engine.Host) engine.Host { return storytest.Replayer(h, j) })
	storytest.Same(t, "replayed", got, s.Want())
	if after := j.Effects(); len(after) != len(before) {
		t.Fatalf("the replay made effects: %d, then %d", len(before), len(after))
	}
}
