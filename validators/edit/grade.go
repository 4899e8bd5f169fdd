package edit

import (
	"cmp"
	"fmt"
	"slices"

	"gopkg.in/yaml.v3"
)

// A Result is what was found of one thing that was checked.
type Result string

// The results. NotJudged is what nobody has looked at, and also a [Change].
const (
	Pass      Result = "pass"
	Warn      Result = "warn"
	Fail      Result = "fail"
	NotJudged        = "not_judged"
)

// A Change is what becomes of a goal.
type Change string

// The changes of a goal.
const (
	Improved  Change = "improved"
	Unchanged Change = "unchanged"
	Worsened  Change = "worsened"
)

// gravity orders results; what was not judged is worse than a pass.
var gravity = map[Result]int{"": 0, Pass: 1, NotJudged: 2, Warn: 3, Fail: 4}

// worst is the gravest of results.
func worst(list ...Result) Result {
	return slices.MaxFunc(list, func(a, b Result) int { return cmp.Compare(gravity[a], gravity[b]) })
}

// A graded is a result with why.
type graded struct {
	result Result
	notes  []string
}

var results = []Result{Pass, Warn, Fail}

// change reads improved, unchanged or worsened, or a mapping with such a
// result.
func (f *fields) change(n *yaml.Node, what string) Change {
	if n.Kind == yaml.MappingNode {
		if own := f.mapping(n, what); own.get("result") != nil {
			n = own.get("result")
		}
	}
	return word(f.reader, n, what, Improved, Unchanged, Worsened)
}

// grade reads a result, or a mapping with one and its reason.
func (r *reader) grade(n *yaml.Node, what string) graded {
	if n.Kind != yaml.MappingNode {
		return graded{result: word(r, n, what, results...)}
	}
	f := r.mapping(n, what)
	var g graded
	if at := f.get("result"); at == nil {
		f.required("result")
	} else {
		g.result = word(r, at, "result of "+what, results...)
	}
	g.notes = f.notes()
	return g
}

// notes reads what is said in words: reason and notes.
func (f *fields) notes() []string {
	var out []string
	for _, s := range append([]string{f.text("reason")}, f.texts("notes")...) {
		if s = clean(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// judgedList reads results by key, or a list of results with ids.
func (f *fields) judgedList(name string) []judged {
	n := f.get(name)
	if n == nil {
		return nil
	}
	var out []judged
	if n.Kind == yaml.SequenceNode {
		for i, e := range n.Content {
			what := fmt.Sprintf("%s[%d]", name, i)
			if own := f.mapping(e, what); own != nil {
				out = append(out, judged{own.required("id"), f.grade(e, what)})
			}
		}
		return out
	}
	own := f.mapping(n, name)
	if own == nil {
		return nil
	}
	for _, key := range own.order {
		if e := own.get(key); e != nil {
			out = append(out, judged{key, f.grade(e, brief(key)+" of "+name)})
		}
	}
	return out
}

// section reads a result, a mapping with one, or results by key, of which the
// worst counts.
func (f *fields) section(name string) graded {
	n := f.get(name)
	if n == nil {
		return graded{}
	}
	if n.Kind != yaml.MappingNode {
		return f.grade(n, name)
	}
	own := f.mapping(n, name)
	g := graded{notes: own.notes()}
	for _, key := range own.order {
		if key == "notes" || key == "reason" || own.get(key) == nil {
			continue
		}
		e := own.grade(own.get(key), brief(key)+" of "+name)
		g.result = worst(g.result, e.result)
		if key == "result" {
			g.notes = append(g.notes, e.notes...)
		} else {
			g.remark(clean(key), e)
		}
	}
	return g
}
