package capy

// A keyClass is what a JSON key says of the value behind it.
type keyClass struct {
	metric   metric
	second   bool // an X_final inside X_REFINE: that derivation's own
	leaf     bool // value, point …: the value of the key above
	part     bool // one of what is under SSE or JPD
	variant  metric
	xStem    bool // X, risk_multiplier: the T1 in it is X_T1
	ivpsStem bool // ivps_distribution: the mean in it is E[IVPS]
	mean     bool // mean, expected_value
	quals    qualifiers
	y0       bool // of the base year
	core     bool // of the company as a whole, not a part of it
	many     bool // one of many: a scenario's, a joint state's
	listed   bool // in an element of a list
	joint    bool // of joint states
	top      bool // a selection
	prob     bool // a probability
	mag      bool // a magnitude
	scenario int8 // 1 to 9
	artifact int8 // 1 to 99
}

// inherit takes over what the container around says.
func (c *keyClass) inherit(from keyClass, array bool) {
	c.quals.hush = c.quals.hush || from.quals.hush
	c.y0 = c.y0 || from.y0
	c.many = c.many || from.many
	c.listed = c.listed || from.listed
	c.joint = c.joint || from.joint
	c.top = c.top || from.top
	if c.quals.state == 0 {
		c.quals.state = from.quals.state
	}
	switch {
	case from.xStem && c.variant != none:
		c.metric = c.variant
	case c.mean && from.ivpsStem:
		c.metric = eivps
	case c.leaf && c.metric == none && !array:
		c.metric = from.metric
	case (c.metric == none || c.metric == probability) && (from.metric == sse || from.metric == jpd):
		c.metric, c.part = from.metric, true
	case c.metric == xFinal && (from.metric == xT1 || from.metric == xRefine):
		c.metric, c.second = from.metric, true
	}
	if c.leaf {
		c.quals.expected = c.quals.expected || from.quals.expected
	}
}

// A tokenList is the words of a key in lower case: Terminal_g is terminal, g.
type tokenList struct {
	n   int
	cut [13]uint8 // where each word begins, and the last one ends
	buf [96]byte
}

func (l *tokenList) word(i int) []byte { return l.buf[l.cut[i]:l.cut[i+1]] }

// tokens splits a key at everything but letters and digits, and where a
// capital follows a small letter.
func tokens(key []byte) tokenList {
	var l tokenList
	key = key[:min(len(key), len(l.buf))]
	used, start := 0, 0
	flush := func() {
		if used > start && l.n < len(l.cut)-1 {
			l.n++
			l.cut[l.n] = uint8(used)
			start = used
		}
	}
	for i, c := range key {
		if !isWord(c) {
			flush()
			continue
		}
		if isUpper(c) && i > 0 && (isLower(key[i-1]) || isUpper(key[i-1]) && i+1 < len(key) && isLower(key[i+1]) && key[i+1] != 's') {
			flush()
		}
		if isUpper(c) {
			c |= 0x20
		}
		l.buf[used] = c
		used++
	}
	flush()
	return l
}

// has says that one of the words is among the tokens.
func (l *tokenList) has(words ...string) bool {
	for i := range l.n {
		for _, w := range words {
			if string(l.word(i)) == w {
				return true
			}
		}
	}
	return false
}

// only says that every token is in the set, or among the words.
func (l *tokenList) only(set map[string]bool, words ...string) bool {
	for i := range l.n {
		ok := set[string(l.word(i))]
		for _, w := range words {
			ok = ok || string(l.word(i)) == w
		}
		if !ok {
			return false
		}
	}
	return l.n > 0
}

func set(words ...string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, w := range words {
		m[w] = true
	}
	return m
}

