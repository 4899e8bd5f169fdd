package backtest

import (
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/trace"
	"github.com/seed61713e19/capstan/wards"
)

// reworded holds the instructions that a model has put in other words against the
// pre-wards, each try's, and notes the tries that would not have begun: one that is
// lost leaves the others.
func (v *visitTest) reworded() error {
	v.lost = map[event.Path]bool{}
	for _, c := range v.visit.Calls {
		at, of, rewrites := strings.Cut(string(c.Path), "/mutation/")
		if !rewrites || strings.Contains(of, "/") || c.Response == nil || strings.TrimSpace(c.Response.Text) == "" {
			continue
		}
		s := &slot{said: engine.Said{At: event.Path(at), Text: c.Response.Text}}
		s.recorded = picked(v.visit.Verdicts, func(w *trace.Verdict) bool { return w.Path.Up() == s.said.At && w.Moment == string(wards.Pre) })
		if err := v.begun(s); err != nil {
			return err
		}
	}
	return nil
}

// begun compares the pre-wards on the words that a try was to begin with.
func (v *visitTest) begun(s *slot) error {
	if len(v.phase.Wards.Pre) == 0 && len(s.recorded) == 0 {
		return nil
	}
	was := Released
	if !slices.ContainsFunc(v.visit.Attempts, func(a *trace.Attempt) bool { return a.Path.Up() == s.said.At }) {
		was = refusedBy(s.recorded)
	}
	var unsaid error
	s.subject, unsaid = v.past.Opening()
	s.subject.Content = s.said.Text
	outcomes, err := v.checks(s, v.phase.Wards.Pre, unsaid)
	if err != nil {
		return err
	}
	v.left(s)
	d := new(wards.Budget).Decide(1, outcomes)
	would := fates[d.Action]
	v.lost[s.said.At] = would != Released
	if !v.made || (was == Released) == (would == Released) {
		return nil
	}
	m := &Move{Path: string(s.said.At), Was: was, Would: would, Text: excerpt(s.said.Text), again: would == Released}
	if would == Released {
		v.move(m)
		return nil
	}
	v.decided(d, m)
	for _, a := range v.visit.Attempts {
		if a.Path.Up() == s.said.At {
			m.Saved += a.Usage().Calls
		}
	}
	return nil
}

// refusedBy is what the verdicts made of a try that did not begin; released where
// something else ended it.
func refusedBy(recorded []*trace.Verdict) Fate {
	for _, w := range recorded {
		switch {
		case w.Noted():
		case w.Error != nil:
			return Failed
		case w.Valid != nil && !*w.Valid:
			return Blocked
		}
	}
	return Released
}
