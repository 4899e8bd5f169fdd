package schema

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/internal/jsonvalue"
	"github.com/seed61713e19/capstan/validators/patterns"
)

// ErrUndecided is the error of a reply that has more than one answer, or text after
// its answer.
var ErrUndecided = errors.New("the reply is ambiguous")

// Final returns the JSON document at the end of a reply that decides something, as
// the reply of a judge. The document may be in a fence. Text may precede it, because
// a model may reason first; only white space may follow.
//
// The first key names the decision, the other keys are synonyms. The text before the
// document must not contain a second decision: the first key as a key of JSON, a tag
// with the name of a key, or a line that begins with a key and a colon. Within the
// document, the first key must have the same value at every depth, in upper or lower
// case. Otherwise the error is [ErrUndecided].
//
// Final also reads JSON with a comma before a closing bracket and with line breaks
// and tabs in its strings.
func Final(text string, keys ...string) (any, error) {
	v, before, err := ending(text)
	if err != nil {
		if mended := mend(text); mended != text {
			if v, before, err := ending(mended); err == nil {
				return v, decided(v, before, keys)
			}
		}
		return nil, err
	}
	return v, decided(v, before, keys)
}

// ending returns the document that a text ends with and the text before it.
func ending(text string) (v any, before string, err error) {
	v, o, err := read(nil, &text)
	if err != nil || o == nil {
		return v, "", err
	}
	end := strings.TrimRight(text, " \t\r\n")
	if n := len(o.fences); n > 0 && o.fences[n-1].end >= len(end) {
		last := o.fences[n-1]
		if v, err := last.json(nil); err == nil {
			return v, text[:last.start], nil
		}
	}
	if o.last == nil {
		_, err := o.choose(text, objectType|arrayType)
		return nil, "", err
	}
	if rest := strings.TrimLeft(end[o.last.end:], " \t\r\n"); strings.Trim(rest, "`~") != "" {
		line, column := jsonvalue.Position([]byte(text), len(end)-len(rest))
		return nil, "", fmt.Errorf("%w: there is text after the JSON, at line %d, column %d", ErrUndecided, line, column)
	}
	return o.last.value, text[:o.last.start], nil
}

// decided checks that a document and the text before it decide one thing.
func decided(v any, before string, keys []string) error {
	if found := second(before, keys); found != "" {
		return fmt.Errorf("%w: %q comes before the JSON at its end", ErrUndecided, found)
	}
	values := valuesOf(nil, v, keys[0])
	for _, other := range values {
		if !equal(other, values[0]) {
			return fmt.Errorf("%w: %q is %s in one place and %s in another", ErrUndecided, keys[0], show(values[0]), show(other))
		}
	}
	return nil
}

// valuesOf lists the values of a key in v, at any depth.
func valuesOf(list []any, v any, key string) []any {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			list = valuesOf(list, item, key)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) { // an error is the same each time
			if strings.EqualFold(name, key) {
				list = append(list, v[name])
			}
			list = valuesOf(list, v[name], key)
		}
	}
	return list
}

// second returns what decides one of the keys in a text before the answer.
func second(before string, keys []string) string {
	if strings.TrimSpace(before) == "" {
		return ""
	}
	key, either := keys[0], strings.Join(keys, "|")
	pattern := regexp.MustCompile(`(?i)["'{]\s*` + key + `\s*["']?\s*[:=]|,\s*` + key + `\s*[:=]\s*(?:true|false)\b|</?(?:` + either +
		`)\b|(?m:^)[\s>*_#"'` + "`" + `-]*(?:` + either + `)[\s*_"'` + "`" + `]*[:=]`)
	return strings.TrimSpace(pattern.FindString(escape().ReplaceAllStringFunc(before, unescaped)))
}

var escape = patterns.Lazy(`\\u[0-9a-fA-F]{4}`)

// unescaped returns the letter of an escape like \u0041.
func unescaped(escape string) string {
	letter, _ := hex4(escape, 2)
	return string(letter)
}

// mend returns a text with its objects as JSON demands them: without commas before
// closing brackets, and with line breaks and tabs in strings escaped. An object that
// does not end, and all after it, stays as it is.
func mend(text string) string {
	var b strings.Builder
	for {
		start := strings.IndexByte(text, '{')
		if start < 0 {
			return b.String() + text
		}
		object, end := mendObject(text[start:])
		if end == 0 {
			return b.String() + text
		}
		b.WriteString(text[:start] + object)
		text = text[start+end:]
	}
}

// mendObject mends the object that a text begins with. End is 0 if it does not end.
func mendObject(text string) (object string, end int) {
	var b strings.Builder
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quoted && c == '\\' && i+1 < len(text):
			b.WriteByte(c)
			i++
			c = text[i]
		case quoted && (c == '\n' || c == '\r' || c == '\t'):
			b.WriteString(map[byte]string{'\n': `\n`, '\r': `\r`, '\t': `\t`}[c])
			continue
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == ',' && closes(text[i+1:]):
			continue
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
		b.WriteByte(c)
		if depth == 0 && !quoted {
			return b.String(), i + 1
		}
	}
	return "", 0
}

// closes reports whether the next sign of a text closes an object or array.
func closes(text string) bool {
	rest := strings.TrimLeft(text, " \t\r\n")
	return rest != "" && (rest[0] == '}' || rest[0] == ']')
}
