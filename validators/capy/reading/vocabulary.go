package reading

import (
	"bytes"
	"strings"
	"sync"
)

// A sense is what a word says where it stands near a metric's name.
type sense uint32

const (
	neutral   sense = 1 << iota // nothing against the value's being the result
	linking                     // a verb that gives a value, at some distance too
	joining                     // of, at: gives a value only right behind
	lead                        // may stand between a link and the value
	casual                      // one case of many
	changing                    // a difference
	moving                      // from an old value to a new one
	supposing                   // a condition
	foreign                     // somebody else's
	past                        // of an earlier stage
	fresh                       // said to be new
	expecting                   // E[…]
	thing                       // has numbers of its own: price, revenue …
	bounding                    // at least, above: a bound, not a value
	turning                     // leads over to another number
	sharing                     // share, shares
	denying                     // not, no
)

// sensible are the words of each sense, in lower case. A word may have
// several.
var sensible = map[sense]string{
	neutral: "value values estimate estimated result results final point central computed calculated output derived applied used selected adopted recommended recommendation concluded static updated post " +
		"enrichment enriched per share pct percent usd brl eur gbp cad state base case enrich int integrated integration stage t1 t2 refine in from for the this these current new total kernel dcf rounded " +
		"currency local our 1 2 3 4 state1 state2 state3 state4 scenario prior previous adjusted recalculated turn year now today company median annualized annualised resulting overall preliminary revised headline " +
		"implied modeled modelled provisional indicative my their its corrected restated thus then also approximate calc deterministic probabilistic gives here target y0 range band",
	linking: "is was are equals equal stands remains becomes totals reaches yields be being comes lands amounts works gives gave puts put sits settles prints hits computes estimates yielded reached came landed come land stand work amount",
	joining: "of at between",
	lead: "approximately about roughly around approx now currently an a at to estimated the circa ca nearly almost just some exactly still thus only out in being up on as be equal say well close near between therefore hence accordingly consequently " +
		"usd brl eur gbp cad aud jpy chf kernel c est set pegged seen placed fixed held assessed region area vicinity neighborhood neighbourhood",
	casual: "low high bear bull bearish bullish downside upside min max minimum maximum floor ceiling sensitivity sensitivities tornado breakeven illustrative example stress stressed lower upper alternative worst best " +
		"percentile percentiles pessimistic optimistic p1 p5 p10 p20 p25 p50 p75 p80 p90 p95 p99 std stdev stddev deviation volatility variance ratio multiple multiples weight cap limit unlevered reverse conditional " +
		"swing higher schedule label bucket threshold s1 s2 s3 s4 s5 s6 tail recession adverse favorable favourable skewness skew quantile",
	changing: "impact impacts effect effects delta δ change changes contribution gap difference spread incremental reduces increases adds add reduce increase adjustment premium discount divergence shock step δivps Δivps Δ uplift " +
		"haircut penalty drag bump loss gain headwind tailwind reduction improvement attribution elasticity creates destroys",
	moving: "decreased decreases declined declines declining falls fell falling rises rose rising increased increases moves moved drops dropped goes went changed changes improves improved shifts shifted climbs climbed " +
		"slips slipped lifts lifted fall rise drop decline decrease climb slip",
	supposing: "if assuming suppose assume were unless hypothetical hypothetically supposing whether",
	foreign: "market consensus analyst analysts peer peers sector industry street broker brokers comparables comps comparable competitor competitors investors wall book carrying face strike exercise grant " +
		"liquidation tangible warrant warrants option options notes benchmark benchmarks comparison acquirer bidder",
	past:      "prior previous previously earlier preceding upstream original originally inherited received baseline carried unchanged reference referenced existing historical last initial starting opening pre stale superseded",
	fresh:     "final updated recalculated integrated adjudicated revised new recomputed adjusted",
	expecting: "expected weighted mean",
	thing: "price prices revenue revenues cost costs margin margins debt cash fdso capex ebit ebitda nopat fcf sales growth capital assets liabilities dividend dividends eps earnings capitalization capitalisation " +
		"volume fee fees adjustment impact rfr erp beta factor factors wacc tax rate rates spending net income profit loss losses expense expenses multiple bps day days years months month quarter member members customer " +
		"customers user users driver drivers hurdle percentile threshold tolerance premium discount bridge compensation settlement probability rank ranking score error errors residual",
	bounding: "must should cannot exceed exceeds exceeding least most above below beneath beyond greater less positive negative than within",
	turning:  "minus plus vs versus compared against than relative and or but while whereas",
	sharing:  "share shares apiece",
	denying:  "not no never without neither nor cannot",
}

// A term is what the vocabulary says of one word.
type term struct {
	sense  sense
	label  int16     // the first label that begins with it, counted from 1
	found  named     // what a text has that has it
	second letterSet // what the second words of these begin with
}

// A letterSet has a bit for each letter, and for a slash that of o.
type letterSet uint32

const anyLetter = ^letterSet(0)

