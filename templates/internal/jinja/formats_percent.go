package jinja

import (
	"cmp"
	"strings"
)

// formatFilter implements Jinja2's format: value % (arguments).
func formatFilter(r *render, v any, g *given) any {
	s, kind := r.soft(v)
	if len(g.positional) > 0 && len(g.keywords) > 0 {
		r.fail("format takes values or key=value pairs, not both")
	}
	if len(g.keywords) == 0 {
		return r.formatted(kind, s, &tuple{items: g.positional})
	}
	d := newDict(len(g.keywords))
	for _, k := range g.keywords {
		d.set(r, k.key, k.value)
	}
	return r.formatted(kind, s, d)
}

// formatted implements Python's s % values.
func (r *render) formatted(v any, s string, values any) any {
	if _, safe := v.(markup); safe {
		r.fail("the format of a string marked safe is not supported: use |string")
	}
	f := &percent{render: r, format: s, single: r.defined(values), lookup: isMapping(values)}
	if t, ok := values.(*tuple); ok {
		f.values, f.single = t.items, nil
	} else {
		f.values = []any{values}
	}
	_, isList := values.([]any)
	f.loose = f.lookup || isList
	b := r.builder()
	r.scan(len(s))
	for {
		i := strings.IndexByte(f.format, '%')
		if i < 0 {
			break
		}
		b.text(f.format[:i])
		f.format = f.format[i+1:]
		b.text(f.conversion())
	}
	b.text(f.format)
	if len(f.values) > 0 && !f.loose {
		r.fail("the format has fewer places than there are values")
	}
	return b.String()
}

// percent parses a format such as "%5.2f %(name)s".
type percent struct {
	*render
	format string
	values []any // not used yet
	single any   // the dict for %(name)s
	lookup bool
	loose  bool // unused values are allowed
}

func (f *percent) take() any {
	if len(f.values) == 0 {
		f.fail("the format has more places than there are values")
	}
	value := f.values[0]
	f.values = f.values[1:]
	return f.defined(f.plain(value))
}

func (f *percent) peek() byte {
	if f.format == "" {
		f.fail("the format ends inside a place")
	}
	return f.format[0]
}

func (f *percent) conversion() string {
	if f.peek() == '%' {
		f.format = f.format[1:]
		return "%"
	}
	keyed, key := f.key()
	l := layout{fill: " ", precision: -1}
	f.flags(&l)
	if f.peek() == '*' {
		f.format = f.format[1:]
		l.width = f.integer(f.take(), "the width")
		if l.width < 0 {
			l.align, l.width = '<', -max(l.width, -maxOutput-1)
		}
	} else {
		l.width = f.digits()
	}
	if f.peek() == '.' {
		f.format = f.format[1:]
		if f.peek() == '*' {
			f.format = f.format[1:]
			l.precision = max(f.integer(f.take(), "the precision"), 0)
		} else {
			l.precision = f.digits()
		}
	}
	if strings.IndexByte("hlL", f.peek()) >= 0 {
		f.format = f.format[1:]
	}
	l.kind = f.peek()
	f.format = f.format[1:]
	if !keyed {
		return f.convert(l, f.take())
	}
	if !f.lookup {
		f.fail("the format names a key: it needs a dict")
	}
	value, ok := f.render.lookup(f.single, key)
	if !ok {
		f.fail("the dict has no key %q for the format", shortened(key))
	}
	return f.convert(l, f.defined(value))
}

func (f *percent) key() (keyed bool, key string) {
	if f.peek() != '(' {
		return false, ""
	}
	depth := 0
	for i := range len(f.format) {
		switch f.format[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				key, f.format = f.format[1:i], f.format[i+1:]
				return true, key
			}
		}
	}
	f.fail("the key in the format is never closed")
	return false, ""
}

func (f *percent) flags(l *layout) {
	for {
		switch f.peek() {
		case '-':
			l.align = '<'
		case '+':
			l.sign = '+'
		case ' ':
			l.sign = cmp.Or(l.sign, ' ')
		case '#':
			l.alternate = true
		case '0':
			l.zero = true
		default:
			return
		}
		f.format = f.format[1:]
	}
}

// digits parses a number in the format.
func (f *percent) digits() int64 {
	n := int64(0)
	for f.format != "" && f.format[0] >= '0' && f.format[0] <= '9' {
		n = min(n*10+int64(f.format[0]-'0'), maxOutput+1)
		f.format = f.format[1:]
	}
	return n
}

func (f *percent) convert(l layout, v any) string {
	switch l.kind {
	case 'd', 'i', 'u':
		l.kind = 'd'
		return f.layInt(l, f.wholeOf(v, 'd'))
	case 'o', 'x', 'X':
		return f.layInt(l, f.wholeOf(v, l.kind))
	case 'e', 'E', 'f', 'F', 'g', 'G':
		return f.layFloat(l, f.floatOf(v))
	}
	l.align = cmp.Or(l.align, '>')
	switch l.kind {
	case 's':
		return f.layText(l, f.str(v))
	case 'r':
		return f.layText(l, f.repr(v))
	case 'c':
		l.precision = -1
		s, ok := text(v)
		if !ok {
			s = f.charOf(v)
		}
		if runeCount(s) != 1 {
			f.fail("%%c takes one character")
		}
		return f.layText(l, s)
	}
	f.fail("the conversion %%%c is not supported", l.kind)
	return ""
}
