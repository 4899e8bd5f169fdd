package capy

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/seed61713e19/capstan/internal/patterns"
	"github.com/seed61713e19/capstan/internal/reading"
	"github.com/seed61713e19/capstan/internal/reports"
)

// need checks a part or value of the row besides the artifacts.
func (r *run) need(f *findings, name string, last place) {
	n, ok := r.policy.Needs[name]
	switch {
	case !ok:
		r.needsValue(f, name, last)
	case n.Scenarios > 0:
		r.needsScenarios(f, n.Scenarios, last)
	case n.Each != nil:
		r.needsEach(f, name, n, last)
	default:
		r.needsPart(f, name, n, last)
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
		case one.form == inKey && strings.ContainsRune("{[", rune(one.of().json)):
		case one.whole && absent == nil && (r.filler(one.content) || one.content == "null"):
			absent = one
		}
	}
	switch {
	case found && (inJSON || absent == nil || absent.form != inKey):
	case absent != nil:
		f.fail(absent.place, "%s has no value: %q", v.Title, reports.Fit(absent.content, 60))
	case quoted != nil:
		f.fail(quoted.place, "%s of this stage is not stated, only an earlier stage's: %q", v.Title, reports.Fit(quoted.content, 60))
	default:
		f.fail(last, "%s is not stated with a value: want, for instance, %s", v.Title, v.Example)
	}
}

