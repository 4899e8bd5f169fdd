package schema

import (
	"fmt"
	"strconv"
	"strings"
)

// Lost lists the references of a schema that lead nowhere, or out of it, each at
// its path, in no order: [Compile] tells the first mistake alone. What no value is
// held against, a definition that nothing leads to, is not looked at.
func Lost(source any) []Violation {
	c := newCompiler()
	res, err := c.add(root, source, draft20)
	if err != nil {
		return nil
	}
	l := losing{compiler: c, seen: map[string]bool{}}
	l.in(res, "", source)
	return l.lost
}

type losing struct {
	*compiler
	seen map[string]bool // places of the document
	lost []Violation
}

// in looks at the schema at a place of the document, and at all that it leads to.
func (l *losing) in(res *resource, at string, raw any) {
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
		return // all else beside a $ref is nothing
	}
	if year == 2019 {
		l.refer(res, at, object, "$recursiveRef")
	} else if year > 2019 {
		l.refer(res, at, object, "$dynamicRef")
	}
	for word, what := range res.dialect.words() {
		if word == "$defs" || word == "definitions" {
			continue
		}
		for step, raw := range what.in(object[word]) {
			below := at + "/" + token(word)
			if step != nil {
				below += "/" + token(fmt.Sprint(step))
			}
			l.in(res, below, raw)
		}
	}
}

// refer follows the reference under a word, and notes one that is lost.
func (l *losing) refer(res *resource, at string, object map[string]any, word string) {
	ref, ok := object[word].(string)
	if !ok {
		return
	}
	to, place, raw, err := l.follow(res, ref)
	switch {
	case err != nil:
		l.lost = append(l.lost, Violation{Path: l.path(at + "/" + token(word)), Rule: word, Message: strings.ReplaceAll(err.Error(), root, "schema")})
	case to.doc == root:
		l.in(l.around(root, place), place, raw)
	}
}

// path writes a place of the document as violations have it.
func (l *losing) path(at string) string {
	path, v := "$", l.docs[root]
	for _, part := range strings.Split(at, "/")[1:] {
		name := untoken.Replace(part)
		switch in := v.(type) {
		case map[string]any:
			path, v = Named(path, name), in[name]
		case []any:
			i, _ := strconv.Atoi(name)
			path, v = Indexed(path, i), in[i]
		}
	}
	return path
}
