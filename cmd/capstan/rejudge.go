package main

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/backtest"
	"github.com/seed61713e19/capstan/runner/measure"
	"github.com/seed61713e19/capstan/wards"
)

// rejudge asks gates about labelled texts, which lie in a folder of labels: those
// gates that hang on the text alone, and so say of it what they would in any run.
func (s *scale) rejudge(ctx context.Context, labels string) func(g cascades.Gate, text string) (passed, said bool) {
	host := s.runner.Host(ctx)
	texts := map[string]string{} // "" of one that is not there, or is another
	return func(g cascades.Gate, digest string) (passed, said bool) {
		text, known := texts[digest]
		if !known {
			if read, err := runner.ReadFile(filepath.Join(labels, "texts", filepath.Base(digest)+".txt")); err == nil && measure.TextDigest(string(read)) == digest {
				text = string(read)
			}
			texts[digest] = text
		}
		i := slices.IndexFunc(s.cascade.EveryPhase(), func(p *cascades.Phase) bool { return p.Name == g.Phase })
		if text == "" || i < 0 || g.Validator != nil && !g.Validator.OfText() {
			return false, false
		}
		phase := s.cascade.EveryPhase()[i]
		if phase.Tool != nil || phase.Each != nil {
			return false, false // what it looks at, or what it calls things, is the run's
		}
		t := backtest.Given(s.cascade, phase, digest, text, nil, nil)
		past := t.Past(host)
		subject, schema := past.Final(t.Said)
		broken := len(schema) > 0 && schema[0].Failed()
		switch {
		case g.Validator == nil:
			return !broken, len(schema) > 0
		case g.Moment == wards.Turn || g.Moment == wards.LoopUntil:
			subject = past.Subject(t.Said)
		case g.Moment != wards.Post && g.Moment != wards.Filter || broken:
			return false, false // it would not have been asked
		}
		o, err := past.Check(t.Said, &cascades.Check{Ward: g.Ward, Validator: g.Validator}, subject)
		return o.Verdict.Valid, err == nil && o.Err == nil
	}
}
