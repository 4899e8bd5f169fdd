package trace

import "strings"

// A Matrix is which check said what of which attempt of a visit.
type Matrix struct {
	Columns []*Attempt
	Rows    []Row
}

// A Row is one check, told apart by its place in the file: two may have the
// same validator.
type Row struct {
	Moment    string // [Filter] for the validator of soundings
	Validator string
	Mode      string
	Cells     []*Verdict // one for each column; nil where it was not asked
}

// Matrix lays out the verdicts on the visit's attempts: a row for each check in
// the order in which they were first heard. Of a check that was asked more than
// once in an attempt, at every turn, the last verdict counts. Pre-wards judge
// no attempt: they are in Verdicts.
func (p *Phase) Matrix() Matrix {
	m := matrix{Matrix: Matrix{Columns: p.Attempts}, rows: map[check]int{}}
	for i, a := range p.Attempts {
		for _, t := range a.Turns {
			m.add(i, t.Verdicts)
		}
		for j := range p.Verdicts {
			// Of a validator that is a phase.
			if strings.HasPrefix(string(p.Verdicts[j].Path), string(a.Path)+"/") {
				m.add(i, p.Verdicts[j:j+1])
			}
		}
		m.add(i, a.Verdicts)
	}
	return m.Matrix
}

type matrix struct {
	Matrix
	rows map[check]int
}

// A check is what tells rows apart.
type check struct{ place, moment, validator string }

func (m *matrix) add(column int, verdicts []Verdict) {
	for i := range verdicts {
		v := &verdicts[i]
		key := check{v.Path.Last(), v.Moment, v.Validator}
		if v.IsFilter() {
			key.moment = Filter
		}
		n, known := m.rows[key]
		if !known {
			n = len(m.Rows)
			m.rows[key] = n
			m.Rows = append(m.Rows, Row{key.moment, v.Validator, v.Mode, make([]*Verdict, len(m.Columns))})
		}
		m.Rows[n].Cells[column] = v
	}
}
