package main

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/measures/backtest"
	"github.com/seed61713e19/capstan/internal/measures/stats"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/wards"
)

// rejudge returns a function that runs gates on the labelled texts of a folder. It runs only gates
// that need nothing except the text.
func (s *scale) rejudge(ctx context.Context, labels string) func(g cascades.Gate, text string) (passed, found bool) {
	host := s.runner.Host(ctx)
	texts := map[string]string{} // "" if the file is missing or differs
	return func(g cascades.Gate, digest string) (passed, found bool) {
		text, known := texts[digest]
		if !known {
			if read, err := runner.ReadFile(filepath.Join(labels, "texts", filepath.Base(digest)+".txt")); err == nil && stats.TextDigest(string(read)) == digest {
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
			return false, false // the gate needs more than the text
		}
		t := backtest.NewText(s.cascade, phase, digest, text, nil, nil)
		past := t.Recheck(host)
		subject, schema := past.Final(t.Recorded)
		broken := len(schema) > 0 && schema[0].Failed()
		switch {
		case g.Validator == nil:
			return !broken, len(schema) > 0
		case g.Moment == wards.Turn || g.Moment == wards.LoopUntil:
			subject = past.Subject(t.Recorded)
		case g.Moment != wards.Post && g.Moment != wards.Filter || broken:
			return false, false // the gate would not run
		}
		o, err := past.Check(t.Recorded, &cascades.Check{Ward: g.Ward, Validator: g.Validator}, subject)
		return o.Verdict.Valid, err == nil && o.Err == nil
	}
}
