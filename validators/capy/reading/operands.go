package reading

// operand says that the label at token i is a part of something else: of an
// expression, a ratio, a comparison, as in "8% - DR", "price / IVPS" and "< IVPS". Of
// "DR - g" the g is, and the DR is told by what follows it.
func (c *cutter) operand(i int) bool {
	for i > 0 && c.tokens[i-1].sign == openSign && i > 1 && c.tokens[i-2].sign != wordSign {
		i--
	}
	if i == 0 {
		return false
	}
	before := &c.tokens[i-1]
	switch before.sign {
	case boundSign:
		return true
	case operatorSign:
		return i > 1 && !c.parting(i-1)
	case slashSign:
		return i > 1 && c.tokens[i-2].sign == wordSign
	case barSign:
		return before.to == c.tokens[i].from && i > 1 && c.tokens[i-2].sign != barSign && !before.spaced
	case dashSign:
		if i < 2 || c.parting(i-1) {
			return false
		}
		last := &c.tokens[i-2]
		return last.sign == numberSign || last.sign == closeSign || last.sign == wordSign && last.term.label > 0 || last.glued && last.sign == wordSign
	}
	return false
}

// parting says that the middle dot or dash at token i parts two statements, as in
// £6.10 · IVPS: £7.25, and is no part of a formula: 1.6 · ERP, 8% - DR.
func (c *cutter) parting(i int) bool {
	k := &c.tokens[i]
	if !k.spaced || i+1 >= len(c.tokens) || !c.tokens[i+1].spaced {
		return false
	}
	switch string(c.text[k.from:k.to]) {
	case "—":
		return true
	case "·", "⋅":
		if n := i - 1; n >= 0 && c.valued(n) && c.tokens[i+1].sign == wordSign && (c.numbers[c.tokens[n].index].money || c.numbers[c.tokens[n].index].percent) {
			return true
		}
	case "-", "–":
		if i < 2 || !c.valued(i-1) || c.tokens[i-2].sign != colonSign && c.tokens[i-2].sign != equalSign {
			return false
		}
	default:
		return false
	}
	for j := i + 1; j < min(len(c.tokens), i+8); j++ {
		switch c.tokens[j].sign {
		case wordSign, openSign, closeSign:
		default:
			return c.tokens[j].sign == colonSign
		}
	}
	return false
}

// expectation says whether the label at token i is inside E[…], and where that
// begins.
func (c *cutter) expectation(i int) (start int, ok bool) {
	j := i - 1
	for j >= 0 && j > i-5 && (c.tokens[j].sign == openSign || c.tokens[j].sign == closeSign) {
		j--
	}
	if j < 0 || c.tokens[j].sign != wordSign {
		return i, false
	}
	k := &c.tokens[j]
	if w := string(c.text[k.from:k.to]); w == "E" && (j < i-1 || c.tokens[i].glued) {
		return j, true
	}
	return i, false
}
