package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/measures/backtest"
	"github.com/seed61713e19/capstan/internal/measures/mutate"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/edit"
	"github.com/seed61713e19/capstan/wards"
)

// A sound text is accepted by its gate. It has the gate's input and parameters.
// The cascade contains the fixed parameters, and the run passes the others.
type sound struct {
	name         string
	content      any
	fixed, given map[string]any
}

// ownGates returns the gates with faults of their own, with the page that lists
// the survivors and the accepted texts.
func ownGates(t *testing.T) map[string]struct {
	page  string
	sound []sound
} {
	schedule, certified := soundWeeks(t)
	return map[string]struct {
		page  string
		sound []sound
	}{
		"capy":                 {"reference/gates/capy.md", soundStages(t, "../../validators/capy/testdata/*.md")},
		"schedule_variety":     {"reference/gates/schedule.md", schedule["schedule_variety"]},
		"schedule_selection":   {"reference/gates/schedule.md", schedule["schedule_selection"]},
		"schedule_quality":     {"reference/gates/schedule.md", schedule["schedule_quality"]},
		"schedule_critic":      {"reference/gates/schedule.md", schedule["schedule_critic"]},
		"schedule_anomaly":     {"reference/gates/schedule.md", schedule["schedule_anomaly"]},
		"schedule_certificate": {"reference/gates/schedule.md", certified},
		"edit_verifier":        {"reference/gates/edit-verifier.md", soundEdits(t)},
		"validation_response":  {"reference/gates/validation-requests.md", soundResponses(t)},
		"completion_promise":   {"reference/gates/validation-requests.md", []sound{{name: "promise", content: readJSON(t, "../../cascades/examples/triple_gate_promise.json")}}},
		"judge_verdict":        {"reference/gates/validation-requests.md", []sound{{name: "verdict", content: map[string]any{"verdict": "PASS", "reasoning": "AC-1 by the 401, AC-2 by the test run."}}}},
	}
}

// TestPlantedGates checks that each gate finds 95 % of its own faults, that it
// rejects no sound text, and that its page lists the survivors by kind. A fault
// that ends without a verdict counts as found.
func TestPlantedGates(t *testing.T) {
	if testing.Short() {
		t.Skip("it computes for half a minute")
	}
	listed, found := map[string]string{}, map[string]string{}
	sums := map[string]mutate.Count{}
	for name, g := range ownGates(t) {
		if _, read := sums[g.page]; !read {
			maps.Copy(listed, listedSurvivors(t, g.page))
		}
		r := plantIn(t, name, g.sound)
		sums[g.page] = sums[g.page].Plus(r.Always)
		t.Logf("%-22s %s", name, r.Always)
		for operator, rate := range r.passed {
			found[name+" "+operator] = fmt.Sprintf("%d of %d", rate.K, rate.N)
			t.Logf("  %s: %d of %d pass it", operator, rate.K, rate.N)
		}
	}
	for page, all := range sums {
		t.Logf("%-22s %s", page, all)
		if !all.AtLeast(0.95) {
			t.Errorf("the gates of %s find %s of their own faults", page, all)
		}
	}
	for _, what := range slices.Sorted(maps.Keys(found)) {
		if listed[what] != found[what] {
			t.Errorf("%s: %s pass it, and its page says %q", what, found[what], listed[what])
		}
	}
	for what, count := range listed {
		if found[what] == "" {
			t.Errorf("%s: its page says that %s pass it, and none does", what, count)
		}
	}
}

// TestPlantedReal does the same with real texts, if they are present. No page
// lists their survivors, but a page must explain the kind of each.
func TestPlantedReal(t *testing.T) {
	stages := soundStages(t, "../../../shared/data/capy/*.pass.md")
	if len(stages) == 0 {
		t.Skip("no real documents here")
	}
	listed := listedSurvivors(t, "reference/gates/capy.md")
	r := plantIn(t, "capy", stages)
	t.Logf("capy %s", r.Always)
	if !r.Always.AtLeast(0.95) {
		t.Errorf("capy finds %s of its own faults in real texts", r.Always)
	}
	for operator, rate := range r.passed {
		t.Logf("  %s: %d of %d pass it", operator, rate.K, rate.N)
		if listed["capy "+operator] == "" {
			t.Errorf("%s: %d of %d pass, and the page does not say why", operator, rate.K, rate.N)
		}
	}
}

// A foundIn is a report with its survivors by operator. A fault without a
// verdict is not a survivor.
type foundIn struct {
	*mutate.Result
	passed map[string]mutate.Count
}

