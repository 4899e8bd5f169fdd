package jinja

import (
	"html"
	"math"
	"net/url"
	"strings"
	"unicode"
)

// soft implements Jinja2's soft_str. It returns the text of v, and v itself if
// it is a text, so that a safe text stays marked.
func (r *render) soft(v any) (s string, kind any) {
	if s, ok := text(v); ok {
		r.grow(0, len(s))
		return s, v
	}
	s = r.str(v)
	return s, s
}

// textOf returns the text of v. It fails if v is not a text.
func (r *render) textOf(v any, what string) string {
	s, ok := text(r.defined(v))
	if !ok {
		r.fail("%s is a %s and not a string", what, typeName(v))
	}
	r.grow(0, len(s))
	return s
}

// mapped returns a filter or a method that changes a text. A text that is
// marked as safe stays safe.
func mapped(name string, change func(string) string) *function {
	return define(name, "", func(r *render, v any, _ []any) any {
		s, kind := r.soft(v)
		changed := change(s)
		r.grow(0, len(changed))
		return like(kind, changed)
	})
}

// trimmed returns a filter that removes characters at the ends of a text.
func trimmed(name string, trim func(string, func(rune) bool) string) *function {
	return define(name, "chars=none", func(r *render, v any, a []any) any {
		s, kind := r.soft(v)
		return like(kind, r.stripped(s, a[0], trim))
	})
}

func textFilters() []*function {
	return []*function{
		mapped("upper", upper),
		mapped("lower", lower),
		mapped("capitalize", capitalized),
		define("title", "", func(r *render, v any, _ []any) any {
			s, _ := r.soft(v)
			return titled(s)
		}),
		define("string", "", func(r *render, v any, _ []any) any {
			s, kind := r.soft(v)
			return like(kind, s)
		}),
		trimmed("trim", strings.TrimFunc),
		define("escape", "", escapeFilter),
		define("forceescape", "", func(r *render, v any, _ []any) any {
			s, _ := r.soft(v)
			return markup(r.escaped(s))
		}),
		define("safe", "", func(r *render, v any, _ []any) any { return markup(r.str(v)) }),
		define("striptags", "", stripTags),
		define("center", "width=80", func(r *render, v any, a []any) any {
			s, kind := r.soft(v)
			return like(kind, r.centered(s, r.integer(a[0], "the width"), " "))
		}),
		define("indent", "width=4 first=false blank=false", indent),
		define("replace", "old new count=none", replaceFilter),
		define("truncate", "length=255 killwords=false end='...' leeway=none", truncate),
		define("wordcount", "", wordCount),
		define("urlencode", "", urlEncode),
		define("tojson", "indent=none", toJSON),
		{name: "format", open: formatFilter},
	}
}

var escaper = strings.NewReplacer("&", "&amp;", ">", "&gt;", "<", "&lt;", "'", "&#39;", `"`, "&#34;")

func escaped(s string) string { return escaper.Replace(s) }

func (r *render) escaped(s string) string {
	r.grow(0, 5*len(s))
	return escaped(s)
}

func escapeFilter(r *render, v any, _ []any) any {
	if m, ok := v.(markup); ok {
		return m
	}
	return markup(r.escaped(r.str(v)))
}

// stripTags implements markupsafe's striptags: comments, then tags, then white
// space, then entities.
func stripTags(r *render, v any, _ []any) any {
	s := r.str(v)
	r.grow(0, len(s))
	for {
		start := strings.Index(s, "<!--")
		if start < 0 {
			break
		}
		length := strings.Index(s[start:], "-->")
		if length < 0 {
			break
		}
		r.grow(0, len(s))
		s = s[:start] + s[start+length+3:]
	}
	var b strings.Builder
	for {
		start := strings.IndexByte(s, '<')
		if start < 0 {
			break
		}
		length := strings.IndexByte(s[start:], '>')
		if length < 0 {
			break
		}
		b.WriteString(s[:start])
		s = s[start+length+1:]
	}
	b.WriteString(s)
	return html.UnescapeString(strings.Join(strings.FieldsFunc(b.String(), isSpace), " "))
}

// margin returns the indentation: a text, or a number of spaces.
func (r *render) margin(v any, what string) string {
	if s, isText := text(r.defined(v)); isText {
		return s
	}
	n := max(r.integer(v, what), 0)
	r.grow(0, product(1, n))
	return strings.Repeat(" ", int(n))
}