func (s letterSet) has(c byte) bool { return s&(1<<(c&31)) != 0 }

// follows says that one of the labels may go on with a text behind its first word.
func (t *term) follows(rest []byte) bool {
	if t.second == anyLetter {
		return true
	}
	for _, c := range rest {
		switch {
		case isASCIIWord(c) || c == '/':
			return !isDigit(c) && t.second.has(c)
		case c == '<':
			return true // a tag may be between
		}
	}
	return true
}

// A label is a name of a metric as prose writes it.
type label struct {
	words  []string // a "/" stands for itself
	exact  string   // the first word as it must be written, if that matters
	metric Metric
	loose  bool  // a value of the shares, not said to be the IVPS
	shares bool  // the text must say that it is per share
	next   int16 // the next label that begins with the same word
}

// A lexicon is the vocabulary with the labels. A sieve lets through the words
// that may be in it, so that most need no look.
type lexicon struct {
	terms  map[string]term
	table  [1 << 12]lexeme // the terms again: a word is where its hash says, or right behind
	known  sieve
	starts [wantedCount]starts // the words that labels begin with
	labels []label
}

// Starts are words that are looked for where a word begins so, and then in a sieve.
type starts struct {
	sieve
	beginnings
}

func (s *starts) add(w string) {
	s.sieve.add(w)
	s.beginnings.add(newPhrase(w, 0))
}

// A lexeme is a word of the table and what the vocabulary says of it.
type lexeme struct {
	word string
	term term
}

// place is where a word would be in the table; it has at least one letter.
func place(w []byte) uint {
	n := uint(len(w))
	return (uint(w[0])*0x9E5 + uint(w[n/2])*0x2B7 + uint(w[n-1])*0x53 + n*0x11) & (1<<12 - 1)
}

// put adds a word that is not there yet.
func (l *lexicon) put(w string, t term) {
	at := place([]byte(w))
	for l.table[at].word != "" {
		at = (at + 1) % uint(len(l.table))
	}
	l.table[at] = lexeme{w, t}
}

// A sieve has a bit for the first two letters and the last two bits of the
// length of each word that it lets through. It is small, so that it stays near.
type sieve [1 << 6]uint64

func slot(w []byte) (at, bit uint) {
	h := uint(w[0]&31)<<7 | uint(len(w)&3)
	if len(w) > 1 {
		h |= uint(w[1]&31) << 2
	}
	return h >> 6, h & 63
}

func (s *sieve) add(w string) {
	at, bit := slot([]byte(w))
	s[at] |= 1 << bit
}

func (s *sieve) lets(w []byte) bool {
	at, bit := slot(w)
	return s[at]&(1<<bit) != 0
}

// names are the labels, the longer before the shorter that they begin with. A
// + in front says that the first word is written so, a ~ that the value may
// be another's than the kernel's, a $ that it must be said to be per share.
var names = map[Metric]string{
	IVPS: "ivps; intrinsic value per share; intrinsic value / share; intrinsic per share value; intrinsic share value; equity value per share; equity value / share; " +
		"~fair value per share; ~fair value / share; ~fair value; ~fair price; ~fair share price; ~target price; ~price target; ~implied share price; ~implied value per share; ~implied price per share; " +
		"~per share value; ~per share valuation; ~value per share; ~value / share; ~valuation per share; ~share value; ~dcf value; ~dcf per share; ~worth per share; ~theoretical value; ~price objective; " +
		"$intrinsic value; $equity value; $intrinsic worth; $valuation; $value; $values; $valued; $valuing; $worth; $appraise; $appraised; $priced; $price",
	EIVPS:       "eivps",
	DR:          "+DR; discount rate; cost of equity",
	Growth:      "terminal growth rate; terminal growth; terminal g; perpetual growth rate; perpetuity growth rate; perpetual growth; +g",
	ROIC:        "+ROIC",
	Revenue:     "revenue; revenues",
	SSE:         "+SSE",
	JPD:         "+JPD; joint probability distribution; joint probability",
	CR:          "+CR; convergence rate",
	Tau:         "τ; ρ; tau; rho",
	anyX:        "+X; risk multiplier",
	anyIRR:      "+IRR; internal rate of return",
	PIRR:        "hurdle probability",
	Probability: "+P; +Pr; probability of occurrence; likelihood of occurrence; probability of realization; probability of realisation; probability of the event; probability; posterior; likelihood; prob",
	Magnitude:   "+M; magnitude; impact; effect; severity; shock; intervention; Δivps; δivps; Δ ivps",
}

// lex is made when the first text is read.
var lex = sync.OnceValue(newLexicon)

