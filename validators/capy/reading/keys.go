package reading

import (
	"strings"
	"sync"
)

// A keyNote is what a JSON key says by itself, found out once for each that is
// written alike.
type keyNote struct {
	class keyClass
	entry *keyName // nil until it is asked for
}

// A keyName is what a key says of the entry that it names.
type keyName struct {
	topics   Mask
	artifact int8
	status   bool // of a container that says which artifacts there should be
	naming   bool // its string may say which item its object is
	numbered bool // a number alone may
}

// A keyClass is what a JSON key says of the value behind it.
type keyClass struct {
	metric   Metric
	loose    bool
	inner    bool // an X_final inside X_REFINE: that derivation's own
	leaf     bool // value, point …: the value of the key above
	variant  Metric
	xStem    bool // X, risk_multiplier: the T1 in it is X_T1
	ivpsStem bool // ivps_distribution: the mean in it is E[IVPS]
	irrStem  bool // irr, irr_distribution: the expected in it is E[IRR]
	mean     bool // mean, expected_value
	quals    qualifiers
	core     bool // of the company as a whole, not a part of it
	many     bool // one of many: a scenario's, a joint state's
	listed   bool // in an element of a list
	joint    bool // of joint states
	top      bool // a selection
	prob     bool // a probability
	mag      bool // a magnitude
	scenario int8 // 1 to 9
	id       bool // its value says which scenario an object is
	state    bool // a joint state has it, and a scenario has not
	before   bool // base rate, prior: not the final probability
	role     role // of a key of one word
}

// A role is what a key of one word says of other keys.
type role uint8

const (
	noRole     role = iota
	nameRole        // name, metric: its value is the name of what a figure beside it gives
	figureRole      // value, result: what a name beside it is the name of
	stepRole        // before, after: one of two values of the key above
)

// inherit takes over what the container around says.
func (c *keyClass) inherit(from keyClass, array bool) {
	c.quals.marks |= from.quals.marks & (Case | Hypothesis | Comparison | baseYear)
	c.many = c.many || from.many
	c.listed = c.listed || from.listed
	c.joint = c.joint || from.joint
	c.top = c.top || from.top
	if c.quals.state == 0 {
		c.quals.state = from.quals.state
	}
	switch {
	case from.xStem && c.variant != None:
		c.metric = c.variant
	case c.mean && from.ivpsStem:
		c.metric = EIVPS
	case c.mean && from.irrStem:
		c.metric = EIRR
	case c.leaf && c.metric == None && !array:
		c.metric, c.loose = from.metric, from.loose
	case c.role == stepRole && (from.metric.PerShare() || from.metric == EIRR) && !array:
		c.metric, c.loose = from.metric, from.loose
		c.quals.marks |= from.quals.marks & expected
	case c.metric == XFinal && (from.metric == XT1 || from.metric == XRefine):
		c.metric, c.inner = from.metric, true
	case c.metric == None && (from.metric == Tau || from.metric == CR) && !array && !c.prob:
		c.metric = from.metric
	}
	if c.leaf {
		c.quals.marks |= from.quals.marks & (expected | Fresh)
	}
}

var (
	// neutralKey are words of a key that say nothing against its value's being
	// the result.
	neutralKey = set("value", "values", "estimate", "estimated", "result", "results", "final", "point", "central", "computed", "calculated", "output",
		"derived", "applied", "used", "selected", "adopted", "recommended", "recommendation", "concluded", "static", "updated", "post", "enrichment", "enriched", "per",
		"share", "pct", "percent", "usd", "brl", "eur", "gbp", "cad", "state", "base", "case", "enrich", "int", "integrated", "integration", "stage", "t1", "t2", "refine", "in", "from",
		"for", "the", "this", "current", "new", "total", "kernel", "dcf", "rounded", "currency", "local", "our", "1", "2", "3", "4", "state1", "state2", "state3", "state4",
		"scenario", "prior", "previous", "adjusted", "recalculated", "turn", "year", "now", "today", "company", "annualized", "annualised", "revised", "implied", "preliminary", "deterministic", "probabilistic",
		"target", "fair", "price", "indicative", "approx", "approximate", "model", "raw", "headline", "provisional", "expectation", "before", "after", "old", "pre", "adjudication")
	leaves = set("value", "point", "estimate", "base", "case", "mean", "expected", "usd", "local", "amount", "final", "central", "mid", "midpoint", "rate", "static", "percent", "pct",
		"result", "selected", "recommended", "total", "per", "share", "calculated", "computed", "decimal")
)

var roles = sync.OnceValue(func() map[string]role {
	m := map[string]role{}
	for r, words := range map[role]string{
		nameRole:   "name metric label item measure indicator kpi field title",
		figureRole: "value result amount estimate output figure",
		stepRole:   "before after pre post from to old new",
	} {
		for w := range strings.FieldsSeq(words) {
			m[w] = r
		}
	}
	return m
})

