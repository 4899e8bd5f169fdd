package reading

import (
	"bytes"
	"strconv"
)

// A container is an object or array that is open, as far as scenarios and
// statements are concerned.
type container struct {
	group  int32
	first  int32 // the first statement read inside
	tally  int   // of its elements, -1 without
	n      int8  // the scenario that it is about
	state  bool  // it is a joint state
	awaits bool  // its probability is a placeholder
	chance Statement
}

// A pair is the name of a metric, perhaps, and a value beside it, of one object.
type pair struct {
	group            int32
	name, key, value []byte
	at               Place // of the value
}

// value takes in an event of JSON.
func (r *reader) value(e *event) {
	if e.depth >= maxPath {
		return
	}
	switch e.kind {
	case opens:
		r.group++
		f := &r.containers[e.depth]
		*f = container{group: r.group, first: int32(len(r.ledger.list)), tally: -1}
		if n := e.class.scenario; n <= ScenarioCount {
			f.n = n
		}
	case closes:
		r.settle(e)
	case scalar:
		if e.depth > 0 {
			r.field(e)
			r.paired(e)
		}
		r.scalar(e)
	}
}

// paired reads a value by the name beside it, in whichever order they stand:
// {"name": "IVPS", "value": 14.72}.
func (r *reader) paired(e *event) {
	named := e.class.role == nameRole && len(e.value) > 2 && e.value[0] == '"' && len(e.value) < 80
	if !named && e.class.role != figureRole || e.class.metric != None || e.path[len(e.path)-1].array {
		return
	}
	p := &r.pairs[e.depth-1]
	if group := r.containers[e.depth-1].group; p.group != group {
		*p = pair{group: group}
	}
	if named {
		p.name = unquoted(e.value)
	} else {
		p.key, p.value, p.at = e.key, e.value, e.at
	}
	if p.name == nil || p.value == nil {
		return
	}
	class := r.scan.note(p.name).class
	if class.metric == None {
		return
	}
	class.inherit(e.class, false)
	class.listed = class.listed && !class.metric.kernel()
	said := *e
	said.class, said.key, said.value, said.at = class, p.key, p.value, p.at
	r.scalar(&said)
}

// scalar reads the statement that a key and its value make.
func (r *reader) scalar(e *event) {
	c := e.class
	text := len(e.value) > 0 && e.value[0] == '"'
	if c.metric == None || c.metric == Revenue && c.quals.marks&baseYear == 0 || c.metric == Probability {
		if text {
			r.note(e)
		}
		return
	}
	s := Statement{Metric: c.metric, At: e.at, Form: JSON, Marks: c.quals.marks &^ (expected | baseYear), State: c.quals.state, Scenario: c.quals.scenario}
	if c.many && c.metric.single() {
		s.Marks |= Case
	}
	if c.listed && c.metric.single() {
		s.Marks |= Listed
	}
	if c.inner {
		s.Marks |= Inner
	}
	if c.loose {
		s.Marks |= Loose
	}
	if e.depth > 0 {
		s.Group = r.containers[e.depth-1].group
	}
	v, ok := r.amountOf(e.value)
	v = v.behind(colon, c.metric)
	switch {
	case ok && v.fits(&label{metric: c.metric}) && !(c.loose && v.value <= 0):
		s.take(v)
		if c.metric.Rate() && percentKey(e.key) {
			s.Marks |= Percent
		}
	case Placeholder(e.value) && !c.loose:
		s.Marks |= Absent
	default:
		if text {
			r.note(e)
		}
		return
	}
	if len(e.value) == 0 {
		r.ledger.add(s, r.ledger.texts[e.at.Source], 0, 0)
		return
	}
	from := 0
	if len(e.key) > 0 && cap(e.key) > cap(e.value) && cap(e.key)-cap(e.value) < 200 {
		from = cap(e.value) - cap(e.key)
	}
	r.ledger.add(s, e.value, from, len(e.value))
}

func (s *Statement) take(v amount) {
	s.Value, s.Digits = v.value, v.digits
	if v.points {
		s.Value, s.Digits = v.value/100, v.digits+2
	}
	if v.percent || v.points {
		s.Marks |= Percent
	}
	if v.ranged {
		s.Marks |= Range
		s.Upper = v.upper
	}
}

// note reads a string of JSON as prose, for the values that only the kernel
// may state.
func (r *reader) note(e *event) {
	if e.class.quals.marks&Case != 0 || len(e.value) < 8 {
		return
	}
	at := setting{at: e.at, form: Prose, kernel: true, above: qualifiers{state: e.class.quals.state}}
	r.cutter.escaped = true
	r.scenario.any = false
	r.prose(unquoted(e.value), at)
	r.cutter.escaped = false
}

func percentKey(key []byte) bool {
	l := tokens(key)
	return l.has("pct", "percent", "percentage")
}

// amountOf reads a scalar as a number or a range of two, quoted or not.
func (r *reader) amountOf(v []byte) (amount, bool) {
	if len(v) == 0 {
		return amount{}, false
	}
	if v[0] == '"' {
		t := unquoted(v)
		if len(t) > 160 || !hasDigit(t) {
			return amount{}, false
		}
		c := &r.cutter
		c.escaped = true
		c.cut(t)
		c.escaped = false
		if !c.valued(c.lead(0)) {
			return amount{}, false
		}
		return c.value(0, colon)
	}
	if v[0] != '-' && !isDigit(v[0]) && v[0] != '.' {
		return amount{}, false
	}
	f, err := strconv.ParseFloat(string(v[:min(len(v), 64)]), 64)
	if err != nil {
		n, ok := readNumber(v, 0)
		return amount{number: n}, ok
	}
	n := number{value: f}
	if point := bytes.IndexByte(v, '.'); point >= 0 {
		n.digits = int8(min(len(v)-point-1, 20))
	}
	return amount{number: n, sole: true}, true
}

