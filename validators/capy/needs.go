package capy

import (
	"github.com/seed61713e19/capstan/validators/patterns"
	"sort"
	"strings"

	"github.com/seed61713e19/capstan/internal/reading"
	"github.com/seed61713e19/capstan/validators/schema"
)

// schemaCheck checks the JSON of an artifact against the schema of the policy.
func (r *run) schemaCheck(f *findings, name string, a *artifact, p *artifactPlace) {
	if a.check == nil || p.node < 0 || p.nope != "" {
		return
	}
	node := p.node
	nodes := p.doc.nodes
	if inner := node + 1; inner < nodes[node].end && startsWith(nodes[inner].key, name) && nodes[inner].end == nodes[node].end {
		node = inner // {"A.3_…": …}
	}
	violations, err := a.check.Check(nil, p.doc.plain(node))
	if err != nil {
		f.fail(p.place, "%s is not checked against its schema: %v", name, err)
	}
	for _, v := range violations {
		f.fail(p.place, "%s does not match its schema: %s", name, v)
	}
}

// plain returns the value of a node as the JSON packages have it.
func (d *document) plain(i int) any {
	n := &d.nodes[i]
	switch n.kind {
	case '{':
		m := map[string]any{}
		for c := i + 1; c < n.end; c = d.nodes[c].end {
			m[d.nodes[c].key] = d.plain(c)
		}
		return m
	case '[':
		list := []any{}
		for c := i + 1; c < n.end; c = d.nodes[c].end {
			list = append(list, d.plain(c))
		}
		return list
	case '0':
		v, _ := schema.Parse([]byte(n.text))
		return v
	case '"':
		return n.text
	case 't', 'f':
		return n.kind == 't'
	}
	return nil
}

// needsCheck checks the parts and values of the row besides the artifacts.
func (r *run) needsCheck(f *findings, last place) {
	for _, name := range r.stage.Needs {
		n, part := r.policy.Needs[name]
		switch {
		case !part:
			r.needsValue(f, name, last)
		case n.Holds == "scenarios":
			r.needsScenarios(f, last)
		case n.Holds == "dispositions":
			r.needsDispositions(f, name, n, last)
		default:
			r.needsPart(f, name, n, last)
		}
	}
	if r.stage.Questions != nil {
		r.needsQuestions(f, last)
	}
}

// needsValue wants a number of the value that is the stage's own.
func (r *run) needsValue(f *findings, name string, last place) {
	v := r.policy.Values[name]
	var absent, quoted *fact
	found, inJSON := false, false
	for _, one := range r.of(name) {
		switch {
		case one.hidden, one.aside, one.form == inHeading:
		case r.earlier(one):
			quoted = one
		case one.figure != nil && !(v.Unit == "money" && one.figure.Percent):
			found = true
			inJSON = inJSON || one.form == inKey
		case one.form == inKey && strings.ContainsRune("{[", rune(one.doc.nodes[one.node].kind)):
		case one.whole && absent == nil && (r.filler(one.said) || one.said == "null"):
			absent = one
		}
	}
	switch {
	case found && (inJSON || absent == nil || absent.form != inKey):
	case absent != nil:
		f.fail(absent.place, "%s has no value: %q", v.Title, clip(absent.said, 60))
	case quoted != nil:
		f.fail(quoted.place, "%s of this stage is not stated, only an earlier stage's: %q", v.Title, clip(quoted.said, 60))
	default:
		f.fail(last, "%s is not stated with a value: want, for instance, %s", v.Title, v.Example)
	}
}

// needsPart wants content under a label, a key or a heading.
func (r *run) needsPart(f *findings, name string, n need, last place) {
	var named *fact
	var thin *fact
	for _, one := range r.of(name) {
		if one.hidden || n.Holds == "words" && one.form != inHeading && one.form != inKey || one.form == inHeading && r.others(one, name) {
			continue
		}
		held, under := r.holds(n, one)
		if held && !under {
			return
		}
		if held {
			thin = one
		}
		if one.form != inLine || one.whole {
			named = one
		}
	}
	if p := r.artifactOf(n.Artifact); p != nil && p.nope == "" || name == "jpd" && len(r.joint()) > 0 {
		return
	}
	switch {
	case thin != nil:
		f.warn(thin.place, "Question: is this %s? Its content is under the minimum", n.Title)
	case named != nil:
		f.fail(named.place, "%s named, but without a %s", n.Title, wanted(n.Holds))
	default:
		f.fail(last, "Missing %s: want a heading, a label, a table or a JSON key that names it, with a %s", n.Title, wanted(n.Holds))
	}
}

func (r *run) artifactOf(name string) *artifactPlace {
	if name == "" {
		return nil
	}
	return r.artifact(name)
}

func wanted(holds string) string {
	if holds == "content" {
		return "value"
	}
	return strings.TrimSuffix(holds, "s")
}

