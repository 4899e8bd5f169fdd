package capy

import (
	"fmt"
	"math"
)

// Chances gathers probabilities: the marginal ones of S1 to S4 and those of
// the joint states.
type chances struct {
	scenarios                  // the marginals
	joint     []jointGroup     // tables and JSON containers of joint states
	column    int              // of a table of joint states, -1 outside
	lists     [maxPath + 1]int // index of the group of their elements, -1 without
}

// A jointGroup is one list of joint states' probabilities.
type jointGroup struct {
	at    place
	sum   float64
	n     int
	top   bool // a selection
	total float64
	max   float64
	over1 int
	bad   []statement // that cannot be
	signs bool        // percent signs
}

func (g *jointGroup) add(v float64, percent bool, at place) {
	g.n++
	g.sum += v
	g.max = math.Max(g.max, v)
	g.signs = g.signs || percent
	if v > 1 {
		g.over1++
	}
	if v < 0 && len(g.bad) < maxFindings || v > 1 && len(g.bad) < maxFindings {
		g.bad = append(g.bad, statement{metric: probability, value: v, percent: percent, at: at})
	}
}

// percents says that a group is in percent: with signs, or more values above 1
// than a slip would put there.
func (g *jointGroup) percents() bool { return g.signs || 2*g.over1 > g.n || g.sum > 20 }

func newChances() *chances { return &chances{column: -1} }

func (c *chances) line(l *line) {
	c.scenarios.line(l)
	if l.kind != row {
		if l.kind == heading {
			c.column = -1
		}
		return
	}
	if l.head {
		c.column = -1
		if joint := jointPhrases.has(l.under.title) || len(l.cells) > 0 && stateHead(l.cells[0]) || scenarioColumns(l.cells) > 2; joint {
			c.find(l)
		}
		return
	}
	if c.column < 0 || c.column >= len(l.cells) || len(l.header) == 0 {
		return
	}
	c.row(l)
}

// scenarioColumns counts the columns that are scenarios.
func scenarioColumns(cells [][]byte) int {
	n := 0
	for _, cell := range cells {
		if k, many := scenarioToken(cell); k > 0 && !many {
			n++
		}
	}
	return n
}

// find looks for the column of the probabilities.
func (c *chances) find(l *line) {
	for i, cell := range l.cells {
		w := tokens(cell)
		if i > 0 && w.has("p", "prob", "probability", "probabilities", "weight") && !w.has("cumulative", "contribution", "weighted", "marginal", "ivps", "change") {
			if n, _ := scenarioToken(l.cells[0]); n > 0 || w.has("scenario") {
				return
			}
			if len(c.joint) >= maxGroups {
				return
			}
			c.column = i
			c.joint = append(c.joint, jointGroup{at: l.at, top: selection(l.under.title)})
			return
		}
	}
}

func (c *chances) row(l *line) {
	g := &c.joint[len(c.joint)-1]
	first := trimMarks(l.cells[0])
	v, ok := cellValue(l.cells[c.column], probability)
	if !ok || v.money || v.scaled {
		return
	}
	w := tokens(first)
	switch {
	case w.has("total", "sum", "σ"):
		g.total = v.value
	case w.has("top", "other", "others", "remaining", "rest") && !w.has("state"):
		g.add(v.value, v.percent, l.at)
	default:
		g.add(v.value, v.percent, l.at)
	}
}

var jointPhrases = newPhrases("JPD", "joint", "SSE", "state enumeration", "state probabilities", "feasible states")

// stateHead says that a table's first column is of joint states.
func stateHead(t []byte) bool {
	w := tokens(t)
	return w.has("state", "states", "joint", "combination")
}

func selection(t []byte) bool {
	w := tokens(t[:min(len(t), 90)])
	return w.has("top", "key", "representative", "selected", "most", "largest", "highest", "excerpt", "dominant", "major")
}

func (c *chances) json(e *event) {
	c.scenarios.json(e)
	if e.depth >= maxPath {
		return
	}
	switch e.kind {
	case opens:
		c.lists[e.depth] = -1
	case closes:
		c.element(e)
	case scalar:
		c.scalar(e)
	}
}

// element adds the probability of an object that is a joint state by its keys,
// in a list that is not called one.
func (c *chances) element(e *event) {
	f := c.stack[e.depth]
	if e.depth > 0 && f.state && f.chance.metric != none && !e.class.joint {
		c.group(e.depth-1, e).add(f.chance.value, f.chance.percent, f.chance.at)
	}
}

// maxGroups bounds the lists that are told apart.
const maxGroups = 400

// group is that of the container at a depth.
func (c *chances) group(depth int, e *event) *jointGroup {
	list := &c.lists[depth]
	if *list < 0 && len(c.joint) >= maxGroups {
		*list = maxGroups - 1
	}
	if *list < 0 {
		*list = len(c.joint)
		c.joint = append(c.joint, jointGroup{at: e.at, top: e.path[depth].class.top})
	}
	return &c.joint[*list]
}

