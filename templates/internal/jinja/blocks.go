package jinja

import (
	"slices"
	"strings"
)

// body parses statements up to one of the closing tags and stops on the closing tag's name.
// Without closing tags it reads to the end of the source.
func (p *parser) body(closing ...string) body {
	var (
		statements body
		text       *outputStatement
	)
	for {
		data, kind := p.segment()
		if data != "" || kind == segmentPrint {
			if text == nil {
				text = &outputStatement{pieces: make([]piece, 0, 4)}
				statements = append(statements, text)
			}
		}
		if data != "" {
			text.pieces = append(text.pieces, piece{text: data, at: p.pos})
		}
		switch kind {
		case segmentEOF:
			if len(closing) > 0 {
				p.unclosed()
			}
			return statements
		case segmentPrint:
			text.pieces = append(text.pieces, p.printed())
		case segmentTag:
			p.advance()
			if p.token.kind == tokenName && slices.Contains(closing, p.token.text) {
				return statements
			}
			at := p.token.at
			one := p.statement()
			expressionsOf(one, func(e expression) { checkDepth(e, at, 0) })
			statements, text = append(statements, one), nil
		}
	}
}

// printed parses the expression of a {{ }}. If it cannot be parsed, parsing
// continues after its end.
func (p *parser) printed() (one piece) {
	start, depth := p.pos, p.depth
	if p.found.record(func() { one = p.print() }) {
		return one
	}
	end := strings.Index(p.source[start:], "}}")
	if end < 0 {
		last := p.found[len(p.found)-1]
		p.found = p.found[:len(p.found)-1]
		panic(last)
	}
	p.pos, p.brackets, p.looked, p.depth = start+end+2, nil, false, depth
	return piece{at: start}
}

func (p *parser) print() piece {
	p.advance()
	at := p.token.at
	value := p.tuple(tupleRule{})
	p.expectEnd()
	checkDepth(value, at, 0)
	return piece{value: value, at: at}
}

// checkDepth limits the recursion of the evaluator. The parser limits chains
// and brackets separately; this limits their sum.
func checkDepth(e expression, at, depth int) {
	if depth > maxLinks+maxDepth {
		failAt(at, "an expression is nested deeper than %d", maxLinks+maxDepth)
	}
	switch e.(type) {
	case *name, *literal: // most expressions have no children
		return
	}
	e.children(func(inner expression) { checkDepth(inner, at, depth+1) })
}

func (p *parser) unclosed() {
	innermost := p.blocks[len(p.blocks)-1]
	failAt(innermost.at, "the block that begins here is never closed: %q is missing", "{% end"+innermost.name+" %}")
}

// refusedTags are tags of Jinja2 or Django that a cascade must not use.
var refusedTags = map[string]string{
	"include":    "a template cannot reach other files",
	"import":     "a template cannot reach other files",
	"from":       "a template cannot reach other files",
	"extends":    "a template cannot reach other files",
	"ssi":        "a template cannot reach other files",
	"block":      "templates do not inherit",
	"autoescape": "nothing is escaped: use the filter \"escape\"",
	"do":         "a template changes no value",
	"break":      "loops run to their end: filter them with an inline if",
	"continue":   "loops run to their end: filter them with an inline if",
	"now":        "its result would differ from run to run",
	"lorem":      "its result would differ from run to run",
	"trans":      "templates are not translated",
	"debug":      "templates show no internals",
}

var tagNames = []string{"if", "for", "set", "with", "macro", "call", "filter", "print", "raw", "elif", "else"}

// Statements returns the names that may begin a {% %}.
func Statements() []string {
	names := slices.Clone(tagNames)
	for _, name := range tagNames {
		if !slices.Contains([]string{"print", "elif", "else"}, name) {
			names = append(names, "end"+name)
		}
	}
	return names
}

func (p *parser) statement() statement {
	t := p.expectName("the name of a tag")
	switch t.text {
	case "if":
		return p.ifBlock()
	case "for":
		return p.forBlock(t.at)
	case "set":
		return p.setBlock(t.at)
	case "with":
		return p.withBlock(t.at)
	case "macro":
		return p.macroBlock(t.at)
	case "call":
		return p.callBlock(t.at)
	case "filter":
		return p.filterBlock(t.at)
	case "print":
		return p.printTag()
	}
	p.unknownTag(t)
	panic("unreachable")
}

func (p *parser) unknownTag(t token) {
	if reason, ok := refusedTags[t.text]; ok {
		failAt(t.at, "the tag %q is not supported: %s", t.text, reason)
	}
	if strings.HasPrefix(t.text, "end") || t.text == "else" || t.text == "elif" {
		if len(p.blocks) == 0 {
			failAt(t.at, "%q without a block that is open", t.text)
		}
		failAt(t.at, "%q does not belong here: the open block is %q", t.text, p.blocks[len(p.blocks)-1].name)
	}
	failNear(t.at, t.text, slices.Clone(tagNames), "unknown tag %q", t.text)
}

// block parses the rest of an opening tag and its body. The parser is then at
// the name of the closing tag.
func (p *parser) block(name string, closing ...string) body {
	opened := p.opened
	p.skip(":")
	p.expectEnd()
	if len(p.blocks) >= maxDepth {
		p.fail("blocks are nested deeper than %d", maxDepth)
	}
	p.blocks = append(p.blocks, openBlock{name, opened})
	// The depth of a tag does not count for the tags inside its block.
	depth := p.depth
	p.depth = 0
	content := p.body(closing...)
	p.depth, p.blocks = depth, p.blocks[:len(p.blocks)-1]
	return content
}

