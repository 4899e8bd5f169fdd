//go:build unix

package journal

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/internal/process"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/tool"
)

const actsOnce = `
cascade_id: acts
inputs_schema: {topic: what}
phases: [{name: act, tool: act}]
`

// acts runs a cascade whose tool loses the run to another process. The loss occurs
// before it runs a program or during that.
func acts(t *testing.T, program string, before bool) (dir string) {
	t.Helper()
	onFile(t)
	dir = t.TempDir()
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	j.db.Writer.Trust = 0
	act := tool.New("act", "Act.", func(ctx context.Context, _ struct{}) (any, error) {
		if before {
			elsewhereNow(j, "run")
		} else {
			go func() {
				waitFor(t, filepath.Join(dir, "started"))
				elsewhereNow(j, "run")
			}()
		}
		_, err := process.Run(ctx, process.Command{Argv: []string{"/bin/sh", "-c", program}, Dir: dir, Stdin: []byte("pay"), Timeout: 5 * time.Minute})
		if !errors.Is(err, runner.ErrRunTaken) {
			t.Errorf("the program ended with %v", err)
		}
		return "", err
	})
	r := runnerOver(t, j, &says{}, runner.WithTools(act))
	c, err := r.Parse("acts.yaml", []byte(actsOnce))
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.Run(t.Context(), c, map[string]any{"topic": "owls"}, runner.WithRunID("run"))
	if !errors.Is(err, runner.ErrRunTaken) {
		t.Errorf("the run ended with %v", err)
	}
	return dir
}

func waitFor(t *testing.T, name string) {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(name); err == nil {
			return
		}
	}
	t.Errorf("no %s", name)
}

// A process that lost its run during a tool call does not start the tool's
// program.
func TestTakenBeforeProgram(t *testing.T) {
	dir := acts(t, "cat > acted", true)
	if text, err := os.ReadFile(filepath.Join(dir, "acted")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the program read %q, %v", text, err)
	}
}

// A program is killed, with everything that it started, when its run is lost.
func TestTakenDuringProgram(t *testing.T) {
	began := time.Now()
	dir := acts(t, "(trap '' TERM; while :; do date > alive; sleep 0.05; done) & touch started; wait; touch acted", false)
	if took := time.Since(began); took > time.Minute {
		t.Errorf("the program ended after %s", took)
	}
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		if strings.Contains(f.Name(), "acted") {
			t.Errorf("the program went on: %v", list)
		}
	}
	if err := os.Remove(filepath.Join(dir, "alive")); err != nil {
		t.Fatal(err)
	}
	time.Sleep(500 * time.Millisecond)
	if _, err := os.Stat(filepath.Join(dir, "alive")); err == nil {
		t.Error("what the program started goes on")
	}
}