func plantIn(t *testing.T, gate string, list []sound) foundIn {
	t.Helper()
	c := &Command{Stdin: strings.NewReader(""), Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{}, Getenv: func(string) string { return "" }}
	s := &kit{servers: &remote{}, models: newModels(func(string) string { return "" }, false, nil, ""), progress: c.progress(true)}
	defer s.close()
	r, err := s.runner(c, runFlags{names: nameFlags{root: os.TempDir()}}, "")
	if err != nil {
		t.Fatal(err)
	}
	var texts []backtest.Text
	for _, one := range list {
		texts = append(texts, soundText(t, r, gate, one))
	}
	report, err := mutate.Test{Texts: texts, Host: r.Host(t.Context()), Seed: 1, Exec: true, Parallel: 2}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.FalseBlocks {
		t.Errorf("%s refuses what is sound: %s: %s%s", gate, f.Run, f.Reason, f.NoVerdict)
	}
	found := foundIn{report, map[string]mutate.Count{}}
	through := map[string]int{}
	for _, s := range report.Survivors {
		if len(s.NoVerdict) == 0 {
			through[s.Operator]++
			if testing.Verbose() {
				t.Logf("    %s: %s: %s: %s", s.Run, s.Operator, s.Place, s.Note)
			}
		}
	}
	report.Always.K = report.Always.N
	for _, p := range report.Phases {
		for _, o := range p.Operators {
			if n := through[o.Operator]; n > 0 {
				found.passed[o.Operator] = mutate.Count{K: n, N: o.Caught.N}
				report.Always.K -= n
			}
		}
	}
	return found
}

// soundText returns a sound text as the input of a phase with the gate.
func soundText(t *testing.T, r *runner.Runner, gate string, s sound) backtest.Text {
	t.Helper()
	inputs, given := map[string]any{"content": "{{ input.content }}"}, map[string]any{"content": s.content}
	schema := map[string]any{"content": map[string]any{}}
	maps.Copy(inputs, s.fixed)
	for name, value := range s.given {
		inputs[name], given[name], schema[name] = "{{ input."+name+" }}", value, map[string]any{}
	}
	source, err := json.Marshal(map[string]any{
		"cascade_id": "planted", "inputs_schema": schema,
		"phases": []any{map[string]any{"name": "gate", "tool": gate, "inputs": inputs}},
	})
	if err != nil {
		t.Fatal(err)
	}
	c, err := r.Parse("planted.yaml", source)
	if err != nil {
		t.Fatal(err)
	}
	return backtest.NewText(c, c.Phases[0], s.name, "", given, nil)
}

var survivorRow = regexp.MustCompile("(?m)^\\| `(\\w+)` \\| `(\\w+)` \\| (\\d+ of \\d+) \\| \\S")

// listedSurvivors returns the survivors on a page: gate and operator, with the
// number of survivors and of faults.
func listedSurvivors(t *testing.T, page string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", page))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for _, m := range survivorRow.FindAllStringSubmatch(string(text), -1) {
		rows[m[1]+" "+m[2]] = m[3]
	}
	return rows
}

func soundStages(t *testing.T, pattern string) []sound {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	var list []sound
	for _, file := range files {
		stage, _, _ := strings.Cut(filepath.Base(file), ".")
		list = append(list, sound{stage, readText(t, file), map[string]any{"stage": stage}, nil})
	}
	return list
}

