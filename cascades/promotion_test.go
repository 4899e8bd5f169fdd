package cascades

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/measures/stats"
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

// TestPromotion checks that a gate rejects only with evidence for this exact
// gate. Otherwise the gate is a shadow, and the reason is reported.
func TestPromotion(t *testing.T) {
	of := func(c stats.Confusion) stats.Tally { return stats.Tally{{Weight: 1, Texts: c}} }
	const long, judge = `expr: "len(content) > 3"`, `judge: "Is it long?"`
	strong := of(stats.Confusion{GoodPassed: 50, BadRefused: 50})
	for name, c := range map[string]struct {
		was, is string // the measured check and the current check
		chosen  Chosen
		change  func(*stats.Evidence)
		text    string // instead of the evidence
		reason  string // empty if the gate is promoted
	}{
		"none":             {is: long, text: "none", reason: "there is no evidence for it: no dir/evidence/gate.json"},
		"enough":           {was: long, is: long},
		"another spelling": {was: long, is: `expr: 'len(content) > 3'`},
		"another gate":     {was: long, is: `expr: "len(content) > 4"`, reason: "belongs to an earlier version of the gate"},
		"another phase":    {was: long, is: long, change: func(e *stats.Evidence) { e.Phase = "b" }, reason: "has no evidence for it in phase a"},
		"too few":          {was: long, is: long, change: func(e *stats.Evidence) { e.Natural = of(stats.Confusion{GoodPassed: 5, BadRefused: 50}) }, reason: "it rejected 0 of 5 good texts"},
		"no labels":        {was: long, is: long, change: func(e *stats.Evidence) { e.Natural = nil }, reason: "it judged no text that is labelled bad"},
		"too weak": {was: long, is: long, change: func(e *stats.Evidence) {
			e.Natural = of(stats.Confusion{GoodPassed: 50, BadPassed: 20, BadRefused: 50})
		}, reason: "it passed 20 of 70 bad texts"},
		"broken":           {is: long, text: "{}", reason: "evidence: its format is not"},
		"a cascade":        {was: "cascade: says.yaml", is: "cascade: says.yaml"},
		"a judge":          {was: judge, is: judge, change: func(e *stats.Evidence) { e.AsksModel, e.EmptyTexts = true, &stats.EmptyTextResult{Judged: 12} }},
		"of another model": {was: judge, is: judge, chosen: "n", change: func(e *stats.Evidence) { e.AsksModel, e.EmptyTexts = true, &stats.EmptyTextResult{Judged: 12} }, reason: "or to another model"},
		"that passes nought": {was: judge, is: judge, change: func(e *stats.Evidence) {
			e.AsksModel, e.EmptyTexts = true, &stats.EmptyTextResult{Judged: 12, Passed: []string{":"}}
		}, reason: `it passes ":"`},
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
				e := stats.Evidence{Digest: gates[0].Digest, Cascade: "promoted", Phase: "a", Moment: "post", By: "test", Natural: strong}
				if c.change != nil {
					c.change(&e)
				}
				text, err := stats.EvidenceFile{Gate: "gate"}.With(e).Text()
				if err != nil {
					t.Fatal(err)
				}
				files["dir/evidence/gate.json"] = string(text)
			}
			got := load(c.is, c.chosen)
			mode := got.Phases[0].Wards.Post[0].Ward.Mode
			if c.reason == "" && (mode != wards.Retry || len(got.Warnings) > 0) {
				t.Errorf("it is in mode %s: %v", mode, got.Warnings)
			}
			if c.reason != "" && (mode != wards.Shadow || len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0].Message, c.reason)) {
				t.Errorf("it is in mode %s: %v", mode, got.Warnings)
			}
			// The stored files of the run give the same result, whatever
			// happens to the originals.
			stored := got.Files
			again, err := Load("dir/c.yaml", Unpacked(stored), Known{Validators: builtins.Default(), Chosen: c.chosen})
			if err != nil || again.Phases[0].Wards.Post[0].Ward.Mode != mode {
				t.Errorf("the stored cascade differs: %v", err)
			}
		})
	}
}
