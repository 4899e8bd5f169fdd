package testcases

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/measures/backtest"
	"github.com/seed61713e19/capstan/internal/measures/mutate"
	"github.com/seed61713e19/capstan/internal/measures/stats"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/event"
)

// Replays replays the test cases in the folders, and returns their events by folder. It returns the
// error of the first test case that cannot be read or whose cascade does not load.
func Replays(ctx context.Context, dirs []string, known cascades.Known) (backtest.Source, error) {
	replays := map[string]*replay{}
	for _, dir := range dirs {
		c, err := Load(dir)
		if err != nil {
			return backtest.Source{}, err
		}
		o := c.Run(ctx, known)
		if o.replay == nil {
			return backtest.Source{}, fmt.Errorf("%s: %s", dir, o.Differences[0].Message)
		}
		replays[dir] = o.replay
	}
	return sourceOf(dirs, replays), nil
}

// sourceOf returns the events of replays.
func sourceOf(dirs []string, replays map[string]*replay) backtest.Source {
	return backtest.Source{Runs: dirs, Events: func(_ context.Context, dir string) iter.Seq2[event.Event, error] {
		return func(yield func(event.Event, error) bool) {
			for _, e := range replays[dir].events {
				if !yield(e, nil) {
					return
				}
			}
		}
	}}
}

// plantFaults plants faults in the released texts of a replay. It returns a difference for each
// phase whose checks catch less than the cascade expects, and the phases without a released text.
// Judges and programs are not called.
func (c *Case) plantFaults(ctx context.Context, cascade *cascades.Cascade, r *replay) (found []Difference, without []string, err error) {
	for _, p := range cascade.EveryPhase() {
		if p.Caught > 0 {
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
	source := sourceOf([]string{c.Dir}, map[string]*replay{c.Dir: r})
	h := run.Host(ctx)
	texts, err := backtest.Test{Cascade: cascade, Host: h, Source: source, Any: true}.Texts(ctx)
	if err != nil {
		return nil, nil, err
	}
	texts = slices.DeleteFunc(texts, func(t backtest.Text) bool { return t.Phase.Caught == 0 })
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
			Message: fmt.Sprintf("of the planted faults that are bad for sure, its checks catch %s; %s is expected", p.Always, stats.Percent(p.Expect)),
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
