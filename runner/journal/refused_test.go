package journal

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/journal/internal/stores"
)

const life = `
-- cascade.yaml --
cascade_id: life
phases:
  - {name: one, instructions: First, human_input: {prompt: "Sure?", type: confirmation}}
  - {name: two, instructions: "Then {{ outputs.one }}"}
  - {name: end, tool: send, inputs: {to: kim}}
`

// If the file rejects any statement, its writer gets an error, and another
// process can resume the run.
func TestNothingIsRefusedInSilence(t *testing.T) {
	onFile(t)
	s := storyOf(t, life)
	for _, what := range []string{
		"INSERT ON run", "UPDATE OF pending ON run", "UPDATE OF epoch ON run", "UPDATE OF status ON run", "UPDATE OF finished ON run",
		"INSERT ON start", "INSERT ON result", "UPDATE ON result", "INSERT ON pack", "UPDATE ON pack", "INSERT ON text",
	} {
		t.Run(what, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "j.db")
			j := journalAt(t, file, Options{})
			script := func(text string) {
				if err := j.db.Writer.Do(func(c *stores.Conn) error { _, err := c.Exec(text); return err }); err != nil {
					t.Fatal(err)
				}
			}
			script("CREATE TRIGGER refuses BEFORE " + what + " BEGIN SELECT RAISE(ABORT, 'refused here'); END")
			world := runnerOver(t, j, &says{answers: map[string]string{"First": strings.Repeat("a text ", 300), "Then": "b"}, fails: map[string]int{"Then": 1}})
			goOn := func(r runner.Recording, err error) error {
				if err != nil {
					return err
				}
				result, err := engine.Run(r.Host(world.Host(t.Context())), s.Cascade, engine.State{RunID: "run"})
				var cause *engine.Error
				errors.As(err, &cause)
				return errors.Join(err, r.End(result, cause))
			}
			begins := func() error { return goOn(j.Begin(s.start("run"))) }
			again := func() error { return goOn(j.Reopen("run")) }
			answered := func() error { return j.Answer(t.Context(), "run", "", engine.Answer{Value: true}) }
			refused := ""
			steps := []func() error{begins, answered, again, again}
			for i := 0; i < len(steps); i++ {
				if err := steps[i](); err == nil || !strings.Contains(err.Error(), "refused here") {
					continue
				} else if refused += "x"; refused != "x" {
					t.Fatal(err)
				}
				script("DROP TRIGGER refuses")
				j.Close()
				j = journalAt(t, file, Options{})
				if _, err := j.Run(t.Context(), "run"); i != 1 && err == nil {
					steps[i] = again
				}
				i--
			}
			if result, err := j.Result(t.Context(), "run"); refused == "" || err != nil || result.Output != "sent to kim" {
				t.Errorf("refused: %t; it came to %s with %v, %v", refused != "", result.Status, result.Output, err)
			}
		})
	}
}