func indent(r *render, v any, a []any) any {
	s, space := r.textOf(v, "the text to indent"), r.margin(a[0], "the width")
	first, blank := r.truth(a[1]), r.truth(a[2])
	b := r.builder()
	for i, line := range splitLines(s+"\n", false) {
		if i > 0 {
			b.text("\n")
		}
		if i == 0 && first || i > 0 && (blank || line != "") {
			b.text(space)
		}
		b.text(line)
	}
	return like(v, b.String())
}

func replaceFilter(r *render, v any, a []any) any {
	count := int64(-1)
	if a[2] != nil {
		count = r.integer(a[2], "the count")
	}
	return r.replaced(r.str(v), r.str(a[0]), r.str(a[1]), count)
}

// replaced implements Python's str.replace. It charges for the result before
// making it.
func (r *render) replaced(s, old, new string, count int64) string {
	limit := runeCount(s) + 1
	if count >= 0 && count < int64(limit) {
		limit = int(count)
	}
	found := min(strings.Count(s, old), limit)
	if growth := len(new) - len(old); growth > 0 {
		r.grow(len(s), product(growth, int64(found)))
	}
	r.grow(0, len(s))
	return strings.Replace(s, old, new, limit)
}

const leeway = 5 // of truncate, as in Jinja2

func truncate(r *render, v any, a []any) any {
	length, end := r.integer(a[0], "the length"), r.textOf(a[2], "the end")
	slack := int64(leeway)
	if a[3] != nil {
		slack = r.integer(a[3], "the leeway")
	}
	if length < int64(runeCount(end)) || slack < 0 {
		r.fail("the length of truncate must be at least that of its end, and its leeway not negative")
	}
	// A short list also keeps its type.
	n, sized := r.length(v)
	if sized && int64(n)-slack <= length {
		return v
	}
	s := r.textOf(v, "the text to truncate")
	beginning := string([]rune(s)[:length-int64(runeCount(end))])
	if !r.truth(a[1]) {
		if space := strings.LastIndexByte(beginning, ' '); space >= 0 {
			beginning = beginning[:space]
		}
	}
	joined, _ := r.joined(like(v, beginning), a[2])
	return joined
}

func wordCount(r *render, v any, _ []any) any {
	s, _ := r.soft(v)
	words, inside := int64(0), false
	for _, c := range s {
		word := isWord(c)
		if word && !inside {
			words++
		}
		inside = word
	}
	return words
}

// isWord implements \w of Python's regular expressions.
func isWord(c rune) bool { return c == '_' || unicode.IsLetter(c) || unicode.IsNumber(c) }

func urlEncode(r *render, v any, _ []any) any {
	var pairs []any
	switch v := r.defined(v).(type) {
	case map[string]any, *dict:
		pairs = r.pairs(v)
	case []any, *tuple, *view, *iterator, interval:
		pairs = r.all(v)
	default:
		return r.urlQuoted(v, "/")
	}
	b := r.builder()
	for i, pair := range pairs {
		if i > 0 {
			b.text("&")
		}
		both := r.all(r.defined(pair))
		if len(both) != 2 {
			r.fail("urlencode takes pairs, not %d values", len(both))
		}
		b.text(r.urlQuoted(both[0], "") + "=" + r.urlQuoted(both[1], ""))
	}
	return b.String()
}

// urlQuoted escapes the characters that a URL cannot contain. Without safe
// characters it uses the form of a query string.
func (r *render) urlQuoted(v any, safe string) string {
	s := r.str(v)
	r.grow(0, 3*len(s))
	quoted := url.QueryEscape(s)
	if safe == "" {
		return quoted
	}
	return strings.NewReplacer("+", "%20", "%2F", "/").Replace(quoted)
}

// centered implements Python's str.center.
func (r *render) centered(s string, width int64, fill string) string {
	n := int64(runeCount(s))
	if width <= n {
		return s
	}
	r.grow(len(s), product(len(fill), width-n))
	space := width - n
	left := space/2 + space&width&1
	return strings.Repeat(fill, int(left)) + s + strings.Repeat(fill, int(space-left))
}

func (r *render) stripped(s string, chars any, trim func(string, func(rune) bool) string) string {
	if chars == nil {
		return trim(s, isSpace)
	}
	set := r.textOf(chars, "the characters to strip")
	r.charge(product(len(set)+1, int64(math.Min(float64(len(s)), 1e6))) / 64)
	return trim(s, func(c rune) bool { return strings.ContainsRune(set, c) })
}
