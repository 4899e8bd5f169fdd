package reading

// A Metric is a number that the reading knows by name.
type Metric uint8

// The metrics. Magnitude is a scenario's M; Probability one of a scenario or
// of a joint state.
const (
	None Metric = iota
	IVPS
	EIVPS
	DR
	Growth
	Revenue
	ROIC
	EIRR
	PIRR
	SSE
	JPD
	Probability
	ProbabilitySum
	Magnitude
	XT1
	XRefine
	XFinal
	CR
	Tau
	anyX   // X without saying which
	anyIRR // IRR without saying that it is expected
	metricCount
)

// metrics are the names that policies use.
var metrics = map[string]Metric{
	"ivps": IVPS, "e_ivps": EIVPS, "dr": DR, "g": Growth, "revenue": Revenue, "roic": ROIC, "e_irr": EIRR, "p_irr": PIRR,
	"sse": SSE, "jpd": JPD, "probability": Probability, "probability_sum": ProbabilitySum, "magnitude": Magnitude,
	"x_t1": XT1, "x_refine": XRefine, "x_final": XFinal, "cr": CR, "tau": Tau,
}

// MetricOf gives the metric that a policy calls by a name, or None.
func MetricOf(name string) Metric { return metrics[name] }

var metricTitles = [...]string{
	IVPS: "IVPS", EIVPS: "E[IVPS]", DR: "DR", Growth: "terminal growth g", Revenue: "Y0 revenue", ROIC: "ROIC", EIRR: "E[IRR]", PIRR: "P(IRR > Hurdle)",
	SSE: "SSE", JPD: "JPD", Probability: "scenario probability", ProbabilitySum: "sum of the scenario probabilities", Magnitude: "M",
	XT1: "X_T1", XRefine: "X_REFINE", XFinal: "X_final", CR: "CR", Tau: "τ", anyX: "X", anyIRR: "IRR", metricCount: "",
}

// String is the metric as messages write it.
func (m Metric) String() string { return metricTitles[m] }

// Rate says that a bare number of it may be a fraction or a percentage, and
// that its bounds are in percent.
func (m Metric) Rate() bool {
	switch m {
	case DR, Growth, ROIC, EIRR, PIRR, Probability, ProbabilitySum:
		return true
	}
	return false
}

// PerShare says that it is money per share: never a percentage or a multiple.
func (m Metric) PerShare() bool { return m == IVPS || m == EIVPS }

// kernel says that only the kernel computes it, so that any phrase that gives
// it a value matters.
func (m Metric) kernel() bool { return m.PerShare() || m == EIRR || m == PIRR || m == anyIRR }

// alone says that it may have its value on a line of its own, behind one of its name.
func (m Metric) alone() bool { return m.kernel() || m == DR || m == Growth || m == ROIC || m == anyX }

// single says that a text has one result of it: what one of many scenarios or
// states has is another.
func (m Metric) single() bool {
	return m == IVPS || m == DR || m == Growth || m == ROIC
}
