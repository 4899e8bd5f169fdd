package schedule_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/model/scripted"
	"github.com/seed61713e19/capstan/validators/schedule"
)

// pipeline runs ../../cascades/examples/schedule.yaml on the demo data with its script.
func pipeline(t *testing.T, input map[string]any) (runner.Result, error) {
	t.Helper()
	dir := t.TempDir()
	open := &schedule.Databases{}
	t.Cleanup(func() { open.Close() })
	given := map[string]any{
		"creator_id": "ada", "week_start": schedule.DemoWeek, "db": filepath.Join(dir, "demo.db"),
		"signing_key": filepath.Join(dir, "private.pem"), "verification_key": filepath.Join(dir, "public.pem"),
	}
	if err := schedule.Init(t.Context(), given["db"].(string), true); err != nil {
		t.Fatal(err)
	}
	private, public, err := schedule.Keygen()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"private.pem": private, "public.pem": public} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, value := range input {
		given[name] = value
	}
	const file = "../../cascades/examples/schedule.scripted.yaml"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	script, err := scripted.Parse(file, text, os.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	o := schedule.Options{Databases: open}
	r, err := runner.New(runner.WithModel(script), runner.WithValidators(schedule.Validators(o)...), runner.WithTools(schedule.Tools(o)...))
	if err != nil {
		t.Fatal(err)
	}
	c, err := r.Load("../../cascades/examples/schedule.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return r.Run(context.Background(), c, given)
}

func TestPipeline(t *testing.T) {
	res, err := pipeline(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	var way []string
	for _, p := range res.Phases {
		way = append(way, p.Name)
	}
	want := "preflight vault rankings captions send-type-allocator variety variety-enforcer variety caption-selection-pro selection " +
		"caption-selection-pro selection critique critic quality anomaly save"
	if got := strings.Join(way, " "); got != want {
		t.Errorf("the run went %s", got)
	}
	if saved, _ := res.Output.(map[string]any); saved["saved"] != true || saved["status"] != schedule.Approved {
		t.Errorf("%v", res.Output)
	}
}

func TestPipelineStops(t *testing.T) {
	for name, row := range map[string]struct {
		input map[string]any
		code  string
		phase string
	}{
		"an unknown creator": {map[string]any{"creator_id": "nobody"}, runner.Blocked, "preflight"},
		"no private key":     {map[string]any{"signing_key": "/none.pem"}, runner.Failed, "quality"},
		"no database":        {map[string]any{"db": "/none/none.db"}, runner.Failed, "preflight"},
		"another week":       {map[string]any{"week_start": "2026-01-12"}, runner.Failed, "schedule-assembler"}, // where quality sends it, and the script ends
	} {
		t.Run(name, func(t *testing.T) {
			res, err := pipeline(t, row.input)
			var no *runner.Error
			if !errors.As(err, &no) || no.Code != row.code || no.Phase != row.phase {
				t.Errorf("%v: %+v", err, no)
			}
			for _, p := range res.Phases {
				if p.Name == "save" && p.Status == runner.Succeeded {
					t.Error("it was saved all the same")
				}
			}
		})
	}
}