// scalar adds a probability inside of what is called joint: one of an element
// of a list, or one that stands under the name of its state.
func (c *chances) scalar(e *event) {
	if e.depth == 0 || !e.path[e.depth-1].class.joint || e.class.quals.hush {
		return
	}
	v, ok := jsonNumber(e.value)
	l := tokens(e.key)
	if !ok || l.has("total", "sum", "check", "cumulative", "count", "n") {
		return
	}
	parent := e.path[e.depth-1]
	switch {
	case e.class.prob && !l.has("marginal", "marginals") && e.class.scenario == 0 && e.depth > 1:
		c.group(e.depth-2, e).add(v.value, v.percent, e.at)
	case jpdKey(parent.key) && !e.class.mag && e.class.metric != ivps && stateKey(e.key):
		c.group(e.depth-1, e).add(v.value, v.percent, e.at)
	}
}

// stateKey is a key that may name a joint state: 0101, S1_S2, none.
func stateKey(key []byte) bool {
	l := tokens(key)
	return !l.has("ivps", "value", "mean", "count", "threshold", "tolerance", "states")
}

func jpdKey(key []byte) bool {
	l := tokens(key)
	return (l.has("jpd") && l.n == 1 || l.has("probabilities", "probability", "distribution")) && !l.has("marginal", "marginals", "scenario", "scenarios", "conditional", "prior", "base")
}

// known are the scenarios that are named.
func (s *scenarios) known() int {
	n := 0
	for _, one := range s.seen {
		if one.named.line > 0 {
			n++
		}
	}
	return n
}

// marginals are the probabilities of the scenarios that are known.
func (c *chances) marginals() []statement {
	var list []statement
	for _, s := range c.prob {
		if s.metric != none {
			list = append(list, s)
		}
	}
	return list
}

// within holds each probability to 0 and 1.
func (c *chances) within(f *findings, b Bound) {
	var group jointGroup
	list := c.marginals()
	for _, s := range list {
		group.add(s.value, s.percent, s.at)
	}
	for _, s := range list {
		each(f, b, s, group)
	}
	for _, g := range c.joint {
		for _, s := range g.bad {
			each(f, b, s, g)
		}
	}
}

// each holds one probability to the bound in the unit of its group.
func each(f *findings, b Bound, s statement, g jointGroup) {
	v := s.value
	sure := s.percent || v < 0 || v > 100
	if !s.percent && !g.percents() {
		v *= 100
		sure = sure || g.over1 < g.n && 2*g.over1 < g.n
	} else {
		sure = true
	}
	severity, why := b.check(probability, v)
	switch {
	case severity == "":
	case !sure:
		f.warn(s.at, "A probability of %s could be %s or %s: say which, with a percent sign", trimFloat(s.value), show(probability, 100*s.value), show(probability, s.value))
	case severity == Fail:
		f.fail(s.at, "%s", why)
	default:
		f.warn(s.at, "%s", why)
	}
}

// sums holds the sum of the joint states to the bound, or, only where there
// are none, of the marginals, which else need not sum to anything.
func (c *chances) sums(f *findings, b Bound) {
	var off *jointGroup
	for i := range c.joint {
		g := &c.joint[i]
		if g.n < 2 || g.top {
			continue
		}
		severity, _ := b.check(probabilitySum, g.percent())
		if severity == "" {
			return
		}
		if off == nil {
			off = g
		}
	}
	if off != nil {
		c.tell(f, b, off.at, off.percent(), fmt.Sprintf("the %d joint states", off.n))
		return
	}
	if list := c.marginals(); len(list) > 1 && len(list) >= c.known() && !c.anyJoint() {
		var g jointGroup
		for _, s := range list {
			g.add(s.value, s.percent, s.at)
		}
		c.tell(f, b, list[0].at, g.percent(), fmt.Sprintf("the %d scenarios", len(list)))
	}
}

func (c *chances) anyJoint() bool {
	for _, g := range c.joint {
		if g.n > 1 {
			return true
		}
	}
	return false
}

// percent is the group's sum in percent.
func (g *jointGroup) percent() float64 {
	sum := g.sum
	if g.total > 0 && math.Abs(g.total-sum) > 0.06*g.total {
		sum = g.total // not all of the states are shown
	}
	if g.percents() || g.total > 20 {
		return sum
	}
	return 100 * sum
}

func (c *chances) tell(f *findings, b Bound, at place, percent float64, what string) {
	severity, _ := b.check(probabilitySum, percent)
	sum := trimFloat(math.Round(percent*100) / 10000)
	switch severity {
	case Fail:
		f.fail(at, "The probabilities of %s sum to %s: want %s", what, sum, b.span())
	case Warn:
		f.warn(at, "The probabilities of %s sum to %s: want %s", what, sum, b.span())
	}
}

// span writes the bound of a sum, 0.95 to 1.05.
func (b Bound) span() string {
	low, high := "any", "any"
	if b.WarnBelow != nil {
		low = trimFloat(*b.WarnBelow / 100)
	}
	if b.WarnAbove != nil {
		high = trimFloat(*b.WarnAbove / 100)
	}
	return low + " to " + high
}
