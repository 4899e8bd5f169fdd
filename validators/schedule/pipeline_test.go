package schedule_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/model/scripted"
	"github.com/seed61713e19/capstan/validators/schedule"
)

const (
	script   = "../../cascades/examples/schedule.scripted.yaml"
	rejected = "../../cascades/examples/schedule.rejected.scripted.yaml"
)

// pipeline runs ../../cascades/examples/schedule.yaml on the demo data with a
// script.
func pipeline(t *testing.T, script string, input map[string]any) (engine.Result, error) {
	t.Helper()
	text, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	return scriptedPipeline(t, input, text)
}

func scriptedPipeline(t *testing.T, input map[string]any, replies []byte) (engine.Result, error) {
	t.Helper()
	dir := t.TempDir()
	open := &schedule.Databases{}
	t.Cleanup(func() { open.Close() })
	given := map[string]any{
		"creator_id": "ada", "week_start": schedule.DemoWeek, "db": schedule.DemoDSN(t),
		"signing_key": filepath.Join(dir, "private.pem"), "verification_key": filepath.Join(dir, "public.pem"),
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
	maps.Copy(given, input)
	model, err := scripted.Parse(script, replies, os.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	o := schedule.Options{Databases: open}
	r, err := runner.New(runner.WithModel(model), runner.WithValidators(schedule.Validators(o)...), runner.WithTools(schedule.Tools(o)...), runner.WithRoot(filepath.Dir(dir)))
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
	const planned = "preflight vault rankings captions send-type-allocator variety "
	const judged = " assembled critique critic quality anomaly save"
	for file, want := range map[string]string{
		script:   planned + "caption-selection-pro selection" + judged,
		rejected: planned + "variety-enforcer variety caption-selection-pro selection caption-selection-pro selection" + judged,
	} {
		res, err := pipeline(t, file, nil)
		if err != nil {
			t.Fatal(err)
		}
		var way []string
		for _, p := range res.Phases {
			way = append(way, p.Name)
		}
		if got := strings.Join(way, " "); got != want {
			t.Errorf("%s: the run went %s", file, got)
		}
		if saved, _ := res.Output.(map[string]any); saved["saved"] != true || saved["status"] != "APPROVED" {
			t.Errorf("%s: %v", file, res.Output)
		}
	}
}

func TestPipelineStops(t *testing.T) {
	for name, row := range map[string]struct {
		input map[string]any
		code  string
		phase string
	}{
		"an unknown creator": {map[string]any{"creator_id": "nobody"}, engine.Blocked, "preflight"},
		"no private key":     {map[string]any{"signing_key": "/none.pem"}, engine.Failed, "critic"}, // the first phase that signs

		"no database":  {map[string]any{"db": "/none/none.db"}, engine.Failed, "preflight"},
		"another week": {map[string]any{"week_start": "2026-01-12"}, engine.Failed, "send-type-allocator"}, // the quality gate returns the schedule there, because no strategy belongs to that week, and the script ends
	} {
		t.Run(name, func(t *testing.T) {
			res, err := pipeline(t, script, row.input)
			var no *engine.Error
			if !errors.As(err, &no) || no.Code != row.code || no.Phase != row.phase {
				t.Errorf("%v: %+v", err, no)
			}
			for _, p := range res.Phases {
				if p.Name == "save" && p.Status == engine.Succeeded {
					t.Error("the schedule was saved")
				}
			}
		})
	}
}

// goodReplies returns the last replies of the script's model: the schedule and the review.
func goodReplies(t *testing.T) (week, review map[string]any) {
	t.Helper()
	text, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	var entries []struct{ Phase, Reply string }
	if err := yaml.Unmarshal(text, &entries); err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		into := &week
		if e.Phase == "critique" {
			into = &review
		}
		*into = nil
		if err := json.Unmarshal([]byte(e.Reply), into); err != nil {
			t.Fatal(err)
		}
	}
	return week, review
}

// TestRejectionsGoBack checks that each gate of the pipeline returns a schedule to the phase in
// the tables. The script has one reply for each phase, so the run ends in that phase.
func TestRejectionsGoBack(t *testing.T) {
	item := func(i int, field string, value any) func(map[string]any) {
		return func(w map[string]any) { w["items"].([]any)[i].(map[string]any)[field] = value }
	}
	all := func(field string, value any) func(map[string]any) {
		return func(w map[string]any) {
			for _, it := range w["items"].([]any) {
				it.(map[string]any)[field] = value
			}
		}
	}
	top := func(field string, value any) func(map[string]any) {
		return func(w map[string]any) { w[field] = value }
	}
	for _, row := range []struct {
		phase  string // the model's phase whose reply is changed
		change func(map[string]any)
		gate   string
		code   string
		to     string
	}{
		{"send-type-allocator", all("send_type_key", "bundle"), "variety", "SEND_TYPE_CONCENTRATION", "variety-enforcer"},
		{"send-type-allocator", item(3, "send_type_key", "ppv"), "variety", "UNKNOWN_SEND_TYPE", "send-type-allocator"},
		{"send-type-allocator", item(3, "price", "15"), "variety", "INVALID_INPUT", "schedule-assembler"},
		{"caption-selection-pro", item(5, "content_type", "pottery"), "selection", "VAULT_VIOLATION", "caption-selection-pro"},
		{"caption-selection-pro", item(5, "content_type", "hiking"), "selection", "AVOID_TIER_VIOLATION", "caption-selection-pro"},
		{"caption-selection-pro", item(5, "send_type_key", "ppv"), "selection", "UNKNOWN_SEND_TYPE", "send-type-allocator"},
		{"caption-selection-pro", item(5, "caption_id", true), "selection", "INVALID_INPUT", "schedule-assembler"},
		{"caption-selection-pro", all("send_type_key", "bundle"), "assembled", "INSUFFICIENT_DIVERSITY", "variety-enforcer"},
		{"critique", top("revenue_aggressiveness", 81), "critic", "REVENUE_TOO_AGGRESSIVE", "revenue-optimizer"},
		{"critique", top("strategic_score", 69), "critic", "LOW_STRATEGIC_SCORE", "revenue-optimizer"},
		{"critique", top("brand_consistency", 101), "critic", "INVALID_INPUT", "critique"},
		{"caption-selection-pro", item(5, "send_type_key", "ppv_wall"), "quality", "PAGE_TYPE_VIOLATION", "send-type-allocator"},
		{"caption-selection-pro", top("strategy_metadata", nil), "quality", "MISSING_STRATEGY_METADATA", "send-type-allocator"},
		{"caption-selection-pro", item(5, "scheduled_date", "2026-01-12"), "quality", "OUTSIDE_WEEK", "schedule-assembler"},
		{"caption-selection-pro", all("days_since_last_use", 1), "quality", "LOW_QUALITY_SCORE", "revenue-optimizer"},
		{"caption-selection-pro", item(0, "price", 999), "anomaly", "PRICE_OUTLIER", "schedule-assembler"},
		{"caption-selection-pro", top("creator_id", "cleo"), "", "", ""}, // the input determines the creator
	} {
		t.Run(row.gate+" "+row.code, func(t *testing.T) {
			week, review := goodReplies(t)
			var entries []map[string]any
			for _, phase := range []string{"send-type-allocator", "caption-selection-pro", "critique"} {
				texts := maps.Clone(week)
				if phase == "critique" {
					texts = review
				}
				text, err := json.Marshal(texts)
				if err != nil {
					t.Fatal(err)
				}
				if phase == row.phase {
					var own map[string]any
					if err := json.Unmarshal(text, &own); err != nil {
						t.Fatal(err)
					}
					row.change(own)
					text, _ = json.Marshal(own)
				}
				entries = append(entries, map[string]any{"phase": phase, "reply": string(text)})
			}
			replies, err := yaml.Marshal(entries)
			if err != nil {
				t.Fatal(err)
			}
			res, err := scriptedPipeline(t, nil, replies)
			if row.gate == "" {
				if saved, _ := res.Output.(map[string]any); err != nil || saved["creator_id"] != "ada" {
					t.Errorf("%v, %v", res.Output, err)
				}
				return
			}
			var no *engine.Error
			if !errors.As(err, &no) || no.Phase != row.to {
				t.Fatalf("it went to %+v", no)
			}
			before := res.Phases[len(res.Phases)-2]
			verdict, _ := json.Marshal(res.Outputs[row.gate])
			if before.Name != row.gate || !strings.Contains(string(verdict), row.code) {
				t.Errorf("%s sent it there: %.300s", before.Name, verdict)
			}
		})
	}
}

// TestRepliesInProse checks replies with text around their JSON.
func TestRepliesInProse(t *testing.T) {
	text, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	for around, saved := range map[string]bool{
		"%s": true, "Here it is:\n```json\n%s\n```\nDone.": true, "For {ada}:\n%s": true,
		"<think>Maybe {\"items\": []}?</think>\n%s": true, `{"schedule": %s}`: true, "%s\n%s": false,
	} {
		var entries []struct{ Phase, Reply string }
		if err := yaml.Unmarshal(text, &entries); err != nil {
			t.Fatal(err)
		}
		for i := range entries {
			if entries[i].Phase != "critique" {
				entries[i].Reply = strings.ReplaceAll(around, "%s", entries[i].Reply)
			}
		}
		replies, err := yaml.Marshal(entries)
		if err != nil {
			t.Fatal(err)
		}
		res, err := scriptedPipeline(t, nil, replies)
		if out, _ := res.Output.(map[string]any); (out["saved"] == true) != saved {
			t.Errorf("%q: %v, %v", around, res.Output, err)
		}
	}
}