// A trait is what one word of a key says of the whole.
type trait uint32

const (
	stray   trait = 1 << iota // of a container whose values are not results
	many                      // of one whose values are one of many
	joint                     // of joint states
	top                       // of a selection
	chance                    // a probability
	size                      // a magnitude
	ofIRR                     // IRR or its hurdle
	stem                      // it may name a metric
	year0                     // the base year
	naming                    // its value says which one an object is
	stating                   // a joint state has it
	priming                   // from before
	coring                    // the company as a whole
	varying                   // which X it is, a mean
)

var traits = sync.OnceValue(func() map[string]trait {
	m := map[string]trait{}
	for t, words := range map[trait]string{
		stray: "sensitivity sensitivities tornado range ranges bear bull percentile percentiles peer peers comparison comparables comps cross schedule stress alternative alternatives historical history reverse " +
			"grid bounds bound threshold thresholds varying hypothetical example illustrative matrix adjustments benchmarks benchmark pessimistic optimistic conservative aggressive upper lower low high min max " +
			"recession adverse favorable favourable worst best downside upside stats statistics",
		many:    "scenarios states joint jpd outcomes forks fork buckets",
		joint:   "joint jpd sse states",
		top:     "top key selected representative most largest",
		chance:  "p prob probability probabilities likelihood posterior weight",
		size:    "m magnitude impact effect intervention interventions shock multiplier modification modifications delta severity override overrides perturbation shift overlay",
		ofIRR:   "hurdle irr irrs",
		stem:    "ivps eivps intrinsic equity irr hurdle x dr discount roic g growth revenue revenues sales sse jpd joint probability probabilities prob p fair target share cr convergence tau rho τ ρ",
		year0:   "y0",
		naming:  "id scenario name label code handle key title",
		stating: "state combination configuration bitmask mask active",
		priming: "base prior initial",
		coring:  "financials financial core income consolidated company group metrics pnl",
		varying: "t1 refine final average avg averaged mean expected e x risk",
	} {
		for w := range strings.FieldsSeq(words) {
			m[w] |= t
		}
	}
	return m
})

// probWords are those that the key of a probability may have.
var probWords = strings.Fields("p prob probability probabilities likelihood posterior weight marginal joint s1 s2 s3 s4 mean raw event occurrence unconditional normalized normalised of states renormalized")

// classify reads a key.
func classify(key []byte) keyClass {
	l := tokens(key)
	var all trait
	for i := range l.n {
		all |= traits()[string(l.word(i))]
	}
	is := func(t trait) bool { return all&t != 0 }
	c := keyClass{
		many: is(many), top: is(top), mag: is(size), prob: is(chance) && !is(ofIRR) && l.only(neutralKey, probWords...) && !l.has("sum", "validation", "total", "prior"),
		joint: is(joint) || is(chance) && l.has("state"), scenario: scenarioIn(&l),
		leaf: l.only(leaves) || l.has("state", "state1", "state2", "state3", "state4") && l.only(leaves, "state", "state1", "state2", "state3", "state4", "1", "2", "3", "4", "enrich", "scenario", "int") || l.n == 1 && yearToken(l.word(0)),
	}
	c.id, c.core = is(naming), is(coring)
	c.state = is(stating) && !l.has("ivps", "value", "current")
	c.before = is(priming) && !l.has("posterior", "final")
	if is(stray) {
		c.quals.marks |= Case
	}
	if is(year0) {
		c.quals.marks |= baseYear
	}
	c.quals.key(&l)
	if l.n == 1 {
		c.role = roles()[string(l.word(0))]
	}
	if c.role == stepRole || l.has("ivps", "irr") {
		c.quals.step(&l)
	}
	if is(stem) {
		c.metric, c.loose = keyMetric(&l)
	}
	if c.metric == Probability && !c.prob {
		c.metric = None
	}
	if !is(varying | stem) {
		return c
	}
	c.variant = variantOf(&l)
	c.mean = l.has("mean", "expected", "e") && l.only(nil, "mean", "expected", "value", "e")
	if c.ivpsStem = is(stem) && l.has("ivps") && l.has("distribution", "statistics", "stats", "summary"); c.ivpsStem {
		c.quals.marks &^= Case
	}
	c.irrStem = l.has("irr") && l.only(nil, "irr", "distribution", "results", "result", "summary", "analysis")
	c.xStem = l.has("x") && l.only(nil, strings.Fields("x risk multiplier multipliers values value averaging derivation rederivation re reconciliation summary estimates")...) || l.only(nil, "risk", "multiplier")
	return c
}

