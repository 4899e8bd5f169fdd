package trace

// A Visitor is told of what is in a phase; what is nil is not asked for.
type Visitor struct {
	Attempt func(*Attempt)
	Call    func(*Call)
	Use     func(*Use)
	Verdict func(*Verdict)
}

// Visit tells v of all that is in the phase, a person's edits last, but of nothing
// in the phases within it.
func (p *Phase) Visit(v Visitor) {
	v.rows(p.Calls, nil, p.Verdicts)
	for _, a := range p.Texts() {
		if v.Attempt != nil {
			v.Attempt(a)
		}
		v.rows(a.Calls, a.Tools, a.Verdicts)
		for _, t := range a.Turns {
			v.rows(t.Calls, t.Tools, t.Verdicts)
		}
	}
}

func (v Visitor) rows(calls []*Call, uses []*Use, verdicts []Verdict) {
	if v.Call != nil {
		for _, c := range calls {
			v.Call(c)
		}
	}
	if v.Use != nil {
		for _, u := range uses {
			v.Use(u)
		}
	}
	if v.Verdict != nil {
		for i := range verdicts {
			v.Verdict(&verdicts[i])
		}
	}
}