var (
	// neutral words say nothing against a value's being the result.
	neutral = set("value", "values", "estimate", "estimated", "result", "results", "final", "point", "central", "computed", "calculated", "output",
		"derived", "applied", "used", "selected", "adopted", "recommended", "recommendation", "concluded", "static", "updated", "post", "enrichment", "enriched", "per",
		"share", "pct", "percent", "usd", "brl", "eur", "gbp", "cad", "state", "base", "case", "enrich", "int", "integrated", "integration", "stage", "t1", "t2", "refine", "in", "from",
		"for", "the", "this", "current", "new", "total", "kernel", "dcf", "rounded", "currency", "local", "our", "1", "2", "3", "4", "state1", "state2", "state3", "state4",
		"scenario", "prior", "previous", "adjusted", "recalculated", "turn", "year", "now", "today", "company", "median", "annualized", "annualised")
	leaves = set("value", "point", "estimate", "base", "case", "mean", "expected", "usd", "local", "amount", "final", "central", "mid", "midpoint", "rate", "static", "percent", "pct",
		"result", "selected", "recommended", "total", "per", "share", "calculated", "computed", "decimal")
)

// A trait is what one word of a key says of the whole.
type trait uint16

const (
	stray  trait = 1 << iota // of a container whose values are not results
	many                     // of one whose values are one of many
	joint                    // of joint states
	top                      // of a selection
	chance                   // a probability
	size                     // a magnitude
	ofIRR                    // IRR or its hurdle
	stem                     // it may name a metric
	year0                    // the base year
)

var traits = func() map[string]trait {
	m := map[string]trait{}
	for t, words := range map[trait][]string{
		stray: {"sensitivity", "sensitivities", "tornado", "range", "ranges", "bear", "bull", "percentile", "percentiles", "peer", "peers", "comparison", "comparables", "comps", "cross",
			"schedule", "stress", "alternative", "alternatives", "historical", "history", "reverse", "grid", "bounds", "bound", "threshold", "thresholds", "varying",
			"hypothetical", "example", "illustrative", "matrix", "adjustments", "benchmarks", "benchmark", "pessimistic", "optimistic", "conservative", "aggressive", "upper", "lower",
			"low", "high", "min", "max", "recession", "adverse", "favorable", "favourable", "worst", "best", "downside", "upside"},
		many:   {"scenarios", "states", "joint", "jpd", "outcomes"},
		joint:  {"joint", "jpd", "sse", "states"},
		top:    {"top", "key", "selected", "representative", "most", "largest"},
		chance: {"p", "prob", "probability", "probabilities", "likelihood", "posterior", "weight"},
		size:   {"m", "magnitude", "impact", "effect", "intervention", "interventions", "shock", "multiplier", "modification", "modifications", "delta", "severity", "override", "overrides", "perturbation", "shift"},
		ofIRR:  {"hurdle", "irr", "irrs"},
		stem: {"ivps", "eivps", "intrinsic", "equity", "irr", "hurdle", "x", "dr", "discount", "roic", "g", "growth", "revenue", "revenues", "sales", "sse", "jpd", "joint",
			"probability", "probabilities", "prob", "p"},
		year0: {"y0"},
	} {
		for _, w := range words {
			m[w] |= t
		}
	}
	return m
}()

// probWords are those that the key of a probability may have.
var probWords = []string{"p", "prob", "probability", "probabilities", "likelihood", "posterior", "weight", "marginal", "joint", "s1", "s2", "s3", "s4", "mean", "raw", "event", "occurrence",
	"unconditional", "normalized", "normalised", "of", "states"}

// classify reads a key.
func classify(key []byte) keyClass {
	l := tokens(key)
	var all trait
	for i := range l.n {
		all |= traits[string(l.word(i))]
	}
	is := func(t trait) bool { return all&t != 0 }
	c := keyClass{
		artifact: keyArtifact(key), y0: is(year0), many: is(many), top: is(top), mag: is(size), prob: is(chance) && !is(ofIRR) && l.only(neutral, probWords...),
		joint: is(joint) || is(chance) && l.has("state"), scenario: scenarioIn(&l),
		leaf: l.only(leaves) || l.n == 1 && yearToken(l.word(0)),
	}
	c.core = l.has("financials", "financial", "core", "income", "consolidated", "company", "group", "metrics", "pnl")
	c.quals.hush = is(stray)
	c.quals.key(&l)
	if is(stem) {
		c.metric = keyMetric(&l)
	}
	c.variant = variantOf(&l)
	c.mean = l.has("mean", "expected", "e") && l.only(nil, "mean", "expected", "value", "e")
	c.ivpsStem = is(stem) && l.has("ivps") && l.has("distribution", "statistics", "stats", "summary")
	c.xStem = l.has("x") && l.only(nil, "x", "risk", "multiplier", "multipliers", "values", "value", "averaging", "derivation", "rederivation", "re", "reconciliation", "summary", "estimates") || l.only(nil, "risk", "multiplier")
	return c
}

