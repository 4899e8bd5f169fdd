package reading

import "math"

// A Statement is a number that a text gives to a metric.
type Statement struct {
	Value    float64
	Upper    float64 // of a range, the higher end
	At       Place
	from, to int32 // of the text quoted, in its source
	Group    int32 // of the object or table that it stands in; 0 without one
	Marks    Mark
	Metric   Metric
	Form     Form
	Digits   int8 // shown behind the point
	State    int8 // of the valuation: 1 to 4, Earlier, AnyT2; 0 where it is not said
	Turn     int8 // of its stage: 1 T1, 2 REFINE, 3 T2, 4 T3; 0 where it is not said
	Scenario int8 // 1 to 4; 0 where it is not one scenario's
}

// States beside 1 to 4.
const (
	Earlier int8 = -1 // said to be from before
	AnyT2   int8 = -2 // of a turn 2, which may be an earlier stage's
	several int8 = -3 // of more than one: the words decide nothing
)

// A Mark is one thing that the words around a statement say of it.
type Mark uint32

// The marks.
const (
	Percent    Mark = 1 << iota // written as a percentage
	Range                       // from Value to Upper
	Absent                      // null, N/A, [TO BE CALCULATED]: there is no value
	Case                        // one of many: a percentile, a bear case, a scenario's, a peer's
	Change                      // a difference, an impact
	Hypothesis                  // under a condition
	Comparison                  // somebody else's: the market's, an analyst's
	Fresh                       // said to be new: final, updated, recalculated
	Loose                       // a value of the shares, without saying that it is the IVPS
	Listed                      // in an element of a list
	Inner                       // an X_final inside X_REFINE: that derivation's own
	Unseen                      // in a comment, which no reader sees
	Bare                        // without a link: DR 12.7%
	Moved                       // what it moves to from another: from $7 to $6
	Fourth                      // S4 stands with it, the fourth scenario or State 4
	expected
	baseYear
)

// Hushed says that a number is not stated as the result.
func (s Statement) Hushed() bool { return s.Marks&(Case|Change|Hypothesis|Comparison) != 0 }

// Has says that a statement has one of the marks.
func (s Statement) Has(m Mark) bool { return s.Marks&m != 0 }

// A Tally is one list of joint states' probabilities, added up as it was read.
type Tally struct {
	At      Place
	N       int
	Awaited int // more of which there is a placeholder
	Sum     float64
	Total   float64 // what the list itself says they come to, 0 where it does not
	Top     bool    // a selection
	Percent bool    // percent signs
	over1   int
	Bad     []Statement // that cannot be, or only in percent
}

// maxBad bounds what a tally keeps of its probabilities.
const maxBad = 100

// Add takes one probability in. What stands as a whole behind what adds up to one is
// the total, by whatever name.
func (t *Tally) Add(s Statement) {
	if t.N > 1 && certain(t.Sum) && certain(s.Value) {
		t.Total = s.Value
		return
	}
	t.N++
	t.Sum += s.Value
	t.Percent = t.Percent || s.Has(Percent)
	if s.Value > 1 {
		t.over1++
	}
	if (s.Value < 0 || s.Value > 1) && len(t.Bad) < maxBad {
		t.Bad = append(t.Bad, s)
	}
}

// certain says that probabilities come to one, or to a hundred percent.
func certain(v float64) bool { return math.Abs(v-1) < 0.05 || math.Abs(v-100) < 5 }

// Percents says that a tally is in percent: with signs, or more values above 1
// than a slip would put there.
func (t *Tally) Percents() bool { return t.Percent || 2*t.over1 > t.N || t.Sum > 20 }

// Fractions says that only few of the values are above 1, so that these are
// wrong.
func (t *Tally) Fractions() bool { return t.over1 < t.N && 2*t.over1 < t.N }

// A ledger collects statements, so many of each metric that memory stays in
// proportion to the text whatever the text is.
type ledger struct {
	list  []Statement
	kept  [metricCount]int32
	limit int32
	texts [][]byte
}

func newLedger(texts [][]byte) ledger {
	n := 0
	for _, t := range texts {
		n += len(t)
	}
	return ledger{limit: int32(n/400 + 256), texts: texts}
}

// add keeps a statement that was read from part[from:to].
func (g *ledger) add(s Statement, part []byte, from, to int) {
	if s.Metric == None || s.Metric >= anyX || g.kept[s.Metric] >= g.limit {
		return
	}
	g.kept[s.Metric]++
	base := g.offset(part, s.At.Source)
	s.from, s.to = int32(base+from), int32(base+to)
	g.list = append(g.list, s)
}

// offset is where a part of a text begins in it: slices of one array differ by
// what is left behind them.
func (g *ledger) offset(part []byte, source int16) int {
	return cap(g.texts[source]) - cap(part)
}
