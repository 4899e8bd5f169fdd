package receipts

import (
	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/measures/stats"
)

// strength returns the measured strength of exactly this gate on texts that
// people have labelled, or nil. It uses the evidence that the run has stored,
// or else the evidence beside the cascade.
func (r *Run) strength(g cascades.Gate) *Strength {
	open := cascades.Unpacked(r.Cascade.Files)
	gate := stats.Gate{File: r.Cascade.File, Cascade: r.Cascade.ID, Phase: g.Phase, Moment: string(g.Moment), Name: g.Name, Digest: g.Digest}
	e, file, problem := gate.Find(func(name string) ([]byte, error) {
		text, err := open(name)
		if err != nil && r.Evidence != nil {
			return r.Evidence(name)
		}
		return text, err
	})
	if problem != "" || e.Natural.Texts().N() == 0 {
		return nil
	}
	pass, block := e.Natural.FalsePass(), e.Natural.FalseBlock()
	return &Strength{Evidence: file, FalsePass: interval(pass), FalseBlock: interval(block), Bad: pass.N, Good: block.N}
}

// interval returns the 95 % confidence interval of a rate. An unknown rate has the
// interval from 0 to 1.
func interval(e stats.Estimate) [2]float64 {
	i := e.Interval(stats.Confidence)
	return [2]float64{i.Low, i.High}
}