func readText(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func readJSON(t *testing.T, file string) (v map[string]any) {
	t.Helper()
	if err := json.Unmarshal([]byte(readText(t, file)), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// soundEdits returns accepted candidates with their judgements, and a ledger.
// The candidates are the shipped example and the page of the verifier's own
// tests.
func soundEdits(t *testing.T) []sound {
	const shipped, own = "../../cascades/examples/", "../../validators/edit/testdata/"
	source := readText(t, own+"source.md")
	edited := strings.NewReplacer(
		"The first is about order.", "The first is about order, and R1 and R4 rest on it.",
		"The second is about identity.", "The second is about identity; R1 rests on it as well.",
		"The third is about silence.", "The third is about silence, which is what R3 is for.").Replace(source)
	state := map[string]any{
		"source_text": source, "status_text": readText(t, own+"status.yaml"), "direction_text": readText(t, own+"direction.yaml"),
		"metadata_text": readText(t, own+"metadata.yaml"),
	}
	plus := func(more ...any) map[string]any {
		out := maps.Clone(state)
		for i := 0; i < len(more); i += 2 {
			out[more[i].(string)] = more[i+1]
		}
		return out
	}
	text := map[string]any{"active_part": "text"}
	small := map[string]any{
		"source_text": readText(t, shipped+"edit_source.md"), "status_text": readText(t, shipped+"edit_status.yml"),
		"direction_text": readText(t, shipped+"edit_direction.yml"), "metadata_text": map[string]any{"candidate_source": "editor_loop"},
		"judgement": smallJudgement,
	}
	ledger := plus("judgement", readText(t, own+"judgement.yaml"), "direction_text", strings.Replace(readText(t, own+"direction.yaml"), "active_part: text", "active_part: claim_ledger", 1),
		"metadata_text", strings.NewReplacer("active_part: text", "active_part: claim_ledger", "d-04.1.md", "d-04.1.yaml").Replace(readText(t, own+"metadata.yaml")))
	mended := strings.Replace(readText(t, own+"status.yaml"), "Errors move in one direction", "Mistakes move in one direction", 1)
	small["judgement"] = answeredEdit(t, text, small, readText(t, shipped+"edit_candidate.md"))
	page := plus("judgement", readYAML(t, own+"judgement.yaml"))
	page["judgement"] = answeredEdit(t, text, page, edited)
	return []sound{
		{"page", edited, text, page},
		{"page, before it is judged", edited, map[string]any{"active_part": "text", "check": "computed"}, plus()},
		{"example", readText(t, shipped+"edit_candidate.md"), text, small},
		{"ledger", mended, map[string]any{"active_part": "claim_ledger"}, ledger},
		{"ledger, before it is judged", mended, map[string]any{"active_part": "claim_ledger", "check": "computed"}, ledger},
		{"judgement", small["judgement"], map[string]any{"active_part": "text", "check": "judgement"}, func() map[string]any {
			given := maps.Clone(small)
			delete(given, "judgement")
			given["candidate_text"] = readText(t, shipped+"edit_candidate.md")
			return given
		}()},
	}
}

// answeredEdit returns the judgement of a state with an answer to each change of a candidate:
// the change improves the text, and both sides are quoted.
func answeredEdit(t *testing.T, fixed, given map[string]any, candidate string) map[string]any {
	t.Helper()
	with := maps.Clone(given)
	maps.Copy(with, fixed)
	judgement := maps.Clone(with["judgement"].(map[string]any))
	delete(with, "judgement")
	with["check"] = "computed"
	check, err := edit.Validator.Bind(with)
	if err != nil {
		t.Fatal(err)
	}
	v, err := check(t.Context(), validators.Subject{Content: candidate})
	if err != nil {
		t.Fatal(err)
	}
	answers := map[string]any{}
	for _, c := range v.Details.(map[string]any)["changes"].([]any) {
		c := c.(map[string]any)
		answers[c["key"].(string)] = map[string]any{"result": "improves", "old_quote": c["old"], "new_quote": c["now"], "reason": "It says the same."}
	}
	judgement["changes"] = answers
	return judgement
}

func readYAML(t *testing.T, file string) (v map[string]any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(readText(t, file)), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// smallJudgement is a judgement of the shipped example that accepts everything.
var smallJudgement = map[string]any{
	"claims": map[string]any{
		"C1": map[string]any{"result": "pass", "reason": "The sentence is unchanged."}, "C2": map[string]any{"result": "pass", "reason": "The sentence is unchanged."},
		"C3": map[string]any{"result": "pass", "reason": "R2 says it."},
	},
	"presentation": map[string]any{"voice": "pass", "register": "pass", "avoid": "pass", "preserve": "pass"},
	"primary_goal": "improved", "secondary_goals": map[string]any{"SG1": "unchanged"}, "non_goals": "pass", "gap_policy": "pass",
	"direction":        map[string]any{"intent": "pass", "constraints": map[string]any{"K1": "pass", "K2": "pass"}},
	"adds_requirement": false, "hides_derivation": false, "hides_bridge": false, "part_goal_met": true, "status_defects": []any{},
	"direction_conflicts_status": false, "requires_followup_text_candidate": false, "followup_reason": "",
}

// soundResponses returns the last answer of the shipped script, and a response
// with evidence of every form.
func soundResponses(t *testing.T) []sound {
	request := readJSON(t, "../../cascades/examples/triple_gate_request.json")
	answer := map[string]any{
		"task_id": "login-7f3a", "verdict": "PASS", "timestamp": "2026-02-17T14:30:00Z", "confidence": 0.9, "reasoning": "Both hold.",
		"criteria_results": []any{
			map[string]any{"criterion_id": "AC-1", "status": "PASS", "evidence": "POST /login with a wrong password answers 401", "evidence_refs": []any{"api_responses/0"}},
			map[string]any{"criterion_id": "AC-2", "status": "PASS", "evidence": "go test ./login: 12 passed, 0 failed", "evidence_refs": []any{"test_results"}},
		},
		"evidence_collected": map[string]any{
			"test_results":  map[string]any{"command": "go test ./login", "exit_code": 0, "passed": 12, "failed": 0},
			"file_checks":   []any{map[string]any{"path": "login/handler.go", "exists": true, "size_bytes": 4120, "contains_expected": true}},
			"api_responses": []any{map[string]any{"endpoint": "/login", "method": "POST", "status_code": 401}},
		},
	}
	return []sound{
		{"answer", answer, nil, map[string]any{"request": request}},
		{"strict", answer, map[string]any{"strict": true}, map[string]any{"request": request}},
		{"form", answer, map[string]any{"check": "protocol"}, map[string]any{"request": request}},
	}
}

// soundWeeks returns the inputs of the shipped schedule's gates after its
// script has run, by gate, and the week with its certificate.
func soundWeeks(t *testing.T) (map[string][]sound, []sound) {
	t.Helper()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	getenv := func(name string) string { return map[string]string{"CAPSTAN_STORE": in("runs.db")}[name] }
	capstan := func(args ...string) []byte {
		t.Helper()
		var out, stderr bytes.Buffer
		c := &Command{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &stderr, Getenv: getenv}
		if got := c.Run(t.Context(), args); got != 0 {
			t.Fatalf("%q ended with %d: %s", args, got, stderr.String())
		}
		return out.Bytes()
	}
	capstan("schedule", "init", in("demo.db"), "--demo")
	capstan("receipt", "keygen", "--dir", dir)
	capstan("schedule", "settings", in("demo.db"), "--verification-key", in("public.pem"))
	capstan("run", "../../cascades/examples/schedule.yaml", "--model", "scripted", "-q", "--run-id", "week", "--root", in("."), "--input", "creator_id=ada", "--input", "week_start=2026-01-05",
		"--input", "db="+in("demo.db"), "--input", "signing_key="+in("private.pem"), "--input", "verification_key="+in("public.pem"))
	var run struct{ Outputs map[string]any }
	if err := json.Unmarshal(capstan("show", "week", "--json"), &run); err != nil {
		t.Fatal(err)
	}
	detail := func(phase, field string) any {
		return run.Outputs[phase].(map[string]any)["details"].(map[string]any)[field]
	}
	week := run.Outputs["caption-selection-pro"].(map[string]any)
	certified := maps.Clone(week)
	certified["validation_certificate"] = detail("quality", "validation_certificate")
	db := map[string]any{"db": in("demo.db")}
	keyed := map[string]any{"db": in("demo.db"), "signing_key": in("private.pem")}
	of := func(content map[string]any, given map[string]any) []sound {
		return []sound{{"week", content, nil, given}}
	}
	whole := map[string]any{"schedule": week, "creator_id": "ada", "week_start": "2026-01-05"}
	plus := func(name string, value any, more ...any) map[string]any {
		out := maps.Clone(whole)
		out[name] = value
		for i := 0; i < len(more); i += 2 {
			out[more[i].(string)] = more[i+1]
		}
		return out
	}
	return map[string][]sound{
		"schedule_variety":   of(week, nil),
		"schedule_selection": of(whole, db),
		"schedule_anomaly":   of(whole, db),
		"schedule_critic":    of(plus("review", run.Outputs["critique"]), map[string]any{"signing_key": in("private.pem")}),
		"schedule_quality":   of(plus("validation_proof", detail("selection", "validation_proof"), "critic_certificate", detail("critic", "critic_certificate")), keyed),
	}, of(certified, map[string]any{"db": in("demo.db"), "verification_key": in("public.pem")})
}

// TestPlantedInGroups checks that a phase with a validator has the same digest
// within a group and outside. Without a digest, its faults would not become
// labels.
func TestPlantedInGroups(t *testing.T) {
	r, err := runner.New()
	if err != nil {
		t.Fatal(err)
	}
	c, err := cascades.Load("c.yaml", func(string) ([]byte, error) {
		return []byte(`cascade_id: c
phases:
- {name: g, together: [{name: a, tool: non_empty, inputs: {content: x}}, {name: b, compose: b}]}
- {name: z, tool: non_empty, inputs: {content: x}}
`), nil
	}, r.Known())
	if err != nil {
		t.Fatal(err)
	}
	p, err := newPlanted(c, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, phase := range c.EveryPhase() {
		if got := p.identity(phase, &wards.Ward{}); (got != "") != (phase.Tool != nil) {
			t.Errorf("phase %s: %q", phase.Name, got)
		}
	}
}