// field notes what one value says of the object that it is in: which scenario
// or state that is, its P, its M.
func (r *reader) field(e *event) {
	f := &r.containers[e.depth-1]
	parent := &e.path[len(e.path)-1]
	if !parent.array && len(e.key) > 0 {
		f.state = f.state || e.class.state
		if len(e.value) > 2 && e.value[0] == '"' && e.class.id {
			if n, many := scenarioToken(bytes.ReplaceAll(e.value[:min(len(e.value), 200)], []byte("_"), []byte(" "))); n > 0 && !many {
				f.n = n
			}
			return
		}
	}
	if (e.class.prob || parent.class.joint) && Placeholder(e.value) {
		r.awaited(e, parent)
		return
	}
	if !hasDigit(e.value) || len(e.value) > 400 || Placeholder(e.value) {
		return
	}
	n := int8(0)
	if e.class.scenario <= ScenarioCount {
		n = e.class.scenario // "S1": 0.3 inside "probabilities"
	}
	own := e.class.prob
	p, m := own, e.class.mag
	for i := len(e.path) - 1; i >= 0 && !p && !m; i-- {
		p, m = e.path[i].class.prob, e.path[i].class.mag
		if r.containers[i].n > 0 && n == 0 {
			break
		}
	}
	if !p && !m && !parent.class.joint {
		return
	}
	v, ok := r.amountOf(e.value)
	s := Statement{At: e.at, Form: JSON, Scenario: n}
	s.take(v)
	if ok && parent.class.joint && jpdKey(parent.key) && !e.class.mag && e.class.metric != IVPS && !own && stateKey(parent.key, e.key) {
		r.joint(e.depth-1, e).Add(s) // "0101": 0.12
		return
	}
	switch {
	case p && ok && !v.ranged && (own || n > 0 || e.class.leaf || e.path[len(e.path)-1].class.prob && !m):
		s.Metric = Probability
		if own && f.chance.Metric == None {
			f.chance = s
		}
		if e.class.before {
			s.State = Earlier
		}
	case m:
		s.Metric = Magnitude
	case p:
		s.Metric, s.Marks = Probability, s.Marks|Range // something with digits
	default:
		return
	}
	if n > 0 {
		r.scenarioNamed(n, setting{at: e.at})
	}
	r.ledger.add(s, e.value, 0, len(e.value))
}

// awaited notes a placeholder where a joint state's probability would be.
func (r *reader) awaited(e *event, parent *frame) {
	if e.class.prob {
		r.containers[e.depth-1].awaits = true
	} else if jpdKey(parent.key) && !e.class.mag && e.class.metric != IVPS && stateKey(parent.key, e.key) {
		r.joint(e.depth-1, e).Awaited++
	}
}

// settle gives what an object said to its scenario, or to the list of joint
// states that it is one of.
func (r *reader) settle(e *event) {
	f := &r.containers[e.depth]
	inList := e.depth > 0 && len(e.path) > 0
	if (f.chance.Metric != None || f.awaits) && inList && (f.state || e.path[len(e.path)-1].class.joint && f.n == 0) && !marginal(e.path[len(e.path)-1].key) {
		if t := r.joint(e.depth-1, e); f.chance.Metric != None {
			t.Add(f.chance)
		} else {
			t.Awaited++
		}
		return
	}
	if f.n == 0 || f.state {
		return
	}
	r.scenarioNamed(f.n, setting{at: e.at})
	for i := int(f.first); i < len(r.ledger.list); i++ {
		s := &r.ledger.list[i]
		if (s.Metric == Probability || s.Metric == Magnitude) && s.Scenario == 0 {
			s.Scenario = f.n
		} else if s.Metric.single() {
			s.Marks |= Case
		}
	}
}

// joint is the tally of the container at a depth.
func (r *reader) joint(depth int, e *event) *Tally {
	f := &r.containers[depth]
	if f.tally < 0 {
		if f.tally = r.tallied(e.at, e.path[depth].class.top); f.tally < 0 {
			f.tally = maxTallies - 1
		}
	}
	return &r.doc.Tallies[f.tally]
}

// stateKey is a key that may name a joint state: 0101, S1_S2, none. Inside of
// what is called JPD any may that does not name a statistic.
func stateKey(container, key []byte) bool {
	l := tokens(key)
	if l.has(statistics...) {
		return false
	}
	c := tokens(container)
	return c.has("jpd") || scenarioIn(&l) > 0 || l.has("none", "base", "all", "neither") || len(bytes.Trim(key, "01")) == 0
}

// statistics are words of keys beside those of joint states.
var statistics = []string{"ivps", "value", "mean", "count", "threshold", "tolerance", "states", "total", "sum", "check", "cumulative", "n", "p10",
	"p25", "p50", "p75", "p90", "variance", "std", "standard", "deviation", "median", "factor", "validation", "range", "min", "max", "coefficient", "skewness"}

func jpdKey(key []byte) bool {
	l := tokens(key)
	return (l.has("jpd") && l.n == 1 || l.has("probabilities", "probability", "distribution")) && !marginal(key) && !l.has("conditional", "prior", "base", "stats", "statistics")
}

// marginal is a key over the scenarios' own probabilities.
func marginal(key []byte) bool {
	return tokenWord(key, "marginal", "marginals", "scenario", "scenarios")
}
