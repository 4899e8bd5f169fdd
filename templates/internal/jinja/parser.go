package jinja

import "slices"

// Limits of a source. One of them limits each recursion of the parser and the
// evaluator.
const (
	maxDepth = 100  // brackets in brackets, blocks in blocks, values in values, macro calls in macro calls
	maxLinks = 1000 // operators, filters or attributes in one chain
)

// parser reads tags with two tokens in hand. It follows the grammar of Jinja2's parser, rule by rule.
type parser struct {
	lexer
	library *library
	token   token // the current one
	ahead   token // the one after it, when looked is true
	looked  bool
	depth   int         // of recursion, within the tag that is read
	blocks  []openBlock // innermost last
	loops   int         // open for blocks
	found   mistakes
}

func (p *parser) advance() token {
	current := p.token
	if p.looked {
		p.token, p.looked = p.ahead, false
	} else {
		p.token = p.lexer.next()
	}
	return current
}

// peek returns the token after the current one. At the end of a tag it returns
// the end.
func (p *parser) peek() token {
	if p.token.kind == tokenEnd {
		return p.token
	}
	if !p.looked {
		p.ahead, p.looked = p.lexer.next(), true
	}
	return p.ahead
}

func (p *parser) at(operator string) bool {
	return p.token.kind == tokenOperator && p.token.text == operator
}

func (p *parser) atName(name string) bool {
	return p.token.kind == tokenName && p.token.text == name
}

func (p *parser) skip(operator string) bool { return p.skipIf(p.at(operator)) }
func (p *parser) skipName(name string) bool { return p.skipIf(p.atName(name)) }

func (p *parser) skipIf(there bool) bool {
	if there {
		p.advance()
	}
	return there
}

func (p *parser) expect(operator string) token {
	if !p.at(operator) {
		p.fail("expected %q, got %s", operator, p.token.describe())
	}
	return p.advance()
}

// comma expects a comma unless the list ends.
func (p *parser) comma(closing string) {
	if !p.at(closing) && !p.skip(",") {
		p.fail("expected \",\" or %q, got %s", closing, p.token.describe())
	}
}

func (p *parser) expectName(what string) token {
	if p.token.kind != tokenName {
		p.fail("expected %s, got %s", what, p.token.describe())
	}
	return p.advance()
}

// expectEnd expects the end of the tag and does not read further, because text
// follows.
func (p *parser) expectEnd() {
	if p.at(":") {
		p.fail("expected %q, got \":\": a filter has its arguments in parentheses, as in default(\"x\")", p.closer)
	}
	if p.at("=") {
		p.fail("expected %q, got \"=\": == compares, and {%% set name = value %%} gives a name", p.closer)
	}
	if p.token.kind != tokenEnd {
		p.fail("expected %q, got %s", p.closer, p.token.describe())
	}
}

func (p *parser) fail(format string, args ...any) {
	failAt(p.token.at, format, args...)
}

// An openBlock is a block that waits for its end.
type openBlock struct {
	name string
	at   int // where its tag begins
}

// deeper guards one level of recursion; the caller defers shallower.
func (p *parser) deeper() {
	if p.depth++; p.depth > maxDepth {
		p.fail("nested deeper than %d", maxDepth)
	}
}

func (p *parser) shallower() { p.depth-- }

// link counts the members of a chain, which the evaluator visits by recursion.
func (p *parser) link(count *int) {
	if *count++; *count > maxLinks {
		p.fail("more than %d operations in one chain", maxLinks)
	}
}

var keywords = []string{"and", "or", "not", "in", "is", "if", "else", "elif"}

// expression parses a full expression, conditional ones included.
func (p *parser) expression() expression {
	p.deeper()
	defer p.shallower()
	value := p.or()
	for links := 0; p.atName("if"); p.link(&links) {
		at := p.advance().at
		c := &conditional{then: value, at: at, test: p.or()}
		if p.skipName("else") {
			c.otherwise = p.expression()
		}
		value = c
	}
	return value
}

func (p *parser) or() expression  { return p.chain("or", p.and) }
func (p *parser) and() expression { return p.chain("and", p.not) }

func (p *parser) chain(word string, part func() expression) expression {
	left := part()
	for links := 0; p.skipName(word); p.link(&links) {
		left = &logical{word == "or", left, part()}
	}
	return left
}

func (p *parser) not() expression {
	if p.atName("not") {
		p.deeper()
		defer p.shallower()
		p.advance()
		return &negation{p.not()}
	}
	return p.comparison()
}

