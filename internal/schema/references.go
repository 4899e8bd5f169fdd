package schema

import (
	"fmt"
	"strconv"
	"strings"
)

// BrokenReferences returns the references of a schema that lead nowhere or
// outside it, each with its path, in no order. [Compile] reports only the first
// mistake. A definition that nothing refers to is not checked, because no value
// is validated against it.
func BrokenReferences(source any) []Violation {
	c := newCompiler()
	res, err := c.add(root, source, draft20)
	if err != nil {
		return nil
	}
	l := referenceChecker{compiler: c, seen: map[string]bool{}}
	l.in(res, "", source)
	return l.broken
}

type referenceChecker struct {
	*compiler
	seen   map[string]bool // places of the document
	broken []Violation
}

// in checks the schema at a place of the document and all its subschemas and
// targets.
func (l *referenceChecker) in(res *resource, at string, raw any) {
	object, ok := raw.(map[string]any)
	if !ok || l.seen[at] || strings.Count(at, "/") > maxDeep {
		return
	}
	l.seen[at] = true
	if inner := l.places[root+"#"+at]; inner != nil {
		res = inner
	}
	year := res.dialect.year
	l.refer(res, at, object, "$ref")
	if _, ref := object["$ref"]; ref && year < 2019 {
		return // drafts before 2019 ignore everything beside a $ref
	}
	if year == 2019 {
		l.refer(res, at, object, "$recursiveRef")
	} else if year > 2019 {
		l.refer(res, at, object, "$dynamicRef")
	}
	for word, what := range res.dialect.subschemaKeywords() {
		if word == "$defs" || word == "definitions" {
			continue
		}
		for step, raw := range what.subschemas(object[word]) {
			below := at + "/" + token(word)
			if step != nil {
				below += "/" + token(fmt.Sprint(step))
			}
			l.in(res, below, raw)
		}
	}
}

// refer follows the reference of a keyword and records it if it is broken.
func (l *referenceChecker) refer(res *resource, at string, object map[string]any, word string) {
	ref, ok := object[word].(string)
	if !ok {
		return
	}
	to, place, raw, err := l.follow(res, ref)
	switch {
	case err != nil:
		l.broken = append(l.broken, Violation{Path: l.path(at + "/" + token(word)), Rule: word, Message: strings.ReplaceAll(err.Error(), root, "schema")})
	case to.doc == root:
		l.in(l.enclosing(root, place), place, raw)
	}
}

// path returns the path of a place of the document, as violations write it.
func (l *referenceChecker) path(at string) string {
	path, v := "$", l.docs[root]
	for _, part := range strings.Split(at, "/")[1:] {
		name := untoken.Replace(part)
		switch in := v.(type) {
		case map[string]any:
			path, v = MemberPath(path, name), in[name]
		case []any:
			i, _ := strconv.Atoi(name)
			path, v = ItemPath(path, i), in[i]
		}
	}
	return path
}
