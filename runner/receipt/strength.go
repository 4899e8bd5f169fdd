package receipt

import (
	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/measure"
)

// strength is what was measured of exactly this gate on texts that people have
// labelled, nil where nothing was: from the evidence that the run has kept, else
// from that which lies beside the cascade now.
func (r *Run) strength(g cascades.Gate) *Strength {
	kept := cascades.Unpacked(r.Cascade.Files)
	e, file, why := r.Cascade.Evidence(g.Name, g.Digest, g.Phase, g.Moment, func(name string) ([]byte, error) {
		text, err := kept(name)
		if err != nil && r.Evidence != nil {
			return r.Evidence(name)
		}
		return text, err
	})
	if why != "" || e.Natural.Texts().N() == 0 {
		return nil
	}
	pass, block := e.Natural.FalsePass(), e.Natural.FalseBlock()
	return &Strength{Evidence: file, FalsePass: interval(pass), FalseBlock: interval(block), Bad: pass.N, Good: block.N}
}

// interval is where the rate lies with 95 % confidence at every look, from 0 to 1 if it
// is unknown.
func interval(e measure.Estimate) [2]float64 {
	i := e.Interval(measure.Confidence)
	return [2]float64{i.Low, i.High}
}
