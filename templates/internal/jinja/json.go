package jinja

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// toJSON is Jinja2's tojson: json.dumps with sorted keys and only ASCII, safe
// inside HTML.
func toJSON(r *render, v any, a []any) any {
	w := &jsonWriter{builder: r.builder()}
	if w.pretty = a[0] != nil; w.pretty {
		w.indent = r.margin(a[0], "the indent")
	}
	w.value(v, 0)
	return markup(w.String())
}

type jsonWriter struct {
	*builder
	indent string
	pretty bool
}

func (w *jsonWriter) value(v any, depth int) {
	r := w.render
	if depth > maxDepth {
		r.fail("a value is nested deeper than %d", maxDepth)
	}
	v = r.plain(v)
	if s, ok := w.bare(v); ok {
		w.text(s)
		return
	}
	switch v := v.(type) {
	case string:
		w.quote(v)
	case markup:
		w.quote(string(v))
	case []any:
		w.array(v, depth)
	case *tuple:
		w.array(v.items, depth)
	case map[string]any, *dict:
		w.object(v, depth)
	default:
		r.fail("a %s cannot be written as JSON: put |list before", typeName(r.defined(v)))
	}
}

// bare returns the JSON of a value that has no quotes.
func (w *jsonWriter) bare(v any) (s string, ok bool) {
	switch v := v.(type) {
	case nil:
		return "null", true
	case bool:
		return strconv.FormatBool(v), true
	case float64:
		return jsonFloat(v), true
	case int64, json.Number, written:
		return w.render.repr(v), true
	}
	return "", false
}

var jsonNames = map[string]string{"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}

func jsonFloat(f float64) string {
	text := floatText(f)
	return cmp.Or(jsonNames[text], text)
}

// next begins an element, and end ends a list that is not empty.
func (w *jsonWriter) next(i, depth int) {
	switch {
	case w.pretty && i > 0:
		w.text(",\n")
	case w.pretty:
		w.text("\n")
	case i > 0:
		w.text(", ")
	}
	w.margin(depth + 1)
}

func (w *jsonWriter) margin(depth int) {
	for range depth {
		w.text(w.indent)
	}
}

func (w *jsonWriter) end(closing string, depth int) {
	if w.pretty {
		w.text("\n")
		w.margin(depth)
	}
	w.text(closing)
}

func (w *jsonWriter) array(items []any, depth int) {
	if len(items) == 0 {
		w.text("[]")
		return
	}
	w.text("[")
	for i, item := range items {
		w.next(i, depth)
		w.value(item, depth+1)
	}
	w.end("]", depth)
}

func (w *jsonWriter) object(v any, depth int) {
	entries := w.render.entries(v)
	if _, made := v.(*dict); made {
		slices.SortStableFunc(entries, func(a, b entry) int {
			order, _ := w.render.order(a.key, b.key, 0)
			return order
		})
	}
	if len(entries) == 0 {
		w.text("{}")
		return
	}
	w.text("{")
	for i, e := range entries {
		w.next(i, depth)
		w.quote(w.key(e.key))
		w.text(": ")
		w.value(e.value, depth+1)
	}
	w.end("}", depth)
}

func (w *jsonWriter) key(v any) string {
	s, ok := text(v)
	if !ok {
		s, ok = w.bare(v)
	}
	if !ok {
		w.render.fail("a %s cannot be the key of a JSON object", typeName(v))
	}
	return s
}

// quote writes a JSON string; < > & and ' are escaped as Jinja2 does for HTML.
func (w *jsonWriter) quote(s string) {
	w.render.grow(w.Len(), len(s)+2)
	w.WriteByte('"')
	start := 0
	for i := 0; i < len(s); {
		c, size := utf8.DecodeRuneInString(s[i:])
		if c >= ' ' && c <= '~' && !strings.ContainsRune(`"\<>&'`, c) {
			i += size
			continue
		}
		w.WriteString(s[start:i])
		w.WriteString(jsonEscape(c))
		i += size
		start = i
	}
	w.WriteString(s[start:])
	w.WriteByte('"')
	w.render.grow(w.Len(), 0)
}

var jsonEscapes = map[rune]string{'"': `\"`, '\\': `\\`, '\n': `\n`, '\r': `\r`, '\t': `\t`, '\b': `\b`, '\f': `\f`}

func jsonEscape(c rune) string {
	if short, ok := jsonEscapes[c]; ok {
		return short
	}
	var escaped string
	for _, unit := range utf16.AppendRune(nil, c) {
		escaped += fmt.Sprintf(`\u%04x`, unit)
	}
	return escaped
}