// variantOf is which X a key names inside one that says X.
func variantOf(l *tokenList) metric {
	if l.n != 1 {
		return none
	}
	switch string(l.word(0)) {
	case "t1":
		return xT1
	case "refine":
		return xRefine
	case "final", "average", "avg", "averaged", "mean":
		return xFinal
	}
	return none
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
func keyMetric(l *tokenList) metric {
	switch {
	case l.has("ivps", "eivps") || l.has("intrinsic", "equity") && l.has("value") && l.has("share"):
		return valueMetric(l)
	case l.has("irr") || l.has("hurdle"):
		return irrMetric(l)
	case l.has("x"):
		return xMetric(l)
	case l.has("dr") && l.only(neutral, "dr") || l.has("discount") && l.only(neutral, "discount", "rate"):
		if l.has("prior", "previous", "new", "scenario") {
			return none
		}
		return dr
	case l.has("roic") && (l.only(neutral, "roic", "terminal", "y0", "average", "avg", "ltm") || l.n == 2 && (yearToken(l.word(0)) || yearToken(l.word(1)))):
		return roic
	case l.has("g") && l.only(neutral, "g", "terminal"), l.has("growth") && l.has("terminal", "perpetual", "perpetuity") && l.only(neutral, "terminal", "growth", "rate", "perpetual", "perpetuity", "g"):
		return growth
	case l.has("revenue", "revenues", "sales") && l.only(neutral, "revenue", "revenues", "sales", "net", "y0", "annual", "ltm", "ttm", "total", "consolidated", "reported", "quarterly", "mm", "millions", "thousands", "group", "operating"):
		return revenue
	case l.has("sse") && l.only(neutral, "sse", "probabilities"):
		return sse
	case l.has("jpd") && l.only(neutral, "jpd", "probabilities") || l.has("joint") && l.only(neutral, "joint", "probability", "probabilities", "distribution"):
		return jpd
	case l.has("probability", "prob", "p", "probabilities") && l.only(neutral, "probability", "prob", "p", "probabilities", "joint", "weight", "posterior"):
		return probability
	}
	return none
}

func valueMetric(l *tokenList) metric {
	expected := []string{"e", "eivps", "expected", "mean", "weighted", "probability", "prob", "ev"}
	named := []string{"ivps", "intrinsic", "equity", "value"}
	if l.has(expected...) && l.only(neutral, append(named, expected...)...) {
		return eivps
	}
	if l.only(neutral, named...) {
		return ivps
	}
	return none
}

func irrMetric(l *tokenList) metric {
	switch {
	case l.has("p", "prob", "probability", "chance", "likelihood") && l.has("hurdle", "irr") && !l.has("weighted"):
		return pirr
	case l.has("irr") && l.has("e", "expected", "mean", "weighted") && l.only(neutral, "e", "irr", "expected", "mean", "weighted", "probability", "prob"):
		return eirr
	}
	return none
}

func xMetric(l *tokenList) metric {
	if !l.only(neutral, "x", "risk", "multiplier", "average", "avg", "averaged", "mean", "systematic") {
		return none
	}
	switch {
	case l.has("t1"):
		return xT1
	case l.has("refine"):
		return xRefine
	case l.has("final", "average", "avg", "averaged", "mean"):
		return xFinal
	}
	return none
}
