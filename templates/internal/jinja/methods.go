package jinja

import (
	"slices"
	"strings"
	"unicode"
)

// methods lists what plain data can do in Python without changing it, by Python's name of the type.
func methods() map[string][]*function {
	items := []*function{define("count", "value", countItems), define("index", "value start=0 stop=none", indexOfItem)}
	return map[string][]*function{
		"str": slices.Concat(caseMethods(), stripMethods(), searchMethods(), splitMethods(), padMethods()),
		"list": append(slices.Clone(items), define("copy", "", func(_ *render, self any, _ []any) any {
			return self
		})),
		"tuple": items,
		"dict": {
			dictView("keys"), dictView("values"), dictView("items"),
			define("get", "key default=none", dictGet),
			define("copy", "", func(_ *render, self any, _ []any) any { return self }),
		},
		"float": {define("is_integer", "", func(_ *render, self any, _ []any) any {
			whole := exactly(self)
			return whole != nil && whole.IsInt()
		})},
		"LoopContext": {define("cycle", "*", loopCycle), define("changed", "*", loopChanged)},
		"cycler":      {define("next", "", cyclerNext), define("reset", "", cyclerReset)},
	}
}

func dictView(kind string) *function {
	return define(kind, "", func(r *render, self any, _ []any) any { return r.view(self, kind) })
}

func dictGet(r *render, self any, a []any) any {
	r.hash(a[0])
	if value, ok := r.lookup(self, a[0]); ok {
		return value
	}
	return a[1]
}

func countItems(r *render, self any, a []any) any {
	n := int64(0)
	items, _ := sequence(self)
	for _, item := range items {
		if r.equal(item, a[0], 0) {
			n++
		}
	}
	return n
}

func indexOfItem(r *render, self any, a []any) any {
	items, _ := sequence(self)
	start, stop := r.span(a[1], a[2], len(items))
	for i := start; i < stop; i++ {
		if r.equal(items[i], a[0], 0) {
			return int64(i)
		}
	}
	r.fail("the value is not in the %s", typeName(self))
	return nil
}

// span resolves a method's optional start and stop.
func (r *render) span(start, stop any, length int) (from, to int) {
	bounds := [3]*int64{}
	for i, bound := range []any{start, stop} {
		if bound != nil {
			n := r.integer(bound, "the position")
			bounds[i] = &n
		}
	}
	low, high, _ := sliceBounds(bounds, 1, length)
	return int(low), int(high)
}

// asksString is a method that answers about a string.
func asksString(name, signature string, call func(r *render, s string, a []any) any) *function {
	return define(name, signature, func(r *render, self any, a []any) any {
		s, _ := text(self)
		r.grow(0, len(s))
		return call(r, s, a)
	})
}

// ofString is a method that returns strings. In Jinja2, a string marked safe
// escapes its arguments, so ofString rejects it.
func ofString(name, signature string, call func(r *render, s string, a []any) any) *function {
	return define(name, signature, func(r *render, self any, a []any) any {
		if _, safe := self.(markup); safe {
			r.fail("the method %q of a string marked safe is not supported: use |string or a filter", name)
		}
		s := self.(string)
		r.grow(0, len(s))
		return call(r, s, a)
	})
}

func holds(name string, is func(string) bool) *function {
	return define(name, "", func(r *render, self any, _ []any) any {
		s, _ := text(self)
		r.scan(len(s))
		return is(s)
	})
}

func caseMethods() []*function {
	decimal := func(c rune) bool { return unicode.Is(unicode.Nd, c) }
	alphabetic := func(c rune) bool { return unicode.IsLetter(c) || unicode.IsNumber(c) }
	return []*function{
		mapped("upper", upper), mapped("lower", lower), mapped("capitalize", capitalized),
		mapped("title", pythonTitled), mapped("swapcase", swapCase), mapped("casefold", folded),
		holds("isalpha", func(s string) bool { return every(s, unicode.IsLetter) }),
		holds("isdecimal", func(s string) bool { return every(s, decimal) }),
		holds("isdigit", func(s string) bool { return every(s, isDigit) }),
		holds("isnumeric", func(s string) bool { return every(s, unicode.IsNumber) }),
		holds("isalnum", func(s string) bool { return every(s, alphabetic) }),
		holds("isspace", func(s string) bool { return every(s, isSpace) }),
		holds("isascii", isASCII),
		holds("isupper", func(s string) bool { return allCased(s, unicode.IsUpper, unicode.IsLower) }),
		holds("islower", func(s string) bool { return allCased(s, unicode.IsLower, unicode.IsUpper) }),
		holds("istitle", isTitled),
	}
}

// isDigit is Python's isdigit: decimal digits, and those written above, below or in circles.
func isDigit(c rune) bool {
	return unicode.Is(unicode.Nd, c) || strings.ContainsRune("²³¹", c) || c >= 0x2070 && c <= 0x2089 ||
		c >= 0x2460 && c <= 0x2468 || c >= 0x2474 && c <= 0x247c || c >= 0x2488 && c <= 0x2490
}

