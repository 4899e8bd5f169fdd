package jinja

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// str is Python's str(v).
func (r *render) str(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case markup:
		return string(v)
	case *undefined:
		if v.lenient {
			return ""
		}
		r.defined(v)
	}
	return r.repr(v)
}

// repr is Python's repr(v).
func (r *render) repr(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case bool:
		if v {
			return "True"
		}
		return "False"
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return floatText(v)
	}
	b := r.builder()
	b.repr(v, 0)
	return b.String()
}

// repr appends repr(v); depth counts the values around it.
func (b *builder) repr(v any, depth int) {
	if depth > maxDepth {
		b.render.fail("a value is nested deeper than %d", maxDepth)
	}
	switch v := v.(type) {
	case nil, bool, int64, float64:
		b.text(b.render.repr(v))
	case json.Number:
		b.text(string(v))
	case written:
		b.text(v.text)
	case string:
		b.quote(v)
	case markup:
		b.text("Markup(")
		b.quote(string(v))
		b.text(")")
	case []any:
		b.sequence("[", v, "]", depth)
	case *tuple:
		end := ")"
		if len(v.items) == 1 {
			end = ",)"
		}
		b.sequence("(", v.items, end, depth)
	case map[string]any, *dict:
		b.dict(v, depth)
	case *view:
		b.text("dict_" + v.kind + "(")
		b.sequence("[", v.items, "]", depth)
		b.text(")")
	case interval:
		b.text(v.String())
	case *namespace:
		b.text("<Namespace ")
		b.dict(v.dict, depth)
		b.text(">")
	case *loop:
		b.text(fmt.Sprintf("<LoopContext %d/%d>", v.index+1, v.length(b.render)))
	case *undefined:
		b.render.defined(&undefined{at: v.at, message: v.message})
	default:
		b.other(v, depth)
	}
}

// other writes the caller's values that are not yet plain, and rejects values
// without a text.
func (b *builder) other(v any, depth int) {
	switch v := v.(type) {
	case *iterator:
		b.render.fail("the result of a filter such as map, select or reverse has no text: add |list or |join")
	case *bound:
		b.render.fail("%q is a method of %s: call it with (), or write [%q] for a key of that name",
			v.method.name, typeName(v.receiver), v.method.name)
	case *macro:
		if v.statement.name == nil {
			b.text("<Macro None>")
		} else {
			b.text("<Macro " + b.render.repr(v.statement.name.text) + ">")
		}
		return
	case *function, *cycler, *joiner:
		b.render.fail("a function has no text: call it with ()")
	}
	b.repr(b.render.plain(v), depth)
}

func (b *builder) sequence(open string, items []any, end string, depth int) {
	b.text(open)
	for i, item := range items {
		if i > 0 {
			b.text(", ")
		}
		b.repr(item, depth+1)
	}
	b.text(end)
}

func (b *builder) dict(v any, depth int) {
	b.text("{")
	for i, e := range b.render.entries(v) {
		if i > 0 {
			b.text(", ")
		}
		b.repr(e.key, depth+1)
		b.text(": ")
		b.repr(e.value, depth+1)
	}
	b.text("}")
}

// quote appends a string as Python writes it in a source.
func (b *builder) quote(s string) {
	quote := byte('\'')
	if strings.IndexByte(s, '\'') >= 0 && strings.IndexByte(s, '"') < 0 {
		quote = '"'
	}
	length := len(s) + 2 + strings.Count(s, `\`) + strings.Count(s, string(quote))
	b.render.grow(b.Len(), length)
	b.Grow(length)
	b.WriteByte(quote)
	from := 0 // start of the text that is not yet written
	for i := 0; i < len(s); {
		c, size := utf8.DecodeRuneInString(s[i:])
		at := i
		i += size
		switch {
		case c == '\\': // of quotes in quotes there are long runs
			for i < len(s) && s[i] == '\\' {
				i++
			}
			b.WriteString(s[from:i])
			from = at // once more
		case c == rune(quote):
			b.WriteString(s[from:at])
			b.WriteByte('\\')
			from = at
		case c == utf8.RuneError && size == 1:
			b.WriteString(s[from:at])
			fmt.Fprintf(b, `\udc%02x`, s[at])
			from = i
		case !unicode.IsPrint(c):
			b.WriteString(s[from:at])
			b.WriteString(escapedRune(c))
			from = i
		}
	}
	b.WriteString(s[from:])
	b.WriteByte(quote)
	b.render.grow(b.Len(), 0)
}

// escapedRune is a character as an escape of Python.
func escapedRune(c rune) string {
	switch {
	case c == '\n':
		return `\n`
	case c == '\r':
		return `\r`
	case c == '\t':
		return `\t`
	case c < 0x100:
		return fmt.Sprintf(`\x%02x`, c)
	case c < 0x10000:
		return fmt.Sprintf(`\u%04x`, c)
	}
	return fmt.Sprintf(`\U%08x`, c)
}

// floatText is Python's repr of a float: the shortest digits that identify the
// number, with an exponent below 1e-4 and from 1e16 on.
func floatText(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	digits := strconv.FormatFloat(f, 'e', -1, 64)
	e := strings.IndexByte(digits, 'e')
	exponent, _ := strconv.Atoi(digits[e+1:])
	if exponent < -4 || exponent >= 16 {
		return digits
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

func runeCount(s string) int { return utf8.RuneCountInString(s) }

func runeSize(s string) int {
	_, size := utf8.DecodeRuneInString(s)
	return size
}
