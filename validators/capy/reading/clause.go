package reading

// linked reads the value that a link leads to.
func (c *cutter) linked(l *label, i int, link link) (v amount, ok bool) {
	if v, ok = c.enclosed(i, link, l.metric); !ok {
		if v, ok = c.value(i, link); !ok && l.metric == Probability {
			v, ok = c.chance(i)
		} else if !ok {
			v, ok = c.anyNumber(l, i, link)
		}
	}
	return v.behind(link, l.metric), ok
}

// anyNumber finds a number in what a label of an M says: a magnitude may be
// written out.
func (c *cutter) anyNumber(l *label, i int, link link) (amount, bool) {
	if l.metric != Magnitude || link == inside {
		return amount{}, false
	}
	for ; i < len(c.tokens); i++ {
		if c.valued(i) {
			return amount{number: c.numbers[c.tokens[i].index], next: i + 1}, true
		}
	}
	return amount{}, false
}

// sized is where the money or percentage of a magnitude begins, in its clause: the
// magnitude would be around £0.70. It is 0 where there is none.
func (c *cutter) sized(i int) int {
	for ; i < len(c.tokens) && c.tokens[i].sign == wordSign && c.tokens[i].term.label == 0 && !c.tokens[i].is(denying); i++ {
	}
	if !c.valued(i) || !c.amounts(i, i+1) {
		return 0
	}
	return i
}

// chance finds what the probability of something is put at, which its name may be far
// from: the probability of a demerger within three years at 18%.
func (c *cutter) chance(i int) (amount, bool) {
	for ; i < len(c.tokens); i++ {
		switch k := &c.tokens[i]; {
		case k.sign != wordSign && k.sign != numberSign && k.sign != openSign && k.sign != closeSign || k.is(denying|turning):
			return amount{}, false
		case c.same(k, "at") || c.same(k, "is") || c.same(k, "be"):
			if at := c.lead(i + 1); c.valued(at) && c.numbers[c.tokens[at].index].percent {
				return amount{number: c.numbers[c.tokens[at].index], next: at + 1}, true
			}
		}
	}
	return amount{}, false
}
