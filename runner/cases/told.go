package cases

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/backtest"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/measure"
	"github.com/seed61713e19/capstan/runner/mutate"
)

// A Told is the runs of cases as a [backtest.Source], by their directories: what
// their replays told. It is not changed once it is read from.
type Told struct {
	dirs   []string
	events map[string][]event.Event
}

// Tell does the runs of the cases in the directories again. An error is that of
// the first that cannot be read, or whose cascade cannot.
func Tell(ctx context.Context, dirs []string, known cascades.Known) (Told, error) {
	t := Told{events: map[string][]event.Event{}}
	for _, dir := range dirs {
		c, err := Load(dir)
		if err != nil {
			return t, err
		}
		o := c.Run(ctx, known)
		if o.replay == nil {
			return t, fmt.Errorf("%s: %s", dir, o.Differences[0].Message)
		}
		t.add(dir, o.replay)
	}
	return t, nil
}

func (t *Told) add(dir string, r *replay) {
	t.dirs = append(t.dirs, dir)
	t.events[dir] = r.events
}

// Runs implements [backtest.Source].
func (t Told) Runs(context.Context) ([]string, error) { return t.dirs, nil }

// Events implements [backtest.Source].
func (t Told) Events(_ context.Context, dir string) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for _, e := range t.events[dir] {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// measured tells which phases catch less of the faults that are planted in their
// texts than the cascade asks for, and which have no text to plant any in. What a
// gate would have to ask a model or start a program for is not asked.
func (c *Case) measured(ctx context.Context, cascade *cascades.Cascade, r *replay) (found []Difference, without []string, err error) {
	for _, p := range cascade.EveryPhase() {
		if p.Expect.Caught > 0 {
			without = append(without, p.Name)
		}
	}
	if len(without) == 0 {
		return nil, nil, nil
	}
	run, err := runner.New()
	if err != nil {
		return nil, nil, err
	}
	told := Told{events: map[string][]event.Event{}}
	told.add(c.Dir, r)
	h := run.Host(ctx)
	texts, err := backtest.Test{Cascade: cascade, Host: h, Source: told, Any: true}.Texts(ctx)
	if err != nil {
		return nil, nil, err
	}
	texts = slices.DeleteFunc(texts, func(t backtest.Text) bool { return t.Phase.Expect.Caught == 0 })
	report, err := mutate.Test{Texts: texts, Host: h}.Run(ctx)
	if err != nil {
		return nil, nil, err
	}
	without = slices.DeleteFunc(without, func(name string) bool {
		return slices.ContainsFunc(report.Phases, func(p mutate.Phase) bool { return p.Phase == name })
	})
	for _, p := range report.Unmet() {
		d := Difference{
			About: Caught, Path: event.Path(p.Phase), Phase: p.Phase,
			Message: fmt.Sprintf("of the planted faults that are bad for sure, its checks catch %s; %s is expected", p.Always, measure.Percent(p.Expect)),
		}
		for _, s := range report.Survivors {
			if s.Phase == p.Phase && s.Sure == "always" {
				d.Diff += fmt.Sprintf("%s: %s: %s\n", s.Place, s.Operator, s.Note)
			}
		}
		found = append(found, d)
	}
	return found, without, nil
}
