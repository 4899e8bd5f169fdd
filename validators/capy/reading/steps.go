package reading

// valued says that a number stands at token i.
func (c *cutter) valued(i int) bool { return i < len(c.tokens) && c.tokens[i].sign == numberSign }

// movesTo finds the number behind the to of "decreased from A to B".
func (c *cutter) movesTo(i int) int {
	for j := i; j < min(len(c.tokens)-1, i+9); j++ {
		switch k := &c.tokens[j]; {
		case k.sign == stopSign || k.sign == commaSign:
			return 0
		case c.same(k, "to") && c.valued(c.lead(j+1)):
			return c.lead(j + 1)
		}
	}
	return 0
}

// closing finds the bracket that closes the one at token i. The brace of a \text{ is no
// token, so that a } may close nothing.
func (c *cutter) closing(i int) int {
	depth, braces := 0, 0
	for j := i; j < min(len(c.tokens), i+40); j++ {
		switch k := &c.tokens[j]; k.sign {
		case openSign:
			depth++
			if k.char == '{' {
				braces++
			}
		case closeSign:
			if k.char == '}' {
				if braces == 0 {
					continue
				}
				braces--
			}
			if depth--; depth == 0 {
				return j
			}
		}
	}
	return -1
}

// lead skips what may stand between a link and the number.
func (c *cutter) lead(i int) int {
	for i < len(c.tokens) {
		k := &c.tokens[i]
		if !(k.is(lead) || k.sign == equalSign || k.sign == otherSign && k.char == '@') {
			break
		}
		i++
	}
	return i
}
