package cascades

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/cascadestest"
	"github.com/seed61713e19/capstan/internal/graphs"
	"github.com/seed61713e19/capstan/templates"
)

// described are the files whose descriptions are in testdata/described.txt.
var described = []string{"full", "models", "databases", "tries", "tries_first", "long", "ways", "prices", "remote", "means", "rest", "gate_needs"}

// TestDescriptions compares the texts of cascades with a file: the description,
// the plan, the checks, and the graphs with and without a run.
func TestDescriptions(t *testing.T) {
	var b strings.Builder
	for _, name := range described {
		file := "testdata/good/" + name + ".yaml"
		c, err := Load(filepath.Base(file), folder(filepath.Dir(file)), known())
		if err != nil {
			t.Fatal(err)
		}
		gates, _ := c.Gates("", nil) // it reads no programs
		fmt.Fprintf(&b, "%s\n%s\n%s\n", file, c.Describe().Text(), c.Plan("", c.Priced()).Text())
		for _, g := range gates {
			fmt.Fprintf(&b, "%s: %s %s %.19s, up to %d at %s, of a validator: %t\n", g.At(), g.Mode, g.Model, g.Digest, g.Ward.MaxAttempts, g.Position, g.Validator != nil)
		}
		for _, p := range c.EveryPhase() {
			for _, check := range p.Checks() {
				broken := Ending{Phase: p.Name, Ward: check.Ward, Err: &templates.Error{Line: 1, Column: 2}}
				fmt.Fprintf(&b, "%s %s: at %v, in its text %v, of text alone %v, sees it %v, written %s\n", p.Name, p.Moment(check), c.Where(Ending{Phase: p.Name, Ward: check.Ward}), c.Where(broken), check.Validator.OfText(), check.Validator.sees(), check.written())
				if text := c.Unnamed(p.Name, string(p.Moment(check)), check.Place.Index); text != "" {
					fmt.Fprintf(&b, "%s %s: %s\n", p.Name, p.Moment(check), text)
				}
			}
		}
		asks := func(reason string, list []Asking) {
			for _, a := range list {
				of := "no phase"
				if a.Phase != nil {
					of = a.Phase.Name
				}
				fmt.Fprintf(&b, "%s%s asks %q for %s %q\n", reason, a.Cascade.ID, a.Name, of, a.Role)
			}
		}
		asks("", c.Asking("", nil))
		asks("rest: ", c.Asking("", func(p *Phase) bool { return p == c.Phases[0] || p == c.Phases[1] }))
		if all := c.Asking("chosen", nil); !slices.Equal(c.Asking("chosen", func(*Phase) bool { return false }), all) {
			t.Errorf("%s: before anything has finished the rest is not %v", name, all)
		}
		for _, name := range slices.Sorted(maps.Keys(c.Validators)) {
			asks(name+": ", c.AskingOf(c.Validators[name], "chosen"))
		}
		for _, n := range c.Needs() {
			fmt.Fprintf(&b, "%s: phase %s: %s needs %s%s %q\n", n.Position, n.Phase, n.What, n.Program, n.Remote.Name, n.Variables)
		}
		for _, p := range c.EveryPhase() {
			if queue := c.Queue(nil, p.Name, ""); queue != "" {
				fmt.Fprintf(&b, "%s: queue %q, within it %q, of another file %q\n", p.Name, queue, c.Queue(nil, "", p.Name), c.Queue(&Place{File: "other"}, p.Name, ""))
			}
		}
		for _, p := range c.EveryPhase() {
			var tries []string
			for i := 0; p.Soundings != nil && i < 8; i++ {
				tries = append(tries, p.Asked(i, fmt.Sprint("try ", i)).String())
			}
			if tries != nil {
				fmt.Fprintf(&b, "%s: tries ask %q\n", p.Name, tries)
			}
		}
		for _, of := range c.Within() {
			fmt.Fprintf(&b, "within: %s %q, uses read_file: %v, programs: %v, variables %q\n", of.ID, of.RunsCommands(), of.uses("read_file"), of.RunsPrograms(), of.Variables())
		}
		d := c.Describe()
		for _, p := range d.Phases {
			fmt.Fprintf(&b, "%s\n", asJSON(t, p))
		}
		d.Phases, d.Files = nil, nil
		fmt.Fprintf(&b, "%s\n%s\n", asJSON(t, d), asJSON(t, c.Params()))
		plan := c.Plan("", c.Priced())
		for _, p := range plan.Phases {
			fmt.Fprintf(&b, "%s\n", asJSON(t, p))
		}
		plan.Phases = nil
		fmt.Fprintf(&b, "%s\n", asJSON(t, plan))
		g := c.Graph(nil)
		fmt.Fprintf(&b, "%s\n%s\n%s\n", g.Mermaid(), g.Dot(), g.SVG())
		if c.Tries != nil || name == "ways" {
			g := c.Graph(marksOf(c))
			for _, s := range g.Spots() {
				fmt.Fprintf(&b, "%s: %.1f %.1f %.1f %.1f\n", s.Name, s.X, s.Y, s.Width, s.Height)
			}
			fmt.Fprintf(&b, "%s\n%s\n%s\n", g.Mermaid(), g.Dot(), g.SVG())
		}
	}
	cascadestest.Golden(t, *update, "testdata/described.txt", b.String())
}

func asJSON(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// marksOf returns marks of every kind: the statuses in turn, no visit to the
// last phase, and each handoff taken up to twice.
func marksOf(c *Cascade) *graphs.Marks {
	m := &graphs.Marks{Phases: map[string]graphs.Mark{}, Taken: map[graphs.Passed]int{}, Won: 2}
	statuses := append([]string{"blocked", "cancelled", "degraded", "exhausted", "failed", "over_budget", "skipped", "succeeded", "waiting"}, "", "odd")
	for i, p := range c.Phases[:len(c.Phases)-1] {
		m.Phases[p.Name] = graphs.Mark{Status: statuses[i%len(statuses)], Visits: 1 + i%3, Attempts: 1 + i%2}
		for j, w := range c.ways(i) {
			passed := graphs.Passed{From: p.Name, To: c.Phases[w.To].Name}
			if w.Kind == graphs.Failed {
				passed.Left = w.Label
			}
			m.Taken[passed] = (i + j) % 3
		}
	}
	return m
}
