package capy

// A metric is a number that the gate knows by name.
type metric uint8

const (
	none metric = iota
	ivps
	eivps
	dr
	growth
	revenue
	roic
	eirr
	pirr
	sse
	jpd
	probability
	probabilitySum
	xT1
	xRefine
	xFinal
	xAny // X without saying which
	irr  // IRR without saying that it is expected
)

// metrics are the names that policies use.
var metrics = map[string]metric{
	"ivps": ivps, "e_ivps": eivps, "dr": dr, "g": growth, "revenue": revenue, "roic": roic, "e_irr": eirr, "p_irr": pirr,
	"sse": sse, "jpd": jpd, "probability": probability, "probability_sum": probabilitySum, "x_t1": xT1, "x_refine": xRefine, "x_final": xFinal,
}

var metricTitles = [...]string{
	none: "", ivps: "IVPS", eivps: "E[IVPS]", dr: "DR", growth: "terminal growth g", revenue: "Y0 revenue", roic: "ROIC", eirr: "E[IRR]", pirr: "P(IRR > Hurdle)",
	sse: "SSE", jpd: "JPD", probability: "scenario probability", probabilitySum: "sum of the scenario probabilities", xT1: "X_T1", xRefine: "X_REFINE", xFinal: "X_final", xAny: "X", irr: "IRR",
}

func (m metric) String() string { return metricTitles[m] }

// inPercent says that the seed's bound for it is in percent.
func (m metric) inPercent() bool {
	switch m {
	case dr, growth, roic, eirr, pirr, probability, probabilitySum:
		return true
	}
	return false
}

// rate says that a bare number of it may be a fraction or a percentage.
func (m metric) rate() bool { return m.inPercent() }

// perShare says that it is money per share: never a percentage or a multiple.
func (m metric) perShare() bool { return m == ivps || m == eivps }

// single says that a text has one result of it: what one of many scenarios or
// states has is another.
func (m metric) single() bool { return m == ivps || m == dr || m == growth || m == roic }
