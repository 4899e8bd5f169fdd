package trace

import "strings"

// A Matrix is a table of verdicts, with a column for each attempt of a visit.
type Matrix struct {
	Columns []*Attempt
	Rows    []Row
}

// A Row has the verdicts of one check. Two checks at different places of the
// file have different rows, even with the same validator.
type Row struct {
	Moment    string // [Filter] for the validator of soundings
	Validator string
	Mode      string
	Cells     []*Verdict // by column; nil for an attempt without a verdict
}

// Matrix returns the verdicts on the attempts of the visit. The rows are in the
// order of the first verdicts. If a check runs several times in an attempt, its
// last verdict counts. The matrix does not include pre-wards, because they judge
// no attempt. Verdicts contains them.
func (p *Phase) Matrix() Matrix {
	m := matrix{Matrix: Matrix{Columns: p.Attempts}, rows: map[check]int{}}
	for i, a := range p.Attempts {
		for _, t := range a.Turns {
			m.add(i, t.Verdicts)
		}
		for j := range p.Verdicts {
			// These are verdicts of a phase that is a validator.
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

// A check is the key of a row.
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
