package runner_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/model"
)

const report = `
cascade_id: report
phases:
  - {name: outline, instructions: Outline.}
  - {name: draft, instructions: "Draft from {{ outputs.outline }}."}
`

// A service has one runner over one journal.
func newService(store string, m model.Func) (*runner.Runner, *journal.Journal, error) {
	j, err := journal.Open(store, journal.Options{})
	if err != nil {
		return nil, nil, err
	}
	r, err := runner.New(runner.WithModel(m), runner.WithJournal(j))
	return r, j, err
}

// resumeAll continues the runs that a crash has left. A service calls it when it starts.
func resumeAll(ctx context.Context, r *runner.Runner, j *journal.Journal) error {
	left, err := j.Abandoned(ctx)
	if err != nil {
		return err
	}
	for _, id := range left {
		res, err := r.Resume(ctx, id)
		if err != nil {
			return err
		}
		fmt.Println("resumed", id+":", res.Output)
	}
	return nil
}

// The first process of a service crashes while its model writes the second phase. The next
// process continues the run, and does not repeat the first phase.
func Example_resumeAfterCrash() {
	ctx := context.Background()
	if store := os.Getenv("CRASH_IN"); store != "" { // the first process
		r, _, err := newService(store, func(_ context.Context, req model.Request) (model.Response, error) {
			if req.Phase == "draft" {
				os.Exit(9)
			}
			return model.Response{Text: "three facts"}, nil
		})
		if err != nil {
			panic(err)
		}
		c, err := r.Parse("report.yaml", []byte(report))
		if err != nil {
			panic(err)
		}
		_, err = r.Run(ctx, c, nil, runner.WithRunID("report-1"))
		panic(err) // the process exits before
	}
	dir, err := os.MkdirTemp("", "service")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	store := filepath.Join(dir, "runs.db")
	first := exec.Command(os.Args[0], "-test.run=^Example_resumeAfterCrash$")
	first.Env = append(os.Environ(), "CRASH_IN="+store)
	fmt.Println("first process:", first.Run())

	r, j, err := newService(store, func(_ context.Context, req model.Request) (model.Response, error) {
		fmt.Println("model call of phase", req.Phase)
		return model.Response{Text: "A report of three facts."}, nil
	})
	if err != nil {
		panic(err)
	}
	defer j.Close()
	if err := resumeAll(ctx, r, j); err != nil {
		panic(err)
	}
	// Output:
	// first process: exit status 9
	// model call of phase draft
	// resumed report-1: A report of three facts.
}