// needsPart wants content under a label, a key or a heading.
func (r *run) needsPart(f *findings, name string, n need, last place) {
	var named, thin *fact
	for _, one := range r.of(name) {
		if one.hidden || n.Words > 0 && one.form != inHeading && one.form != inKey || one.form == inHeading && r.titlesSeveral(one, name) {
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
	if n.Artifact != "" {
		if p := r.artifact(n.Artifact); p != nil && p.nope == "" {
			return
		}
	}
	switch {
	case name == "jpd" && len(r.joint()) > 0:
	case thin != nil:
		f.warn(thin.place, "Question: is this %s? Its content is under the minimum", n.Title)
	case named != nil:
		f.fail(named.place, "%s named, but without %s", n.Title, n.Want)
	default:
		f.fail(last, "Missing %s: want a heading, a label, a table or a JSON key that names it, with %s", n.Title, n.Want)
	}
}

// titlesSeveral reports whether the heading of a fact also names another text
// that the stage needs. Such a title is the heading of none of them.
func (r *run) titlesSeveral(one *fact, name string) bool {
	return slices.ContainsFunc(r.stage.Needs, func(other string) bool {
		return other != name && r.policy.Needs[other].Words > 0 && slices.ContainsFunc(r.of(other), func(o *fact) bool {
			return o.form == inHeading && o.place == one.place
		})
	})
}

// holds reports whether a fact satisfies a need. thin is true if its content is under
// the minimum. The content is the rest of the line, or the parts below the title, key
// or line.
func (r *run) holds(n need, one *fact) (held, thin bool) {
	d, from, to := one.doc, one.part+1, one.of().end
	switch content := one.content; {
	case one.form == inKey:
		from-- // a scalar
	case one.form == inLine && content == "":
		for to = from; to < len(d.parts) && d.parts[to].kind != aTitle; to++ {
		}
	case one.form != inHeading:
		return content != "" && !r.filler(content) && n.holds.MatchString(content), false
	}
	m := r.measure(d, from, to)
	if _, value, ok := reading.CutLabel(one.content); ok && !m.any() && one.form != inKey {
		return value != "" && !r.filler(value), false
	}
	b := bracket().FindStringSubmatch(one.content)
	switch {
	case !m.any() || !m.enough(r.policy.Minimum) && m.filler || b != nil && one.form != inKey && r.filler(b[1]):
		return false, false
	case n.Words > 0:
		return m.words+m.items+m.rows >= n.Words || m.enough(r.policy.Minimum), false
	case n.Holds != "":
		labelled := slices.ContainsFunc(r.of(one.value), func(o *fact) bool {
			return o != one && o.form != inHeading && o.doc == d && o.part >= from && o.part < to
		}) // its own value decides
		return !labelled && n.holds.MatchString(d.valuesOf(from, to)), false
	}
	return true, one.form != inKey && !m.enough(&minimum{Rows: 1, Leaves: 1, Items: 1, Words: 8})
}

// valuesOf returns the texts of parts that are no headings, each on lines of its own.
func (d *document) valuesOf(from, to int) string {
	var b strings.Builder
	for _, p := range d.parts[from:to] {
		if b.Len() > maxUnit {
			break
		}
		b.WriteString(clipped(p.text) + "\n")
		if p.level == boldLevel {
			b.WriteString(p.label + "\n")
		}
	}
	return b.String()
}

var bracket = patterns.Lazy(`\(([^)]*)\)`)

// of returns the part that a fact is in.
func (one *fact) of() *part { return &one.doc.parts[one.part] }

// needsScenarios wants P and M of the scenarios S1 to Sn.
func (r *run) needsScenarios(f *findings, count int, last place) {
	for n := 1; n <= count; n++ {
		has := map[string]bool{}
		at, named := last, false
		for _, d := range r.docs {
			if i := slices.IndexFunc(d.parts, func(p part) bool { return p.scenario == n }); i >= 0 && !named {
				at, named = d.parts[i].place, true
			}
		}
		for i := range r.facts {
			one := &r.facts[i]
			if one.scenario != n || one.hidden || one.form == inHeading {
				continue
			}
			if !named && one.form == inLine {
				at, named = one.place, true
			}
			sentence := sentenceEnd().Split(one.content, 2)[0]
			if one.form == inKey {
				sentence = one.doc.valuesOf(one.part, one.of().end)
			}
			has[one.value] = has[one.value] || strings.ContainsAny(sentence, "0123456789")
		}
		if !named {
			f.fail(last, "Missing scenario S%d with its P and M estimates", n)
		}
		for _, estimate := range []string{"p", "m"} {
			if named && !has[estimate] {
				f.fail(at, "Scenario S%d has no %s estimate: want, for instance, %[2]s: 0.30", n, strings.ToUpper(estimate))
			}
		}
		last = at
	}
}

var sentenceEnd = patterns.Lazy(`[;.?!]\s`)

// A unit is an id with the kinds of words in the parts that begin with the id.
type unit struct {
	place
	kinds map[string]bool // of the words of the need's kind
}

// needsEach requires units: a list of them, a number of each kind, or all of a kind.
func (r *run) needsEach(f *findings, name string, n need, last place) {
	units := r.units(n.Each)
	ids := slices.Sorted(maps.Keys(units))
	if want := n.Each.IDs; len(want) > 0 {
		if missing := slices.DeleteFunc(slices.Clone(want), func(id string) bool { return units[id] != nil }); len(missing) > 0 {
			f.fail(last, "Missing %s %s: want exactly %s", n.Title, strings.Join(missing, ", "), strings.Join(want, ", "))
		}
		for _, id := range ids {
			if !slices.Contains(want, id) {
				f.fail(units[id].place, "%s %s is not in the list: want exactly %s", n.Title, id, strings.Join(want, ", "))
			}
		}
		return
	}
	if len(n.Each.Count) > 0 {
		r.counts(f, n, units, last)
		return
	}
	for _, id := range ids {
		if len(units[id].kinds) == 0 {
			f.fail(units[id].place, "Finding %s has no %s", id, n.Each.Kind)
		}
	}
	if len(ids) > 0 || slices.ContainsFunc(r.of(name), func(one *fact) bool {
		if one.form != inHeading {
			return one.content != "" && !r.filler(one.content)
		}
		return r.inside(one.doc, one.part).enough(r.policy.Minimum) && r.words.has(tokens(fold(one.doc.wordsOf(one.part))), n.Each.Kind)
	}) {
		return
	}
	f.fail(last, "Missing %s: want, for each finding, a row, an item or a heading with its %s", n.Title, n.Each.Kind)
}

// counts wants so many units of each kind. Without ids, the items and rows below a title
// that names one kind are units.
func (r *run) counts(f *findings, n need, units map[string]*unit, at place) {
	counts, total, want := map[string]int{}, len(units), 0
	for _, u := range units {
		at = u.place
		for kind := range u.kinds {
			counts[kind]++
		}
	}
	for _, d := range r.docs {
		for i := 0; i < len(d.parts) && len(units) == 0; i++ {
			kinds := r.words.find(d.parts[i].words, n.Each.Kind+":")
			if d.parts[i].kind != aTitle || len(kinds) == 0 || slices.ContainsFunc(kinds, func(k string) bool { return k != kinds[0] }) {
				continue
			}
			for _, p := range d.parts[i+1 : d.parts[i].end] {
				if p.kind == anItem && p.level <= 1 || p.kind == aRow && p.level > 0 {
					total++
					counts[kinds[0]]++
				}
			}
		}
	}
	for _, number := range n.Each.Count {
		want += number
	}
	if total != want {
		f.fail(at, "%d %s: want %d", total, n.Title, want)
		return
	}
	for _, kind := range slices.Sorted(maps.Keys(n.Each.Count)) {
		if counts[kind] != n.Each.Count[kind] {
			f.fail(at, "%d %s among the %s: want %d", counts[kind], kind, n.Title, n.Each.Count[kind])
		}
	}
}

var partOf = patterns.Lazy(`[()|/\[\]:–—]|\s-\s`)

// units returns the headings, rows, items and members that begin with an id, by the id.
func (r *run) units(e *each) map[string]*unit {
	list := map[string]*unit{}
	for _, d := range r.docs {
		for i := range d.parts {
			p := &d.parts[i]
			text, around := p.label, i
			switch {
			case p.kind == anItem:
				if at := e.id.FindStringIndex(p.text); at != nil && at[0] < 4 {
					text = p.text
				}
			case p.kind == aMember && p.json == '"' && isID(p.label) && p.parent >= 0 && e.id.MatchString(p.text):
				text, around = p.text, p.parent
			case p.kind == aMember && len(e.id.FindString(p.label)) != len(p.label):
				continue
			}
			id := strings.NewReplacer("_", "", " ", "").Replace(e.id.FindString(text))
			if len(e.IDs) == 0 {
				id = strings.ReplaceAll(id, "-", "")
			}
			if id == "" {
				continue
			}
			if list[id] == nil {
				list[id] = &unit{p.place, map[string]bool{}}
			}
			for _, kind := range r.kinds(d, around, e) {
				list[id].kinds[kind] = true
			}
		}
	}
	return list
}

// kinds returns the words of a kind that a part has. If the need counts kinds, a piece of
// more than three words does not count. For a heading, the words of the heading count
// first, then those at the kind's label below it.
func (r *run) kinds(d *document, i int, e *each) []string {
	p := &d.parts[i]
	if len(e.Count) == 0 {
		return r.words.find(tokens(fold(d.wordsOf(i))), e.Kind)
	}
	text := d.wordsOf(i)
	if p.kind == aTitle {
		text = p.label
	}
	var found []string
	for _, piece := range partOf().Split(text, -1) {
		words := tokens(fold(piece))
		if len(words) > 0 && words[0].word == e.Kind {
			words = words[1:]
		}
		if len(words) <= 3 {
			found = append(found, r.words.find(words, e.Kind+":")...)
		}
	}
	for _, one := range r.of(e.Kind) {
		if len(found) == 0 && p.kind == aTitle && one.doc == d && one.part > i && one.part < p.end {
			found = append(found, r.words.find(tokens(fold(one.content)), e.Kind+":")...)
		}
	}
	return found
}

// plain returns the value of a member as the JSON packages have it, nil if its text does
// not parse.
func (d *document) plain(p *part) any {
	var value any
	for _, j := range d.JSON {
		if j.Start <= p.offset && p.offset < j.End {
			value = j.Value
		}
	}
	for step := range p.pointer.Tokens() {
		switch v := value.(type) {
		case map[string]any:
			value = v[step]
		case []any:
			i, _ := strconv.Atoi(step)
			value = v[i]
		}
	}
	return value
}
