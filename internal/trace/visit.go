package trace

// A Visitor has a function for each type of element in a phase. A function may be nil.
type Visitor struct {
	Attempt func(*Attempt)
	Call    func(*Call)
	Use     func(*Use)
	Verdict func(*Verdict)
}

// Visit calls the functions of v for the elements of the phase, a person's edits last.
// It does not visit the phases within this phase.
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
