package schema

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/internal/jsonvalue"
	"github.com/seed61713e19/capstan/internal/patterns"
	"github.com/seed61713e19/capstan/internal/reading"
)

// ErrAmbiguous is the error for a reply with more than one answer, or with text
// after its answer.
var ErrAmbiguous = errors.New("the reply is ambiguous")

// Final returns the JSON document at the end of a reply that contains a
// decision, such as the reply of a judge. The document may be in a fence. Text
// may precede it, because a model may reason first; only white space may
// follow.
//
// The first key holds the decision, and the other keys are synonyms. The text
// before the document must not contain a second decision: the first key as a
// key of JSON, a tag with the name of a key, or a line that begins with a key
// and a colon. Within the document, the first key must have the same value at
// every depth, in upper or lower case. Otherwise the error is [ErrAmbiguous].
//
// Final also reads JSON with a comma before a closing bracket, and with line
// breaks and tabs in its strings.
//
//	Final("Good.\n{\"valid\": true}", "valid")   // the object
//	Final("valid: no\n{\"valid\": true}", "valid") // ErrAmbiguous
func Final(text string, keys ...string) (any, error) {
	v, before, err := lastDocument(text)
	if err != nil {
		if mended := mend(text); mended != text {
			if v, before, err := lastDocument(mended); err == nil {
				return v, checkDecision(v, before, keys)
			}
		}
		return nil, err
	}
	return v, checkDecision(v, before, keys)
}

// lastDocument returns the document at the end of a text and the text before
// it.
func lastDocument(text string) (v any, before string, err error) {
	v, o, err := extractor{nil, reading.Read}.value(&text)
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
		return nil, "", fmt.Errorf("%w: there is text after the JSON, at line %d, column %d", ErrAmbiguous, line, column)
	}
	return o.last.value, text[:o.last.start], nil
}

// checkDecision returns an error if a document and the text before it contain
// more than one decision.
func checkDecision(v any, before string, keys []string) error {
	if found := earlierDecision(before, keys); found != "" {
		return fmt.Errorf("%w: %q comes before the JSON at its end", ErrAmbiguous, found)
	}
	values := valuesOf(nil, v, keys[0])
	for _, other := range values {
		if !equal(other, values[0]) {
			return fmt.Errorf("%w: %q is %s in one place and %s in another", ErrAmbiguous, keys[0], show(values[0]), show(other))
		}
	}
	return nil
}

// valuesOf appends the values of a key in v, at any depth, to a list.
func valuesOf(list []any, v any, key string) []any {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			list = valuesOf(list, item, key)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) { // sorted, so that the error is always the same
			if strings.EqualFold(name, key) {
				list = append(list, v[name])
			}
			list = valuesOf(list, v[name], key)
		}
	}
	return list
}

// earlierDecision returns the first text in before that looks like a decision,
// or "".
func earlierDecision(before string, keys []string) string {
	if strings.TrimSpace(before) == "" {
		return ""
	}
	key, either := keys[0], strings.Join(keys, "|")
	pattern := regexp.MustCompile(`(?i)["'{]\s*` + key + `\s*["']?\s*[:=]|,\s*` + key + `\s*[:=]\s*(?:true|false)\b|</?(?:` + either +
		`)\b|(?m:^)[\s>*_#"'` + "`" + `-]*(?:` + either + `)[\s*_"'` + "`" + `]*[:=]`)
	return strings.TrimSpace(pattern.FindString(escape().ReplaceAllStringFunc(before, unescaped)))
}

var escape = patterns.Lazy(`\\u[0-9a-fA-F]{4}`)

// unescaped returns the character of an escape such as \u0041.
func unescaped(escape string) string {
	letter, _ := hex4(escape, 2)
	return string(letter)
}

// mend returns a text in which objects are valid JSON: without commas before
// closing brackets, and with escaped line breaks and tabs in strings. It leaves
// an object without an end unchanged, and everything after it.
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

// mendObject mends the object at the start of a text. end is 0 if the object
// does not end.
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

// closes reports whether the next character of a text, after white space,
// closes an object or array.
func closes(text string) bool {
	rest := strings.TrimLeft(text, " \t\r\n")
	return rest != "" && (rest[0] == '}' || rest[0] == ']')
}
