package cascades

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner/measure"
	"github.com/seed61713e19/capstan/validators/builtins"
	"github.com/seed61713e19/capstan/wards"
)

const promoted = `cascade_id: promoted
model: m
phases:
- name: a
  instructions: x
  wards:
    post:
    - {CHECK, name: gate, mode: retry, promote_when: {false_pass: 0.1, false_block: 0.1}}
`

// A gate may refuse something only while there is evidence for exactly the gate
// that it is; else it is in shadow, which is told.
func TestPromotion(t *testing.T) {
	of := func(c measure.Confusion) measure.Tally { return measure.Tally{{Weight: 1, Texts: c}} }
	const long, judge = `expr: "len(content) > 3"`, `judge: "Is it long?"`
	strong := of(measure.Confusion{GoodPassed: 50, BadRefused: 50})
	for name, c := range map[string]struct {
		was, is string // the check that was measured, and that stands there
		chosen  Chosen
		change  func(*measure.Evidence)
		text    string // in place of the evidence
		why     string // "" where it is promoted
	}{
		"none":             {is: long, text: "none", why: "there is no evidence for it: no dir/evidence/gate.json"},
		"enough":           {was: long, is: long},
		"another spelling": {was: long, is: `expr: 'len(content) > 3'`},
		"another gate":     {was: long, is: `expr: "len(content) > 4"`, why: "belongs to an earlier version of the gate"},
		"another phase":    {was: long, is: long, change: func(e *measure.Evidence) { e.Phase = "b" }, why: "has no evidence for it in phase a"},
		"too few":          {was: long, is: long, change: func(e *measure.Evidence) { e.Natural = of(measure.Confusion{GoodPassed: 5, BadRefused: 50}) }, why: "it rejected 0 of 5 good texts"},
		"no labels":        {was: long, is: long, change: func(e *measure.Evidence) { e.Natural = nil }, why: "it judged no text that is labelled bad"},
		"too weak": {was: long, is: long, change: func(e *measure.Evidence) {
			e.Natural = of(measure.Confusion{GoodPassed: 50, BadPassed: 20, BadRefused: 50})
		}, why: "it passed 20 of 70 bad texts"},
		"broken":             {is: long, text: "{}", why: "evidence: its format is not"},
		"a cascade":          {was: "cascade: says.yaml", is: "cascade: says.yaml"},
		"a judge":            {was: judge, is: judge, change: func(e *measure.Evidence) { e.Asks, e.Hollow = true, &measure.Hollow{Asked: 12} }},
		"of another model":   {was: judge, is: judge, chosen: "n", change: func(e *measure.Evidence) { e.Asks, e.Hollow = true, &measure.Hollow{Asked: 12} }, why: "or to another model"},
		"that passes nought": {was: judge, is: judge, change: func(e *measure.Evidence) { e.Asks, e.Hollow = true, &measure.Hollow{Asked: 12, Passed: []string{":"}} }, why: `it passes ":"`},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"dir/says.yaml": "cascade_id: says\nphases: [{name: a, compose: '{\"valid\": true}'}]\n"}
			open := func(name string) ([]byte, error) {
				text, there := files[name]
				if !there {
					return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
				}
				return []byte(text), nil
			}
			load := func(check string, chosen Chosen) *Cascade {
				t.Helper()
				files["dir/c.yaml"] = strings.Replace(promoted, "CHECK", check, 1)
				c, err := Load("dir/c.yaml", open, Known{Validators: builtins.Default(), Chosen: chosen})
				if err != nil {
					t.Fatal(err)
				}
				return c
			}
			if c.text != "" {
				files["dir/evidence/gate.json"] = strings.TrimPrefix(c.text, "none")
			}
			if c.text == "none" {
				delete(files, "dir/evidence/gate.json")
			}
			if c.was != "" {
				gates, err := load(c.was, "").Gates("", open)
				if err != nil {
					t.Fatal(err)
				}
				e := measure.Evidence{Digest: gates[0].Digest, Cascade: "promoted", Phase: "a", Moment: "post", By: "test", Natural: strong}
				if c.change != nil {
					c.change(&e)
				}
				text, err := measure.EvidenceFile{Gate: "gate"}.With(e).Text()
				if err != nil {
					t.Fatal(err)
				}
				files["dir/evidence/gate.json"] = string(text)
			}
			got := load(c.is, c.chosen)
			mode := got.Phases[0].Wards.Post[0].Ward.Mode
			if c.why == "" && (mode != wards.Retry || len(got.Warnings) > 0) {
				t.Errorf("it is in mode %s: %v", mode, got.Warnings)
			}
			if c.why != "" && (mode != wards.Shadow || len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0].Message, c.why)) {
				t.Errorf("it is in mode %s: %v", mode, got.Warnings)
			}
			// What the run has kept says the same, whatever became of the files.
			kept := got.Files
			again, err := Load("dir/c.yaml", Unpacked(kept), Known{Validators: builtins.Default(), Chosen: c.chosen})
			if err != nil || again.Phases[0].Wards.Post[0].Ward.Mode != mode {
				t.Errorf("kept, it is another: %v", err)
			}
		})
	}
}

// Where evidence cannot be read there is none, for the reason that is told.
func TestEvidenceUnread(t *testing.T) {
	locked := func(string) ([]byte, error) { return nil, fs.ErrPermission }
	for want, open := range map[string]Opener{"there are no files here": nil, fs.ErrPermission.Error(): locked} {
		if _, file, why := (&Cascade{}).Evidence("gate", "", "a", wards.Post, open); file != "" || !strings.Contains(why, want) {
			t.Errorf("got %q, %q, want %q", file, why, want)
		}
	}
}