func newLexicon() *lexicon {
	l := &lexicon{terms: map[string]term{}}
	for s, list := range sensible {
		for w := range strings.FieldsSeq(list) {
			t := l.terms[w]
			t.sense |= s
			l.terms[w] = t
		}
	}
	for m := range metricCount {
		for name := range strings.SplitSeq(names[m], ";") {
			l.name(m, strings.TrimSpace(name))
		}
	}
	for w, t := range l.terms {
		l.known.add(w)
		l.put(w, t)
		for n := t.label; n > 0; n = l.labels[n-1].next {
			l.starts[inScenario].add(w)
			m := l.labels[n-1].metric
			if m != Probability && m != Magnitude {
				l.starts[anywhere].add(w) // a P over the hurdle has IRR or hurdle behind it
			}
			if m.kernel() {
				l.starts[ofKernel].add(w)
			}
		}
	}
	return l
}

// A wanted says which labels a text is searched for.
type wanted uint8

const (
	anywhere   wanted = iota // where no scenario is spoken of: all but P and M, which are nobody's there
	inScenario               // where one is: all
	ofKernel                 // the kernel's
	wantedCount
)

// A named is what a text has of labels. Most lines have none.
type named uint8

const (
	unnamed named = iota
	ofYears       // that of the revenue, which is of no interest but for Y0
	loosely       // a word that only loose labels begin with, which have no value without a digit
	firmly
)

// idle says that nothing of what a text has of labels has a value in it.
func (n named) idle(t []byte) bool {
	return n == unnamed || n == loosely && !hasDigit(t) || n == ofYears && !bytes.Contains(t, []byte("Y0")) && !bytes.Contains(t, []byte("y0"))
}

// named says whether a text has a word that one of the labels begins with, so
// that it is worth its tokens.
func (l *lexicon) named(t []byte, which wanted) (found named) {
	for len(t) > 0 {
		part := t
		if i := bytes.IndexByte(t, '\\'); i >= 0 {
			part, t = t[:i], t[i+escape(t[i:]):]
		} else {
			t = nil
		}
		if f := l.begins(part, &l.starts[which]); f > found {
			found = f
		}
		if found == firmly {
			break
		}
	}
	return found
}

// begins is named without escapes.
func (l *lexicon) begins(t []byte, which *starts) (found named) {
	var buf wordBuffer
	for i := which.next(t, 0); i < len(t); {
		from := i
		for i++; i < len(t) && wordy[t[i]]; i++ {
		}
		if t[from] >= 0x80 {
			i = min(from+2, len(t)) // τ, whatever touches it
		}
		if which.lets(t[from:i]) {
			if w := l.look(buf.fold(t[from:i])); w.found > found && w.follows(t[i:]) {
				if found = w.found; found == firmly {
					return found
				}
			}
		}
		i = which.next(t, i)
	}
	return found
}

// escape is the length of an escape of JSON, so that the letter in it does not
// touch the word behind; of LaTeX's \tau and \rho only the backslash.
func escape(t []byte) int {
	switch {
	case len(t) < 2 || bytes.HasPrefix(t, []byte(`\tau`)) || bytes.HasPrefix(t, []byte(`\rho`)):
		return 1
	case t[1] == 'u':
		return min(len(t), 6)
	case t[1] == 'n' || t[1] == 't' || t[1] == 'r':
		return 2
	}
	return 1
}

// wordy are the bytes of words: letters and digits of ASCII, and of τ and ρ.
var wordy = func() (set [256]bool) {
	for c := range set {
		set[c] = isASCIIWord(byte(c)) || c == 0xCF || c == 0x84 || c == 0x81
	}
	return set
}()

// found is what a text has that has the label.
func (n *label) found() named {
	switch {
	case n.loose:
		return loosely
	case n.metric == Revenue:
		return ofYears
	}
	return firmly
}

// name adds one label, behind those that begin with the same word.
func (l *lexicon) name(m Metric, text string) {
	if text == "" {
		return
	}
	n := label{metric: m}
	switch text[0] {
	case '+':
		text = text[1:]
		n.exact, _, _ = strings.Cut(text, " ")
	case '~':
		text, n.loose = text[1:], true
	case '$':
		text, n.loose, n.shares = text[1:], true, true
	}
	n.words = strings.Fields(string(appendLower(nil, []byte(text))))
	t := l.terms[n.words[0]]
	l.labels = append(l.labels, n)
	index := int16(len(l.labels))
	t.found = max(t.found, n.found())
	if len(n.words) > 1 && m != PIRR { // a P over the hurdle is one by that word
		t.second |= 1 << (n.words[1][0] & 31)
	} else {
		t.second = anyLetter
	}
	if t.label == 0 {
		t.label = index
	} else {
		last := &l.labels[t.label-1]
		for last.next > 0 {
			last = &l.labels[last.next-1]
		}
		last.next = index
	}
	l.terms[n.words[0]] = t
}

// look finds a word in lower case.
func (l *lexicon) look(w []byte) term {
	if len(w) == 0 || !l.known.lets(w) {
		return term{}
	}
	for at := place(w); l.table[at].word != ""; at = (at + 1) % uint(len(l.table)) {
		if l.table[at].word == string(w) {
			return l.table[at].term
		}
	}
	return term{}
}
