package journal

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/journal/internal/stores"
)

// A row with a changed letter is damaged: it is not read, released or resumed
// from.
func TestDamagedRow(t *testing.T) {
	const short = "a first answer"
	answers := map[string]string{"First": short, "Then": strings.Repeat("a long answer ", 100), "Last": "c"}
	for name, damage := range map[string]struct{ statement, want string }{
		"pack":   {"UPDATE pack SET data = replace(data, 'first answer', 'worst answer')", "damaged: rows "},
		"path":   {"UPDATE pack SET path = 'x' || path", "damaged: rows "},
		"start":  {"UPDATE start SET data = replace(data, 'owls', 'cats')", "the start of run run is not what was written"},
		"result": {"UPDATE result SET data = replace(data, 'first answer', 'worst answer')", "the result of run run is not what was written"},
		"text":   {"UPDATE text SET text = replace(text, 'a long answer', 'a wrong answer')", "has changed"},
	} {
		t.Run(name, func(t *testing.T) {
			j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
			m := &says{answers: answers, fails: map[string]int{"Last": 1}}
			if _, err := runnerOver(t, j, m).Run(t.Context(), load(t, twoPhases), map[string]any{"topic": "owls"}, runner.WithRunID("run")); err == nil {
				t.Fatal("it did not fail")
			}
			err := j.db.Writer.Do(func(c *stores.Conn) error {
				changed, err := c.Exec(damage.statement)
				if err == nil && changed == 0 {
					t.Error("nothing was changed")
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			if name != "result" {
				if result, err := runnerOver(t, j, m).Resume(t.Context(), "run"); err == nil || !strings.Contains(err.Error(), damage.want) {
					t.Errorf("resumed: got %+v, %v", result, err)
				}
				return
			}
			if result, err := j.Result(t.Context(), "run"); err == nil || !strings.Contains(err.Error(), damage.want) {
				t.Errorf("got %+v, %v", result, err)
			}
		})
	}
}
