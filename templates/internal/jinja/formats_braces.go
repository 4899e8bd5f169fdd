package jinja

import (
	"cmp"
	"math/big"
	"strconv"
	"strings"
	"unicode"
)

// formatMethod implements Python's "{} {name:>8}".format(values, key=value).
func formatMethod(r *render, self any, g *given) any {
	if _, safe := self.(markup); safe {
		r.fail("the format of a string marked safe is not supported: use |string")
	}
	f := &braces{render: r, format: self.(string), given: g}
	b := r.builder()
	r.scan(len(f.format))
	for f.format != "" {
		i := strings.IndexAny(f.format, "{}")
		if i < 0 {
			b.text(f.format)
			break
		}
		b.text(f.format[:i])
		brace := f.format[i]
		f.format = f.format[i+1:]
		switch {
		case f.format != "" && f.format[0] == brace:
			b.text(string(brace))
			f.format = f.format[1:]
		case brace == '}':
			r.fail("the format has a single }")
		default:
			b.text(f.field())
		}
	}
	return b.String()
}

// braces parses a format such as "{} {0} {name:>8.2f}".
type braces struct {
	*render
	format    string
	given     *given
	next      int // index of the next field without a name
	automatic bool
	numbered  bool
}

func (f *braces) field() string {
	inside, rest, closed := strings.Cut(f.format, "}")
	if !closed {
		f.fail("the format has a { that is never closed")
	}
	if strings.Contains(inside, "{") {
		f.fail("a format within a format is not supported")
	}
	f.format = rest
	inside, spec, _ := strings.Cut(inside, ":")
	name, conversion, converted := strings.Cut(inside, "!")
	value := f.defined(f.plain(f.value(name)))
	if converted {
		switch conversion {
		case "s":
			value = f.str(value)
		case "r":
			value = f.repr(value)
		default:
			f.fail("the conversion %s is not supported", shortened(quoted("!"+conversion)))
		}
	}
	return f.laid(value, spec)
}

func (f *braces) value(name string) any {
	if strings.ContainsAny(name, ".[") {
		f.fail("attributes in a format are not supported: give the value itself")
	}
	i, err := strconv.Atoi(name)
	switch {
	case name == "":
		i = f.next
		f.next++
		f.automatic = true
	case err != nil || !every(name, func(c rune) bool { return unicode.Is(unicode.Nd, c) }):
		value, ok := f.given.keyword(name)
		if !ok {
			f.fail("the format names %s, which is not given", shortened(quoted(name)))
		}
		return value
	default:
		f.numbered = true
	}
	if f.automatic && f.numbered {
		f.fail("the format numbers some of its places and not others")
	}
	if i >= len(f.given.positional) {
		f.fail("the format has more places than there are values")
	}
	return f.given.positional[i]
}

// laid implements Python's format(value, spec).
func (f *braces) laid(v any, spec string) string {
	if spec == "" {
		return f.str(v)
	}
	l := f.parsed(spec)
	switch v.(type) {
	case string, markup:
		return f.laidText(l, f.str(v))
	}
	if i := asWide(v); i != nil {
		return f.laidInt(l, i)
	}
	if number, ok := f.real(v); ok {
		return f.laidFloat(l, number)
	}
	f.fail("a %s takes no format", typeName(v))
	return ""
}

func (f *braces) laidText(l layout, s string) string {
	if l.kind != 0 && l.kind != 's' || l.sign != 0 || l.alternate || l.grouping != 0 || l.align == '=' {
		f.fail("the format is not for strings")
	}
	return f.layText(l, s)
}

func (f *braces) laidInt(l layout, i *big.Int) string {
	switch l.kind {
	case 0, 'd', 'b', 'o', 'x', 'X':
		if l.precision >= 0 {
			f.fail("an integer's format has no precision")
		}
		if l.grouping == ',' && l.kind != 0 && l.kind != 'd' {
			f.fail("the comma is for decimal numbers")
		}
		return f.layInt(l, i)
	case 'c':
		l.align = cmp.Or(l.align, '<')
		if l.sign != 0 || l.alternate || l.zero || l.grouping != 0 || l.precision >= 0 {
			f.fail("the format is not for characters")
		}
		return f.layText(l, f.charOf(f.whole(i)))
	}
	return f.laidFloat(l, f.floatOf(f.whole(i)))
}

func (f *braces) laidFloat(l layout, v float64) string {
	if l.kind != 0 && !strings.ContainsRune("eEfFgG%", rune(l.kind)) {
		f.fail("the format %q is not for this number", string(l.kind))
	}
	return f.layFloat(l, v)
}

// parsed parses [[fill]align][sign][#][0][width][grouping][.precision][type].
// With *>+8.2f, pi is ***+3.14.
func (f *braces) parsed(spec string) layout {
	l := layout{fill: " ", precision: -1}
	whole, filled := spec, false
	if size := runeSize(spec); size < len(spec) && isAlign(spec[size]) {
		l.fill, l.align, spec, filled = spec[:size], spec[size], spec[size+1:], true
	} else if isAlign(spec[0]) {
		l.align, spec = spec[0], spec[1:]
	}
	one := func(set string) byte {
		if spec != "" && strings.IndexByte(set, spec[0]) >= 0 {
			c := spec[0]
			spec = spec[1:]
			return c
		}
		return 0
	}
	number := func() int64 {
		n := int64(0)
		for c := one("0123456789"); c != 0; c = one("0123456789") {
			n = min(n*10+int64(c-'0'), maxOutput+1)
		}
		return n
	}
	if l.sign = one("+- "); l.sign == '-' {
		l.sign = 0
	}
	l.alternate = one("#") != 0
	if !filled && one("0") != 0 {
		l.zero, l.fill = true, "0"
	}
	l.width = number()
	l.grouping = one(",_")
	if one(".") != 0 {
		if spec == "" || spec[0] < '0' || spec[0] > '9' {
			f.fail("the format has a point and no precision")
		}
		l.precision = number()
	}
	l.kind = one("bcdeEfFgGosxX%")
	if spec != "" {
		f.fail("the format %s is not supported", shortened(quoted(whole)))
	}
	if l.grouping != 0 && (l.zero || l.align == '=' && l.fill == "0") {
		f.fail("grouping and zeros in front do not go together here")
	}
	return l
}

func isAlign(c byte) bool { return strings.IndexByte("<>=^", c) >= 0 }