func stripMethods() []*function {
	return []*function{
		trimmed("strip", strings.TrimFunc), trimmed("lstrip", strings.TrimLeftFunc), trimmed("rstrip", strings.TrimRightFunc),
		ofString("removeprefix", "prefix", func(r *render, s string, a []any) any {
			return strings.TrimPrefix(s, r.textOf(a[0], "the prefix"))
		}),
		ofString("removesuffix", "suffix", func(r *render, s string, a []any) any {
			return strings.TrimSuffix(s, r.textOf(a[0], "the suffix"))
		}),
	}
}

func searchMethods() []*function {
	return []*function{
		asksString("startswith", "prefix start=none end=none", affix(strings.HasPrefix)),
		asksString("endswith", "suffix start=none end=none", affix(strings.HasSuffix)),
		asksString("find", "sub start=none end=none", finder(strings.Index, false)),
		asksString("rfind", "sub start=none end=none", finder(strings.LastIndex, false)),
		asksString("index", "sub start=none end=none", finder(strings.Index, true)),
		asksString("rindex", "sub start=none end=none", finder(strings.LastIndex, true)),
		asksString("count", "sub start=none end=none", func(r *render, s string, a []any) any {
			part, _, ok := r.part(s, a[1], a[2])
			if !ok {
				return int64(0)
			}
			return int64(strings.Count(part, r.textOf(a[0], "the part")))
		}),
		ofString("replace", "old new count=-1", func(r *render, s string, a []any) any {
			old, new := r.textOf(a[0], "the old part"), r.textOf(a[1], "the new part")
			return r.replaced(s, old, new, r.integer(a[2], "the count"))
		}),
	}
}

// part returns the characters of s between start and end. ok is false if start
// is after the end of s or of the part.
func (r *render) part(s string, start, end any) (part string, offset int, ok bool) {
	if start == nil && end == nil {
		return s, 0, true
	}
	n := runeCount(s)
	from, to := r.span(start, end, n)
	if start != nil && r.integer(start, "the position") > int64(n) || from > to {
		return "", 0, false
	}
	return string([]rune(s)[from:to]), from, true
}

func affix(has func(s, part string) bool) func(*render, string, []any) any {
	return func(r *render, s string, a []any) any {
		part, _, ok := r.part(s, a[1], a[2])
		options := []any{a[0]}
		if t, isTuple := a[0].(*tuple); isTuple {
			options = t.items
		}
		for _, option := range options {
			if has(part, r.textOf(option, "the part")) && ok {
				return true
			}
		}
		return false
	}
}

func finder(find func(s, part string) int, must bool) func(*render, string, []any) any {
	return func(r *render, s string, a []any) any {
		part, offset, ok := r.part(s, a[1], a[2])
		i := find(part, r.textOf(a[0], "the part"))
		if !ok || i < 0 {
			if must {
				r.fail("the part is not in the string")
			}
			return int64(-1)
		}
		return int64(offset + runeCount(part[:i]))
	}
}

func padMethods() []*function {
	pad := func(name string, place func(r *render, s string, width int64, fill string) string) *function {
		return ofString(name, "width fillchar='␠'", func(r *render, s string, a []any) any {
			fill := r.textOf(a[1], "the fill")
			if runeCount(fill) != 1 {
				r.fail("the fill must be one character")
			}
			return place(r, s, r.integer(a[0], "the width"), fill)
		})
	}
	return []*function{
		pad("center", (*render).centered),
		pad("ljust", func(r *render, s string, width int64, fill string) string { return s + r.padding(s, width, fill) }),
		pad("rjust", func(r *render, s string, width int64, fill string) string { return r.padding(s, width, fill) + s }),
		ofString("zfill", "width", func(r *render, s string, a []any) any {
			zeros := r.padding(s, r.integer(a[0], "the width"), "0")
			if s != "" && (s[0] == '+' || s[0] == '-') {
				return s[:1] + zeros + s[1:]
			}
			return zeros + s
		}),
		ofString("expandtabs", "tabsize=8", expandTabs),
		{name: "format", open: formatMethod},
	}
}

func (r *render) padding(s string, width int64, fill string) string {
	missing := max(width-int64(runeCount(s)), 0)
	r.grow(len(s), product(len(fill), missing))
	return strings.Repeat(fill, int(missing))
}

func expandTabs(r *render, s string, a []any) any {
	size := r.integer(a[0], "the size of a tab")
	b, column := r.builder(), int64(0)
	for _, c := range s {
		switch {
		case c == '\t' && size > 0:
			missing := size - column%size
			b.text(r.padding("", missing, " "))
			column += missing
		case c == '\t':
		default:
			b.text(string(c))
			column++
			if c == '\n' || c == '\r' {
				column = 0
			}
		}
	}
	return b.String()
}
