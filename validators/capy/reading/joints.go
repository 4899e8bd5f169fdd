package reading

import "bytes"

// joints knows whether the present list is of joint states, and adds it up.
type joints struct {
	titled bool // the heading above names them
	led    bool // the line above the list does
	within int  // how far an item that does must be indented for others to be its own, 0 without
	top    bool // it is of some of them
	tally  int  // the tally of the present list, -1 without
}

// jointList are titles of lists of joint states with their probabilities.
var jointList = NewPhrases("JPD", "joint probability", "joint probabilities", "joint distribution", "joint states", "state probabilities")

// line moves on to a line. An item, or a line of code, under a title of joint
// states may be one of them; a line of prose ends a list or leads one in.
func (j *joints) line(r *reader, l *line) {
	switch l.kind {
	case heading:
		*j = joints{titled: jointList.Has(l.text), tally: -1}
	case prose:
		opens := leads(l)
		if j.led && !opens && j.state(r, l.text, setting{at: r.walker.at, form: Prose}) {
			return // JPD: over lines
		}
		j.tally, j.led, j.within = -1, opens && jointList.Has(l.text), 0
		j.top = opens && (j.titled || j.led) && selection(l.text)
	case item, code:
		switch named := l.kind == item && leads(l) && jointList.Has(l.text); {
		case named:
			*j = joints{titled: j.titled, led: true, within: l.indent + 1, top: selection(l.text), tally: -1}
			return
		case j.within > l.indent && l.kind == item: // an item beside the one that led them in
			*j = joints{titled: j.titled, tally: -1}
		}
		if j.titled || j.led {
			j.state(r, l.text, setting{at: r.walker.at, form: forms[l.kind]})
		}
	}
}

// leads says that a line is a title of what follows: it is bold, or ends in a
// colon.
func leads(l *line) bool {
	n := len(l.text)
	if n == 0 || n > 120 || !leading[l.text[n-1]] {
		return false
	}
	return bytes.HasSuffix(trimRight(l.text, &trailing), []byte{':'}) || boldLine(l)
}

// leading are the bytes that such a line may end in.
var leading = setOf(": *_")

// state adds a line such as "0101: 0.12" or "P(S1, S2) = 4%" to its list's
// tally, and says that it is one. What a scenario alone has is a joint state's only in a
// list that begins with one.
func (j *joints) state(r *reader, t []byte, at setting) bool {
	name, rest := parted(t)
	l := tokens(name)
	sure, ok := jointState(&l)
	ok = ok || l.rest()
	total := l.has("total", "sum", "σ")
	if !ok && !total || !sure && j.tally < 0 {
		return false
	}
	if label, value := parted(rest); namesP(label) { // S4: P = 0.45
		rest = value
	}
	v, ok := r.cellValue(rest)
	awaited := !ok && !total && Placeholder(rest)
	if !awaited && (!ok || v.money || v.scaled || v.ranged) {
		return false
	}
	if j.tally < 0 {
		if j.tally = r.tallied(at.at, j.top || selection(r.heading)); j.tally < 0 {
			return false
		}
	}
	g := &r.doc.Tallies[j.tally]
	if awaited {
		g.Awaited++
		return true
	}
	if total {
		g.Total = v.value
		return true
	}
	s := statementOf(v, at)
	s.Metric = Probability
	g.Add(s)
	return true
}

// parted cuts a line behind the first link in it: P(00) and 0.5.
func parted(t []byte) (name, rest []byte) {
	for i := 0; i < min(len(t), maxJointName); i++ {
		switch {
		case t[i] == ':' || t[i] == '=':
			return t[:i], t[i+1:]
		case bytes.HasPrefix(t[i:], []byte("→")), bytes.HasPrefix(t[i:], []byte("—")), bytes.HasPrefix(t[i:], []byte("–")):
			return t[:i], t[i+3:]
		}
	}
	return nil, nil
}

// maxJointName bounds the name of a joint state in a list.
const maxJointName = 60

// jointState says whether a name has nothing but what joint states are called
// by: 0101, none, S1 and S2, S1 only. It is sure where no scenario alone is.
func jointState(l *tokenList) (sure, ok bool) {
	scenarios, bits := 0, 0
	for i := range l.n {
		w := l.word(i)
		switch {
		case scenarioWord(w):
			scenarios++
		case len(bytes.Trim(w, "01")) == 0:
			bits += len(w)
		case doubtless[string(w)] || bytes.ContainsAny(w, "∩∧¬∪∅"):
			sure = true
		case !stateWords[string(w)]:
			return false, false
		}
	}
	sure = sure || scenarios > 1 || bits > 1
	return sure, sure || scenarios > 0
}

// rest says that a name is of all states that the others are not.
func (l *tokenList) rest() bool { return l.has("other", "others", "rest", "remaining", "remainder") }

// Words that joint states are called by; of doubtless ones nothing else is.
var (
	doubtless  = set("none", "neither", "all", "both", "only", "alone", "nothing")
	stateWords = set("p", "pr", "prob", "probability", "state", "scenario", "scenarios", "joint", "base", "case", "and", "or", "no", "not", "of", "the", "two", "three", "four")
)

// scenarioWord is S1 to S4 in a name.
func scenarioWord(w []byte) bool {
	return len(w) == 2 && w[0] == 's' && w[1] >= '1' && w[1] <= '0'+ScenarioCount
}
