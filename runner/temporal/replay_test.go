package temporal

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/internal/effects"
	"github.com/seed61713e19/capstan/runner/tool"
)

// TestReleasedHistories replays histories of released versions in testdata.
// This version must give the same commands, so it can continue their runs.
// Record a new history on a server with:
//
//	CAPSTAN_TEMPORAL='HOST:PORT NAMESPACE' CAPSTAN_RECORD_HISTORY=$PWD/testdata/v1 go test -run Server .
func TestReleasedHistories(t *testing.T) {
	released, err := filepath.Glob("testdata/*/history.json")
	if err != nil || len(released) == 0 {
		t.Fatalf("no histories: %v", err)
	}
	none := func(context.Context, tool.Call) (any, error) { panic("an effect was made") }
	params := map[string]any{"type": "object"}
	r, err := runner.New(runner.WithTools(tool.Declared("look", "Looks.", params, none).WithEffect(tool.Reads), tool.Declared("mail", "Sends.", params, none).WithEffect(tool.Writes)))
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
		replayer.RegisterWorkflowWithOptions(NewWorkers(r, texts, log).Run, workflow.RegisterOptions{Name: WorkflowRun})
		if err := replayer.ReplayWorkflowHistoryFromJSONFile(quiet(), file); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}