// variantOf is which X a key names inside one that says X.
func variantOf(l *tokenList) Metric {
	if l.n != 1 {
		return None
	}
	switch string(l.word(0)) {
	case "t1":
		return XT1
	case "refine":
		return XRefine
	case "final", "average", "avg", "averaged", "mean":
		return XFinal
	}
	return None
}

// yearToken is y0 to y30.
func yearToken(w []byte) bool {
	return len(w) >= 2 && len(w) <= 3 && w[0] == 'y' && isDigit(w[1]) && isDigit(w[len(w)-1])
}

// scenarioIn finds S1 or scenario 1.
func scenarioIn(l *tokenList) int8 {
	for i := range l.n {
		w := l.word(i)
		switch {
		case len(w) == 2 && w[0] == 's' && w[1] >= '1' && w[1] <= '9':
			return int8(w[1] - '0')
		case len(w) == 1 && w[0] >= '1' && w[0] <= '9' && i > 0 && string(l.word(i-1)) == "scenario":
			return int8(w[0] - '0')
		}
	}
	return 0
}

// keyMetric says which number a key names, where nothing in it says that it
// is another one: IVPS, but not IVPS_Low.
func keyMetric(l *tokenList) (m Metric, loose bool) {
	switch {
	case l.has("ivps", "eivps"), l.has("intrinsic", "equity") && l.has("value") && l.has("share"):
		return valueMetric(l), false
	case l.has("irr") || l.has("hurdle"):
		return irrMetric(l), false
	case l.has("x"):
		return xMetric(l), false
	case l.has("dr", "discount") && l.only(neutralKey, "dr", "discount", "rate"):
		if l.has("prior", "previous", "new", "scenario") {
			return None, false
		}
		return DR, false
	case l.has("roic") && (l.only(neutralKey, "roic", "terminal", "y0", "average", "avg", "ltm") || l.n == 2 && (yearToken(l.word(0)) || yearToken(l.word(1)))):
		return ROIC, false
	case l.has("g") && l.only(neutralKey, "g", "terminal"), l.has("growth") && l.has("terminal", "perpetual", "perpetuity") && l.only(neutralKey, "terminal", "growth", "rate", "perpetual", "perpetuity", "g"):
		return Growth, false
	case l.has("revenue", "revenues", "sales") && l.only(neutralKey, strings.Fields("revenue revenues sales net y0 annual ltm ttm total consolidated reported quarterly mm millions thousands group operating")...):
		return Revenue, false
	case l.has("sse") && l.only(neutralKey, "sse", "probabilities"):
		return SSE, false
	case l.has("jpd") && l.only(neutralKey, "jpd", "probabilities") || l.has("joint") && l.only(neutralKey, "joint", "probability", "probabilities", "distribution"):
		return JPD, false
	case l.has("cr") && l.only(neutralKey, "cr", "derivation", "rate") || l.has("convergence") && l.has("rate"):
		return CR, false
	case l.has("tau", "rho", "τ", "ρ"):
		return Tau, false
	case l.has("probability", "prob", "p", "probabilities") && l.only(neutralKey, "probability", "prob", "p", "probabilities", "joint", "weight", "posterior"):
		return Probability, false
	case l.has("fair", "target") && l.has("value", "price") && l.only(neutralKey) && !l.has("prior") || l.has("value", "price") && l.has("share") && l.has("per", "implied", "fair") && l.only(neutralKey) && !l.has("current"):
		return IVPS, true
	}
	return None, false
}

func valueMetric(l *tokenList) Metric {
	expected := []string{"e", "eivps", "expected", "mean", "weighted", "probability", "prob", "ev"}
	named := []string{"ivps", "intrinsic", "equity", "value"}
	if l.has(expected...) && l.only(neutralKey, append(named, expected...)...) {
		return EIVPS
	}
	if l.only(neutralKey, named...) {
		return IVPS
	}
	return None
}

func irrMetric(l *tokenList) Metric {
	switch {
	case l.has("p", "prob", "probability", "chance", "likelihood") && l.has("hurdle", "irr") && !l.has("weighted"):
		return PIRR
	case l.has("irr") && l.has("e", "expected", "mean", "weighted") && l.only(neutralKey, "e", "irr", "expected", "mean", "weighted", "probability", "prob"):
		return EIRR
	}
	return None
}

func xMetric(l *tokenList) Metric {
	if !l.only(neutralKey, "x", "risk", "multiplier", "average", "avg", "averaged", "mean", "systematic") {
		return None
	}
	switch {
	case l.has("t1"):
		return XT1
	case l.has("refine"):
		return XRefine
	case l.has("final", "average", "avg", "averaged", "mean"):
		return XFinal
	}
	return None
}
