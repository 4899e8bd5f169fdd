package jinja

import "strings"

// postfix parses the attributes, subscripts and calls after a value. If filters
// is true, it also parses filters and tests.
func (p *parser) postfix(value expression, filters bool) expression {
	filtered := false
	for links := 0; ; p.link(&links) {
		switch {
		case !filtered && p.at("."):
			value = p.attribute(value)
		case !filtered && p.at("["):
			value = p.subscript(value)
		case p.at("("):
			value = p.call(value)
		case filters && p.skip("|"):
			value, filtered = p.filter(value), true
		case filters && p.atName("is"):
			value, filtered = p.test(value), true
		default:
			return value
		}
	}
}

func (p *parser) attribute(object expression) expression {
	p.advance()
	t := p.token
	switch {
	case t.kind == tokenInteger:
		p.advance()
		return &subscript{object: object, key: &literal{t.value, t.at}, at: t.at}
	case t.kind != tokenName:
		failAt(t.at, "expected the name of an attribute, got %s", t.describe())
	case strings.HasPrefix(t.text, "__"):
		failAt(t.at, "the attribute %q is private: write [%q] for a key of that name", t.text, t.text)
	}
	p.advance()
	return &attribute{object: object, name: t.text, at: t.at}
}

func (p *parser) subscript(object expression) expression {
	p.expect("[")
	at := p.token.at
	if p.at("]") {
		p.fail("expected a subscript")
	}
	key, isSlice := p.sliceOrKey()
	if p.at(",") {
		p.fail("a subscript of several values is not supported")
	}
	p.expect("]")
	if isSlice {
		s := key.(*slice)
		s.object, s.at = object, at
		return s
	}
	return &subscript{object: object, key: key, at: at}
}

func (p *parser) sliceOrKey() (key expression, isSlice bool) {
	s := &slice{}
	if !p.at(":") {
		first := p.expression()
		if !p.at(":") {
			return first, false
		}
		s.start = first
	}
	p.expect(":")
	if !p.at(":") && !p.at("]") && !p.at(",") {
		s.stop = p.expression()
	}
	if p.skip(":") && !p.at("]") && !p.at(",") {
		s.step = p.expression()
	}
	return s, true
}

func (p *parser) call(callee expression) expression {
	at := p.token.at
	c := &call{callee: callee, arguments: p.arguments(), at: at}
	if a, ok := callee.(*attribute); ok {
		a.called = true
		p.found.record(func() { p.library.checkMethod(a) })
	}
	return c
}

// arguments parses (a, b, key=c, *d, **e).
func (p *parser) arguments() arguments {
	open := p.expect("(")
	var a arguments
	for !p.at(")") {
		p.argument(&a, open.at)
		p.comma(")")
	}
	p.advance()
	return a
}

func (p *parser) argument(a *arguments, open int) {
	ok := true
	switch {
	case p.skip("*"):
		ok = a.spread == nil && a.keywordSpread == nil
		a.spread = p.expression()
	case p.skip("**"):
		ok = a.keywordSpread == nil
		a.keywordSpread = p.expression()
	case p.token.kind == tokenName && p.peek().kind == tokenOperator && p.peek().text == "=":
		ok = a.keywordSpread == nil
		key := p.advance()
		p.advance()
		a.keywords = append(a.keywords, keyword{key.text, p.expression(), key.at})
		for _, earlier := range a.keywords[:len(a.keywords)-1] {
			if earlier.name == key.text {
				failAt(key.at, "the argument %q is given twice", key.text)
			}
		}
	default:
		ok = a.spread == nil && a.keywordSpread == nil && len(a.keywords) == 0
		a.positional = append(a.positional, p.expression())
	}
	if !ok {
		failAt(open, "arguments in the wrong order: values come first, then key=value")
	}
}

// filter parses a filter's name and arguments; value is nil in a filter block.
func (p *parser) filter(value expression) expression {
	t := p.expectName("the name of a filter")
	f := &applied{kind: "filter", value: value, at: t.at, function: &function{name: t.text}}
	known := p.found.record(func() { f.function = p.library.filter(t.text, t.at) })
	if p.at("(") {
		f.arguments = p.arguments()
	}
	if known {
		p.found.record(func() { p.library.checkFilter(f) })
	}
	return f
}

// filters parses a chain of filters without a value to begin with.
func (p *parser) filters(value expression) expression {
	for links := 0; p.skip("|"); p.link(&links) {
		value = p.filter(value)
	}
	return value
}

func (p *parser) test(value expression) expression {
	p.advance()
	negated := p.skipName("not")
	t := p.expectName("the name of a test")
	test := &applied{kind: "test", value: value, at: t.at, function: &function{name: t.text}}
	known := p.found.record(func() { test.function = p.library.test(t.text, t.at) })
	if p.at("(") {
		test.arguments = p.arguments()
	} else if p.testArgumentFollows() {
		test.arguments.positional = []expression{p.postfix(p.primary(), false)}
	}
	if known {
		p.found.record(func() { checkArguments(test.function, test.kind, &test.arguments, t.at) })
	}
	if negated {
		return &negation{test}
	}
	return test
}

// testArgumentFollows finds the argument of `is divisibleby 3`, which needs no parentheses.
func (p *parser) testArgumentFollows() bool {
	switch p.token.kind {
	case tokenString, tokenInteger, tokenFloat:
		return true
	case tokenName:
		switch p.token.text {
		case "is":
			p.fail("one test cannot follow another: join them with and")
		case "and", "or", "else":
			return false
		}
		// Jinja2 takes any other name for the argument, even "if": the parentheses are missing then.
		return true
	}
	return p.at("[") || p.at("{")
}