// closed parses a body and its closing tag.
func (p *parser) closed(name string) body {
	content := p.block(name, "end"+name)
	p.advance()
	p.expectEnd()
	return content
}

func (p *parser) ifBlock() statement {
	s := &ifStatement{}
	for {
		s.tests = append(s.tests, p.tuple(tupleRule{plain: true}))
		s.branches = append(s.branches, p.block("if", "elif", "else", "endif"))
		switch p.advance().text {
		case "elif":
			continue
		case "else":
			s.branches = append(s.branches, p.closed("if"))
		}
		p.expectEnd()
		return s
	}
}

func (p *parser) forBlock(at int) statement {
	s := &forStatement{at: at, target: p.target(false)}
	s.target.names(func(n *name) { p.refuseLoop(n) })
	if !p.skipName("in") {
		p.fail("expected \"in\", got %s", p.token.describe())
	}
	s.source = p.tuple(tupleRule{plain: true, until: "recursive"})
	if p.skipName("if") {
		s.filter = p.expression()
	}
	s.recursive = p.skipName("recursive")
	p.loops++
	s.body = p.block("for", "else", "endfor")
	p.loops--
	if p.advance().text == "else" {
		s.hasElse, s.otherwise = true, p.closed("for")
	}
	p.expectEnd()
	return s
}

func (p *parser) refuseLoop(n *name) {
	if n.text == "loop" {
		failAt(n.at, "\"loop\" is the loop's own variable and cannot be assigned")
	}
}

func (p *parser) setBlock(at int) statement {
	t := p.target(true)
	if p.loops > 0 {
		t.names(func(n *name) { p.refuseLoop(n) })
	}
	if p.skip("=") {
		s := &assignment{target: t, value: p.tuple(tupleRule{}), at: at}
		p.expectEnd()
		return s
	}
	s := &capture{target: t, at: at}
	if p.at("|") {
		s.filters = p.filters(nil)
	}
	s.body = p.closed("set")
	return s
}

func (p *parser) withBlock(at int) statement {
	s := &withStatement{at: at}
	for p.token.kind != tokenEnd && !p.at(":") {
		if len(s.targets) > 0 {
			p.expect(",")
		}
		s.targets = append(s.targets, p.target(false))
		p.expect("=")
		s.values = append(s.values, p.expression())
	}
	s.body = p.closed("with")
	return s
}

func (p *parser) macroBlock(at int) statement {
	t := p.variableName()
	s := &macroStatement{name: t, at: at}
	s.parameters = p.parameters()
	p.macroBody(s, "macro")
	return s
}

// macroBody parses the body of a macro. The loops around the macro are not
// visible inside.
func (p *parser) macroBody(s *macroStatement, tag string) {
	loops := p.loops
	p.loops = 0
	s.body = p.closed(tag)
	p.loops = loops
}

func (p *parser) parameters() []parameter {
	var list []parameter
	p.expect("(")
	for !p.at(")") {
		if len(list) > 0 {
			p.expect(",")
		}
		one := parameter{name: p.variableName()}
		if slices.ContainsFunc(list, func(other parameter) bool { return other.name.text == one.name.text }) {
			failAt(one.name.at, "the parameter %q is declared twice", one.name.text)
		}
		if one.name.text == "caller" || one.name.text == "varargs" || one.name.text == "kwargs" {
			failAt(one.name.at, "%q is a macro's own variable and cannot be a parameter", one.name.text)
		}
		if p.skip("=") {
			one.defaultValue = p.expression()
		} else if len(list) > 0 && list[len(list)-1].defaultValue != nil {
			failAt(one.name.at, "the parameter %q needs a default, as the one before it has one", one.name.text)
		}
		list = append(list, one)
	}
	p.advance()
	return list
}

func (p *parser) callBlock(at int) statement {
	s := &callStatement{caller: &macroStatement{at: at}}
	if p.at("(") {
		s.caller.parameters = p.parameters()
	}
	start := p.token.at
	called, ok := p.expression().(*call)
	if !ok {
		failAt(start, "expected the call of a macro")
	}
	s.call = called
	p.macroBody(s.caller, "call")
	return s
}

func (p *parser) filterBlock(at int) statement {
	s := &filterStatement{at: at, filters: p.filters(p.filter(nil))}
	s.body = p.closed("filter")
	return s
}

func (p *parser) printTag() statement {
	s := &outputStatement{}
	for p.token.kind != tokenEnd {
		if len(s.pieces) > 0 {
			p.expect(",")
		}
		at := p.token.at
		s.pieces = append(s.pieces, piece{value: p.expression(), at: at})
	}
	return s
}

// target parses the left side of an assignment: a name, a tuple of names, or an
// attribute of a namespace.
func (p *parser) target(members bool) target {
	at := p.token.at
	targets := []target{p.singleTarget(members)}
	comma := false
	for p.skip(",") {
		comma = true
		if p.at(")") {
			break
		}
		targets = append(targets, p.singleTarget(members))
	}
	if len(targets) == 1 && !comma {
		return targets[0]
	}
	return &tupleTarget{targets, at}
}

func (p *parser) singleTarget(members bool) target {
	if p.at("(") {
		p.deeper()
		defer p.shallower()
		p.advance()
		inner := p.target(members)
		p.expect(")")
		return inner
	}
	n := p.variableName()
	if members && p.skip(".") {
		member := p.expectName("the name of an attribute")
		return &memberTarget{object: n, member: member.text, at: member.at}
	}
	return n
}

func (p *parser) variableName() *name {
	t := p.expectName("the name of a variable")
	if _, constant := constants[t.text]; constant || slices.Contains(keywords, t.text) {
		failAt(t.at, "cannot assign to %q", t.text)
	}
	return &name{text: t.text, at: t.at}
}