// others reports whether a heading names another part of the same row too: a title that
// names all narratives is none of them.
func (r *run) others(one *fact, name string) bool {
	words := tokens(fold(one.said))
	for _, other := range r.stage.Needs {
		if n := r.policy.Needs[other]; other == name || n.Holds != "words" {
			continue
		}
		for i := range words {
			if p := r.labels.at(words, i); p != nil && p.kind == other {
				return true
			}
		}
	}
	return false
}

// holds reports whether a fact has what a need wants, and whether that is under the
// minimum.
func (r *run) holds(n need, one *fact) (held, thin bool) {
	switch one.form {
	case inHeading:
		return r.sectionHolds(n, one)
	case inKey:
		return r.keyHolds(n, one), false
	}
	said := one.said
	if said == "" && one.body.End > one.body.Start {
		return r.sectionHolds(n, &fact{place: one.place, body: reading.Span{Start: one.body.End, End: one.doc.nextTitle(one.body.End)}})
	}
	switch n.Holds {
	case "number":
		return len(reading.Numbers(said)) > 0 && !r.filler(said), false
	case "grade":
		return graded(said), false
	}
	return said != "" && !r.filler(said), false
}

func (d *document) nextTitle(offset int) int {
	if i := sort.Search(len(d.titles), func(i int) bool { return d.titles[i].start >= offset }); i < len(d.titles) {
		return d.titles[i].start
	}
	return len(d.Source)
}

func (r *run) sectionHolds(n need, one *fact) (held, thin bool) {
	m := r.section(one.doc, one.body)
	if value, ok := strings.CutPrefix(labels().FindString(one.said), one.said); !m.any() && one.said != "" && ok {
		return value != "" && !r.filler(value), false
	}
	if !m.any() || !m.enough(r.policy.Minimum) && m.filler || r.filler(bracketed(one.said)) {
		return false, false
	}
	switch n.Holds {
	case "words":
		return m.words+m.items+m.rows >= n.Words || m.enough(r.policy.Minimum), false
	case "number":
		return r.sectionNumber(one), false
	case "grade":
		return r.sectionGrade(one), false
	}
	return true, !m.enough(&minimum{Rows: 1, Leaves: 1, Items: 1, Words: 8})
}

var bracket = patterns.Lazy(`\(([^)]*)\)`)

func bracketed(text string) string {
	if m := bracket().FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return "-word-"
}

// sectionNumber reports whether a section has a number in a cell, an item, JSON or a line.
func (r *run) sectionNumber(one *fact) bool {
	for _, other := range r.of(one.value) {
		if other.form != inHeading && other.doc == one.doc && one.body.Contains(other.offset) {
			return false // it decides
		}
	}
	for i := one.doc.blockAt(one.body.Start); i < len(one.doc.Blocks) && one.doc.Blocks[i].Start < one.body.End; i++ {
		b := &one.doc.Blocks[i]
		if b.Start >= one.body.Start && b.Kind != reading.HeadingBlock && len(reading.Numbers(b.Text)) > 0 {
			return true
		}
	}
	return false
}

func (r *run) sectionGrade(one *fact) bool {
	for _, g := range append(r.of("grade"), r.of("pipeline_fit")...) {
		if g.doc == one.doc && one.body.Contains(g.offset) && graded(g.said) {
			return true
		}
	}
	for i := one.doc.blockAt(one.body.Start); i < len(one.doc.Blocks) && one.doc.Blocks[i].Start < one.body.End; i++ {
		if b := &one.doc.Blocks[i]; b.Start >= one.body.Start && len(b.Text) < 6 && graded(b.Text) {
			return true
		}
	}
	return false
}

var letterGrade = patterns.Lazy(`^[\s*_("'\x60]*[A-F](?:[+\-−–]|\\[+-])?(?:[\s*_)"'.,;:/\x60]|$)`)

func graded(text string) bool { return letterGrade().MatchString(text) }

// keyHolds reports whether a member of JSON has what a need wants.
func (r *run) keyHolds(n need, one *fact) bool {
	d, at := one.doc, &one.doc.nodes[one.node]
	switch n.Holds {
	case "number":
		for i := one.node; i < at.end; i++ {
			if d.nodes[i].kind == '0' || d.nodes[i].kind == '"' && r.number(fold(d.nodes[i].text)) != nil {
				return true
			}
		}
		return false
	case "grade":
		for i := one.node; i < at.end; i++ {
			if m := &d.nodes[i]; m.kind == '"' && graded(m.text) && (i == one.node || strings.Contains(strings.ToLower(m.key), "grade")) {
				return true
			}
		}
		return false
	case "words":
		return at.kind == '"' && len(strings.Fields(at.text)) >= n.Words
	}
	return d.leaves(r.vocabulary, one.node, 1) > 0 || at.kind == '[' && at.end == one.node+1
}
