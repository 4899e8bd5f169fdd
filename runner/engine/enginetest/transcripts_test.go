package enginetest_test

import (
	"errors"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/engine/enginetest"
	"github.com/seed61713e19/capstan/runner/event"
)

var update = flag.Bool("update", false, "rewrite what the transcripts want")

// tell gives the transcript of a run and its result.
func tell(t *testing.T, s *enginetest.Story, host func(engine.Host) engine.Host) string {
	t.Helper()
	transcript := &enginetest.Transcript{}
	result, _ := engine.Run(host(s.Host(t, runner.WithSink(transcript))), s.Cascade, s.Start())
	return transcript.Told(t, result)
}

func TestTranscripts(t *testing.T) {
	for _, s := range enginetest.Stories(t) {
		t.Run(s.Name, func(t *testing.T) {
			t.Run("in process", func(t *testing.T) { inProcess(t, s) })
			if *update {
				return
			}
			t.Run("elsewhere", func(t *testing.T) { elsewhere(t, s) })
			t.Run("recorded", func(t *testing.T) { recorded(t, s) })
			t.Run("broken off", func(t *testing.T) { brokenOff(t, s) })
		})
	}
}

func inProcess(t *testing.T, s *enginetest.Story) {
	got := tell(t, s, func(h engine.Host) engine.Host { return h })
	if !*update {
		enginetest.Same(t, "in process", got, s.Want())
	} else if err := rewrite("testdata/"+s.Name+".txtar", got); err != nil {
		t.Fatal(err)
	}
}

// elsewhere has every effect made by a worker that has only the cascade.
func elsewhere(t *testing.T, s *enginetest.Story) {
	worker := s.Load(t)
	got := tell(t, s, func(h engine.Host) engine.Host { return enginetest.Elsewhere{Host: h, Cascade: worker, Run: "run"} })
	enginetest.Same(t, "elsewhere", got, s.Want())
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

// recorded runs with a recorder, then replays what it recorded with nothing
// that could answer: the same effects, the same events.
func recorded(t *testing.T, s *enginetest.Story) {
	j := enginetest.NewJournal()
	got := tell(t, s, func(h engine.Host) engine.Host { return &enginetest.Recorder{Host: h, Journal: j} })
	enginetest.Same(t, "recorded", got, s.Want())
	if twice := j.Twice(); len(twice) > 0 {
		t.Fatalf("two effects have one path: %v", twice)
	}
	if len(s.Answers) == 0 && strings.Contains(s.Want(), "\nwaiting ") {
		return // what nobody answered is asked again
	}
	before := j.Effects()
	got = tell(t, s, func(h engine.Host) engine.Host { return enginetest.Replayer(h, j) })
	enginetest.Same(t, "replayed", got, s.Want())
	if after := j.Effects(); len(after) != len(before) {
		t.Fatalf("the replay made effects: %d, then %d", len(before), len(after))
	}
}

// brokenOff lets the host be gone at every effect in turn, and goes on with
// what was recorded: the run ends as if nothing had been, and nothing that was
// done is done again.
func brokenOff(t *testing.T, s *enginetest.Story) {
	whole := enginetest.NewJournal()
	tell(t, s, func(h engine.Host) engine.Host { return &enginetest.Recorder{Host: h, Journal: whole} })
	for k := range whole.Len() {
		j := enginetest.NewJournal()
		made := map[event.Path]int{}
		count := func(at event.Path) { made[at]++ }
		world := s.Host(t, runner.WithSink(&enginetest.Transcript{}))
		_, err := engine.Run(&enginetest.Recorder{Host: enginetest.NewFault(world, int64(k+1)), Journal: j}, s.Cascade, s.Start())
		if !errors.Is(err, enginetest.ErrFault) {
			t.Fatalf("gone at effect %d: got %v", k+1, err)
		}
		if j.Len() != k {
			t.Fatalf("gone at effect %d: %d effects were recorded", k+1, j.Len())
		}
		result, _ := engine.Run(&enginetest.Recorder{Host: world, Journal: j, Made: count}, s.Cascade, s.Start())
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
		if !strings.Contains(s.Want(), "\nrun_finished  "+result.Status) {
			t.Fatalf("gone at effect %d: the run ended as %s", k+1, result.Status)
		}
	}
}