func (p *parser) comparison() expression {
	first := p.sum()
	var rest []comparand
	for {
		c := comparand{at: p.token.at}
		switch {
		case p.token.kind == tokenOperator && slices.Contains(comparisons, p.token.text):
			c.operator = p.advance().text
		case p.skipName("in"):
			c.operator = "in"
		case p.atName("not") && p.peek().kind == tokenName && p.peek().text == "in":
			p.advance()
			p.advance()
			c.operator = "not in"
		default:
			if rest == nil {
				return first
			}
			return &comparison{first, rest}
		}
		c.value = p.sum()
		rest = append(rest, c)
	}
}

var comparisons = []string{"==", "!=", "<", "<=", ">", ">="}

func (p *parser) sum() expression { return p.arithmetic(p.concatenation, "+", "-") }

func (p *parser) concatenation() expression {
	first, at := p.product(), p.token.at
	if !p.at("~") {
		return first
	}
	parts := []expression{first}
	for p.skip("~") {
		parts = append(parts, p.product())
	}
	return &concatenation{parts, at}
}

func (p *parser) product() expression { return p.arithmetic(p.power, "*", "/", "//", "%") }

func (p *parser) power() expression {
	return p.arithmetic(func() expression { return p.unary(true) }, "**")
}

func (p *parser) arithmetic(part func() expression, operators ...string) expression {
	left := part()
	for links := 0; p.token.kind == tokenOperator && slices.Contains(operators, p.token.text); p.link(&links) {
		operator := p.advance()
		left = &arithmetic{operator.text, left, part(), operator.at}
	}
	return left
}

func (p *parser) unary(filters bool) expression {
	var value expression
	if p.at("-") || p.at("+") {
		p.deeper()
		defer p.shallower()
		sign := p.advance()
		value = &signed{sign.text, p.unary(false), sign.at}
	} else {
		value = p.primary()
	}
	return p.postfix(value, filters)
}

func (p *parser) primary() expression {
	t := p.token
	switch t.kind {
	case tokenName:
		return p.named()
	case tokenString:
		return &literal{p.strings(), t.at}
	case tokenInteger, tokenFloat:
		p.advance()
		return &literal{t.value, t.at}
	}
	switch {
	case p.skip("("):
		value := p.tuple(tupleRule{parentheses: true})
		p.expect(")")
		return value
	case p.at("["):
		return p.list()
	case p.at("{"):
		return p.dict()
	}
	p.fail("expected an expression, got %s", t.describe())
	panic("unreachable")
}

var constants = map[string]any{"true": true, "True": true, "false": false, "False": false, "none": nil, "None": nil}

func (p *parser) named() expression {
	t := p.token
	if value, ok := constants[t.text]; ok {
		p.advance()
		return &literal{value, t.at}
	}
	if slices.Contains(keywords, t.text) {
		p.fail("expected an expression, got %s", t.describe())
	}
	p.advance()
	return &name{text: t.text, at: t.at}
}

// strings joins adjacent strings.
func (p *parser) strings() string {
	text := p.advance().text
	if p.token.kind != tokenString {
		return text
	}
	joined := []byte(text)
	for p.token.kind == tokenString {
		joined = append(joined, p.advance().text...)
	}
	return string(joined)
}

// tupleRule describes the place of a list of expressions without brackets.
type tupleRule struct {
	parentheses bool   // an empty expression is an empty tuple
	plain       bool   // no conditional expressions: in {% for a in list if a %}, "if" belongs to the tag
	until       string // a name that ends the tuple after a comma
}

// tuple parses one expression, or several between commas as a tuple.
func (p *parser) tuple(rule tupleRule) expression {
	var items []expression
	for p.token.kind != tokenEnd && !p.at(")") && (rule.until == "" || !p.atName(rule.until)) {
		read := p.expression
		if rule.plain {
			read = p.or
		}
		item := read()
		if !p.skip(",") {
			if items == nil {
				return item
			}
			items = append(items, item)
			break
		}
		items = append(items, item)
	}
	if len(items) == 0 && !rule.parentheses {
		p.fail("expected an expression, got %s", p.token.describe())
	}
	return &tupleLiteral{items}
}

func (p *parser) list() expression {
	p.expect("[")
	list := &listLiteral{}
	for !p.at("]") {
		list.items = append(list.items, p.expression())
		p.comma("]")
	}
	p.advance()
	return list
}

func (p *parser) dict() expression {
	d := &dictLiteral{at: p.expect("{").at}
	for !p.at("}") {
		d.keys = append(d.keys, p.expression())
		p.expect(":")
		d.values = append(d.values, p.expression())
		p.comma("}")
	}
	p.advance()
	return d
}
