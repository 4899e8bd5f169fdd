package backtest

import (
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/internal/trace"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/wards"
)

// compareRewrites compares the pre-wards on instructions that a model has rewritten for a sounding.
// A sounding with rejected instructions would not have started.
func (v *visitTest) compareRewrites() error {
	v.rejectedTries = map[event.Path]bool{}
	for _, c := range v.visit.Calls {
		at, of, rewrites := strings.Cut(string(c.Path), "/mutation/")
		if !rewrites || strings.Contains(of, "/") || c.Response == nil || strings.TrimSpace(c.Response.Text) == "" {
			continue
		}
		s := &slot{text: engine.RecordedText{At: event.Path(at), Text: c.Response.Text}}
		s.recorded = picked(v.visit.Verdicts, func(w *trace.Verdict) bool { return w.Path.Parent() == s.text.At && w.Moment == string(wards.Pre) })
		if err := v.compareRewrite(s); err != nil {
			return err
		}
	}
	return nil
}

// compareRewrite compares the pre-wards on the instructions of one sounding.
func (v *visitTest) compareRewrite(s *slot) error {
	if len(v.phase.Wards.Pre) == 0 && len(s.recorded) == 0 {
		return nil
	}
	was := Released
	if !slices.ContainsFunc(v.visit.Attempts, func(a *trace.Attempt) bool { return a.Path.Parent() == s.text.At }) {
		was = rejectedBy(s.recorded)
	}
	var noText error
	s.subject, noText = v.past.Opening()
	s.subject.Content = s.text.Text
	outcomes, err := v.checks(s, v.phase.Wards.Pre, noText)
	if err != nil {
		return err
	}
	v.countRemaining(s)
	d := new(wards.Budget).Decide(1, outcomes)
	would := outcomeOf[d.Action]
	v.rejectedTries[s.text.At] = would != Released
	if !v.reached || (was == Released) == (would == Released) {
		return nil
	}
	m := &AttemptChange{Path: string(s.text.At), Before: was, After: would, Text: reports.Fit(s.text.Text, 80), again: would == Released}
	if would == Released {
		v.addAttemptChange(m)
		return nil
	}
	v.addDecision(d, m)
	for _, a := range v.visit.Attempts {
		if a.Path.Parent() == s.text.At {
			m.Saved += a.Usage().Calls
		}
	}
	return nil
}

// rejectedBy returns the outcome of a sounding that did not start, or Released if no verdict
// prevented it.
func rejectedBy(recorded []*trace.Verdict) Outcome {
	for _, w := range recorded {
		switch {
		case w.NonBinding():
		case w.Error != nil:
			return Failed
		case w.Valid != nil && !*w.Valid:
			return Blocked
		}
	}
	return Released
}
