package temporal

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/effects"
	"github.com/seed61713e19/capstan/runner/tool"
)

// Runs that a released version began are gone on with by this one: each history in
// testdata gives the same commands. A new one is recorded on a server:
//
//	CAPSTAN_TEMPORAL='HOST:PORT NAMESPACE' CAPSTAN_RECORD_HISTORY=$PWD/testdata/v1 go test -run Server .
func TestReleasedHistories(t *testing.T) {
	released, err := filepath.Glob("testdata/*/history.json")
	if err != nil || len(released) == 0 {
		t.Fatalf("no histories: %v", err)
	}
	none := func(context.Context, tool.Call) (any, error) { panic("an effect was made") }
	params := map[string]any{"type": "object"}
	r, err := runner.New(runner.WithTools(tool.Declared("look", "Looks.", params, none).That(tool.Reads), tool.Declared("mail", "Sends.", params, none).That(tool.Writes)))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range released {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(filepath.Dir(file))); err != nil {
			t.Fatal(err)
		}
		texts, err := effects.NewFolder(filepath.Join(dir, "texts"))
		if err != nil {
			t.Fatal(err)
		}
		log, err := NewFolderLog(filepath.Join(dir, "events"))
		if err != nil {
			t.Fatal(err)
		}
		replayer := worker.NewWorkflowReplayer()
		replayer.RegisterWorkflowWithOptions(NewCrew(r, texts, log).Run, workflow.RegisterOptions{Name: WorkflowRun})
		if err := replayer.ReplayWorkflowHistoryFromJSONFile(quiet(), file); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}
