package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/seed61713e19/capstan/internal/messages"
	"github.com/seed61713e19/capstan/internal/textdiff"
	"github.com/seed61713e19/capstan/internal/trace"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
)

// compare prints the differences between the last run and a new one, which becomes the
// last. A run that is not stored changes nothing.
func (w *rewatch) compare(ctx context.Context, id string) error {
	if id == "" {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	j, err := w.openStored(w.flags.store, true)
	if err != nil {
		return err
	}
	defer j.Close()
	now, err := tracedRun(ctx, j, id)
	if now == nil || err != nil {
		return err
	}
	was, err := tracedRun(ctx, j, w.run)
	w.run = id
	if was == nil || err != nil {
		return err
	}
	var out strings.Builder
	printDifferences(&out, was, now)
	if out.Len() == 0 {
		out.WriteString("no difference\n")
	}
	_, err = io.WriteString(w.visible(), out.String())
	return err
}

// A comparedRun is a run in the form that is compared.
type comparedRun struct {
	status string
	phases []comparedPhase
}

// A comparedPhase is one visit with the verdicts of its last attempt.
type comparedPhase struct {
	path     event.Path
	status   string
	text     string
	checks   []string
	verdicts map[string]string
}

// tracedRun returns a stored run, or nil if there is none.
func tracedRun(ctx context.Context, j *journal.Journal, id string) (*comparedRun, error) {
	run, err := j.Run(ctx, id)
	if errors.Is(err, runner.ErrNoRun) {
		return nil, nil
	}
	if err != nil {
		return nil, &exit{exitBroken, err}
	}
	folded, err := trace.Fold(j.Events(ctx, run.RunID, 0, journal.Brief))
	if err != nil {
		return nil, &exit{exitBroken, err}
	}
	out := &comparedRun{status: run.Status}
	for p := range folded.All() {
		out.phases = append(out.phases, comparedOf(p))
	}
	return out, nil
}

// comparedOf returns a visit in the form that is compared.
func comparedOf(p *trace.Phase) comparedPhase {
	c := comparedPhase{path: p.Path, status: p.Status, verdicts: map[string]string{}}
	verdicts := p.Verdicts
	if p.Status == engine.Succeeded {
		c.text = messages.Text(p.Output)
	}
	if last := p.Last(); last != nil {
		verdicts = append(verdicts[:len(verdicts):len(verdicts)], last.Verdicts...)
		for _, turn := range last.Turns {
			verdicts = append(verdicts, turn.Verdicts...)
		}
		if c.text == "" {
			c.text = last.Text
		}
	}
	for i := range verdicts {
		v := &verdicts[i].Verdict
		name := strings.TrimSpace(v.CheckMoment() + " " + checkName(nil, v))
		if _, again := c.verdicts[name]; !again {
			c.checks = append(c.checks, name)
		}
		switch {
		case v.Error != nil:
			c.verdicts[name] = "! " + oneLine(*v.Error)
		case v.Skipped():
			c.verdicts[name] = "· " + oneLine(v.Reason)
		case *v.Valid:
			c.verdicts[name] = "✓"
		default:
			c.verdicts[name] = "✗ " + oneLine(v.Reason)
		}
	}
	return c
}

// printDifferences prints what differs between two runs of a cascade.
func printDifferences(out io.Writer, was, now *comparedRun) {
	if was.status != now.status {
		fmt.Fprintf(out, "status: %s → %s\n", was.status, now.status)
	}
	before := map[event.Path]comparedPhase{}
	for _, p := range was.phases {
		before[p.path] = p
	}
	for _, p := range now.phases {
		old, known := before[p.path]
		delete(before, p.path)
		if !known {
			fmt.Fprintf(out, "%s: new, %s\n", p.path, p.status)
			continue
		}
		p.differences(out, old)
	}
	for _, p := range was.phases {
		if _, notRun := before[p.path]; notRun {
			fmt.Fprintf(out, "%s: not run\n", p.path)
		}
	}
}

// differences prints what differs between two visits of a phase.
func (p comparedPhase) differences(out io.Writer, old comparedPhase) {
	if p.status != old.status {
		fmt.Fprintf(out, "%s: %s → %s\n", p.path, old.status, p.status)
	}
	for _, name := range p.checks {
		was, known := old.verdicts[name]
		switch now := p.verdicts[name]; {
		case !known:
			fmt.Fprintf(out, "%s: new check %s: %s\n", p.path, name, now)
		case was != now:
			fmt.Fprintf(out, "%s: %s: %s → %s\n", p.path, name, was, now)
		}
	}
	for _, name := range old.checks {
		if _, known := p.verdicts[name]; !known {
			fmt.Fprintf(out, "%s: %s: not run\n", p.path, name)
		}
	}
	if p.text == old.text {
		return
	}
	fmt.Fprintf(out, "%s: text changed\n", p.path)
	lines := strings.Split(strings.TrimRight(textdiff.Unified("", "", old.text, p.text), "\n"), "\n")
	lines = lines[min(len(lines), 2):] // the names of the two texts
	for _, line := range lines[:min(len(lines), maxShortDifference)] {
		fmt.Fprintf(out, "  %s\n", line)
	}
	if more := len(lines) - maxShortDifference; more > 0 {
		fmt.Fprintf(out, "  … %d more lines\n", more)
	}
}

// maxShortDifference is the number of lines of a difference that a watch prints.
const maxShortDifference = 20
