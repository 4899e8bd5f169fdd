package reading

// inFront reads a value that stands in front of its label: a $23.45 IVPS,
// $23.45 per share is the intrinsic value. Its next is the token behind the
// number.
func (r *reader) inFront(l *label, i, end int) (amount, bool) {
	c := &r.cutter
	if l.shares || !l.metric.PerShare() && l.metric != PIRR && l.metric != anyIRR {
		return amount{}, false
	}
	j, joined := c.joiner(i)
	if j < 0 || !c.valued(j) {
		return amount{}, false
	}
	n := c.numbers[c.tokens[j].index]
	if l.metric.PerShare() != n.money || n.plus && n.money || n.scaled || !n.money && !n.percent {
		return amount{}, false
	}
	if j > 0 && (c.tokens[j-1].sign == dashSign || c.tokens[j-1].sign == boundSign || c.tokens[j-1].sign == operatorSign || c.tokens[j-1].sign == slashSign) {
		return amount{}, false
	}
	if !joined && end < len(c.tokens) && (c.tokens[end].is(casual|changing|thing) || c.tokens[end].glued) {
		return amount{}, false // a $15.00 IVPS impact
	}
	n.plus = false
	return amount{number: n, next: j + 1}, n.value > 0 || !n.money
}

// joiner goes back from a label over what may join it to a value before it. It
// gives the token where the value would be; joined says that a word or a
// bracket joins them.
func (c *cutter) joiner(i int) (at int, joined bool) {
	article, comma, dash := false, false, false
	for j := i - 1; j >= max(0, i-7); j-- {
		k := &c.tokens[j]
		switch {
		case k.sign == numberSign:
			if article && !joined || comma && c.taken(j) || dash && j > 0 {
				return -1, false
			}
			return j, joined
		case k.sign == openSign || k.sign == equalSign || k.sign == commaSign && !joined:
			joined, comma = true, k.sign == commaSign
		case k.sign == dashSign && !joined && !article:
			dash = true // a line of $23.45 — IVPS
		case k.sign == slashSign, k.is(sharing), c.same(k, "per"):
		case k.is(linking), c.same(k, "as"), c.same(k, "represents"), c.same(k, "for"):
			joined = true
		case c.same(k, "the"), c.same(k, "our"), c.same(k, "its"), c.same(k, "a"), c.same(k, "of"), c.same(k, "in"):
			article = true
		case k.is(expecting | fresh), k.is(neutral) && !k.is(past):
		default:
			return -1, false
		}
	}
	return -1, false
}

// taken says that the number at token i is the value of something that is named
// before it: of Price: $6.10, a price of $6.10.
func (c *cutter) taken(i int) bool {
	for j := i - 1; j >= max(0, i-3); j-- {
		switch k := &c.tokens[j]; {
		case k.is(thing):
			return true
		case k.sign != colonSign && k.sign != equalSign && !k.is(joining|linking|lead):
			return false
		}
	}
	return false
}

// ours says that a value of the shares is one that the text gives to them, and
// not their price, their book value, or a value of something else.
func (r *reader) ours(l *label, v amount, q qualifiers, left int) bool {
	c := &r.cutter
	if !v.money && v.digits != 2 || v.value <= 0 || c.perOther(v.next) {
		return false
	}
	shares := q.shares || c.perShare(v.next)
	for i := max(left, 0); i < min(v.next+3, len(c.tokens)); i++ {
		k := &c.tokens[i]
		if k.sign == stopSign && i >= v.next {
			break
		}
		if k.sign != wordSign {
			continue
		}
		shares = shares || k.is(sharing) && i < v.next
		if others[string(c.lower(k))] {
			return false
		}
	}
	switch {
	case l.shares && l.words[0] != "intrinsic":
		return shares
	case l.words[0] == "fair" || l.words[0] == "intrinsic" || l.words[0] == "dcf" || l.words[0] == "theoretical":
		return shares || v.digits == 2
	}
	return true
}

// others are words for values of the shares that nobody computes: what they
// cost, what the books say.
var others = set("book", "nav", "asset", "assets", "cash", "terminal", "face", "nominal", "embedded", "replacement", "carrying", "option", "options", "warrant", "warrants", "notes", "debt", "franchise", "purchase", "offer",
	"takeover", "bid", "bids", "tender", "deal", "transaction", "strike", "conversion", "issue", "subscription", "grant", "granted", "trading", "traded", "trades", "current", "quoted", "closing", "analyst", "analysts", "consensus", "market", "street",
	"earnings", "dividend", "eps", "instruments", "level", "loan", "loans", "liabilities", "par", "rsu", "rsus", "vesting", "goodwill", "hedge", "hedges", "swap", "swaps", "derivatives", "customer", "member", "user")

// hurdleLabel is P(IRR > 15%), the probability of beating the hurdle.
var hurdleLabel = label{metric: PIRR}

// hurdle reads P(IRR > 15%) and "probability of exceeding the hurdle rate"
// around token i, and gives the token behind it, or 0.
func (r *reader) hurdle(i int) int {
	c := &r.cutter
	switch string(c.lower(&c.tokens[i])) {
	case "p", "pr", "prob":
		if i+1 < len(c.tokens) && c.tokens[i+1].sign == openSign {
			if end := c.closing(i + 1); end > 0 && c.hurdles(i+1, end) {
				return end + 1
			}
		}
	case "probability", "likelihood":
		for j := i + 1; j < min(len(c.tokens), i+12); j++ {
			k := &c.tokens[j]
			if k.sign == colonSign || k.sign == equalSign || k.sign == barSign || k.sign == stopSign {
				break
			}
			if c.same(k, "hurdle") {
				if c.same2(j+1, "rate") {
					j++
				}
				if j+1 < len(c.tokens) && c.tokens[j+1].sign == closeSign {
					j++
				}
				return j + 1
			}
			if c.same(k, "irr") && j+1 < len(c.tokens) && c.tokens[j+1].sign == boundSign {
				if end := c.closing(i + 1); c.tokens[i+1].sign == openSign && end > 0 {
					return end + 1
				}
				for j++; j < len(c.tokens) && (c.tokens[j].sign == boundSign || c.tokens[j].sign == numberSign || c.same2(j, "hurdle")); j++ {
				}
				return j
			}
		}
	}
	return 0
}

func (c *cutter) hurdles(from, to int) bool {
	for i := from; i < to; i++ {
		if c.same(&c.tokens[i], "irr") || c.same(&c.tokens[i], "hurdle") {
			return true
		}
	}
	return false
}
