package capy

import (
	"maps"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/internal/reading"
	"github.com/seed61713e19/capstan/validators/patterns"
	"github.com/seed61713e19/capstan/validators/schema"
)

// need checks a part or value of the row besides the artifacts.
func (r *run) need(f *findings, name string, last place) {
	n, ok := r.policy.Needs[name]
	switch {
	case !ok:
		r.needsValue(f, name, last)
	case n.Holds == "scenarios":
		r.needsScenarios(f, last)
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
	var named, thin *fact
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
	if n.Artifact != "" {
		if p := r.artifact(n.Artifact); p != nil && p.nope == "" {
			return
		}
	}
	wanted := strings.TrimSuffix(strings.Replace(n.Holds, "content", "value", 1), "s")
	switch {
	case name == "jpd" && len(r.joint()) > 0:
	case thin != nil:
		f.warn(thin.place, "Question: is this %s? Its content is under the minimum", n.Title)
	case named != nil:
		f.fail(named.place, "%s named, but without a %s", n.Title, wanted)
	default:
		f.fail(last, "Missing %s: want a heading, a label, a table or a JSON key that names it, with a %s", n.Title, wanted)
	}
}

// others reports whether a heading also names another part of the same row. A title that
// names several narratives is not the heading of one.
func (r *run) others(one *fact, name string) bool {
	return slices.ContainsFunc(r.stage.Needs, func(other string) bool {
		return other != name && r.policy.Needs[other].Holds == "words" && slices.ContainsFunc(r.of(other), func(o *fact) bool {
			return o.form == inHeading && o.place == one.place
		})
	})
}

// holds reports whether a fact has what a need wants, and whether that is under the
// minimum.
func (r *run) holds(n need, one *fact) (held, thin bool) {
	d, from := one.doc, one.part+1
	switch said := one.said; {
	case one.form == inHeading:
		return r.sectionHolds(n, one, from, one.of().end)
	case one.form == inKey:
		return r.keyHolds(n, one), false
	case said == "" && one.form == inLine:
		to := from
		for to < len(d.parts) && d.parts[to].kind != aTitle {
			to++
		}
		return r.sectionHolds(n, one, from, to)
	case n.Holds == "number":
		return len(reading.Numbers(said)) > 0 && !r.filler(said), false
	case n.Holds == "grade":
		return graded(said), false
	default:
		return said != "" && !r.filler(said), false
	}
}

var bracket = patterns.Lazy(`\(([^)]*)\)`)

// sectionHolds reports whether the parts below a title or a label have what a need wants.
func (r *run) sectionHolds(n need, one *fact, from, to int) (held, thin bool) {
	d := one.doc
	m := r.measure(d, from, to)
	if _, value, ok := reading.CutLabel(one.said); ok && !m.any() {
		return value != "" && !r.filler(value), false
	}
	if b := bracket().FindStringSubmatch(one.said); !m.any() || !m.enough(r.policy.Minimum) && m.filler || b != nil && r.filler(b[1]) {
		return false, false
	}
	switch n.Holds {
	case "words":
		return m.words+m.items+m.rows >= n.Words || m.enough(r.policy.Minimum), false
	case "number":
		if slices.ContainsFunc(r.of(one.value), func(o *fact) bool {
			return o.form != inHeading && o.doc == d && o.part >= from && o.part < to
		}) {
			return false, false // that decides
		}
		return slices.ContainsFunc(d.parts[from:to], func(p part) bool { return p.kind != aTitle && len(reading.Numbers(p.text)) > 0 }), false
	case "grade":
		return slices.ContainsFunc(append(slices.Clone(r.of("grade")), r.of("pipeline_fit")...), func(g *fact) bool {
			return g.doc == d && g.part >= from && g.part < to && graded(g.said)
		}) || slices.ContainsFunc(d.parts[from:to], func(p part) bool { return len(p.text) < 6 && graded(p.text) }), false
	}
	return true, !m.enough(&minimum{Rows: 1, Leaves: 1, Items: 1, Words: 8})
}

var letterGrade = patterns.Lazy(`^[\s*_("'\x60]*[A-F](?:[+\-−–]|\\[+-])?(?:[\s*_)"'.,;:/\x60]|$)`)

func graded(text string) bool { return letterGrade().MatchString(text) }

// keyHolds reports whether a member of JSON has what a need wants.
func (r *run) keyHolds(n need, one *fact) bool {
	d, at := one.doc, one.of()
	any := func(holds func(p part) bool) bool { return slices.ContainsFunc(d.parts[one.part:at.end], holds) }
	switch n.Holds {
	case "number":
		return any(func(p part) bool { return p.json == '0' || p.json == '"' && r.number(fold(p.text)) != nil })
	case "grade":
		return at.json == '"' && graded(at.text) || any(func(p part) bool {
			return p.json == '"' && graded(p.text) && strings.Contains(strings.ToLower(p.label), "grade")
		})
	case "words":
		return at.json == '"' && len(strings.Fields(at.text)) >= n.Words
	}
	return r.inside(d, one.part).any() || at.json == '[' && at.end == one.part+1
}

// of returns the part that a fact is in.
func (one *fact) of() *part { return &one.doc.parts[one.part] }

// needsScenarios wants P and M of S1 to S4.
func (r *run) needsScenarios(f *findings, last place) {
	for n := 1; n <= 4; n++ {
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
			said := sentenceEnd().Split(one.said, 2)[0]
			has[one.value] = has[one.value] || one.figure != nil || len(reading.Numbers(said)) > 0 || one.form == inKey && r.keyHolds(need{Holds: "number"}, one)
		}
		switch {
		case !named:
			f.fail(last, "Missing scenario S%d with its P and M estimates", n)
		case !has["p"] && !has["m"]:
			f.fail(at, "Scenario S%d has neither a P nor an M estimate", n)
		case !has["p"]:
			f.fail(at, "Scenario S%d has no P estimate: want, for instance, P: 0.30", n)
		case !has["m"]:
			f.fail(at, "Scenario S%d has no M estimate: want, for instance, M: -12%%", n)
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

// needsEach wants units: exactly those of a list, so many of each kind, or each of a kind.
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
			return one.said != "" && !r.filler(one.said)
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
			found = append(found, r.words.find(tokens(fold(one.said)), e.Kind+":")...)
		}
	}
	return found
}

// plain returns the value of a member as the JSON packages have it.
func (d *document) plain(i int) any {
	switch p := &d.parts[i]; p.json {
	case '{':
		m := map[string]any{}
		for c := i + 1; c < p.end; c = d.parts[c].end {
			m[d.parts[c].label] = d.plain(c)
		}
		return m
	case '[':
		list := []any{}
		for c := i + 1; c < p.end; c = d.parts[c].end {
			list = append(list, d.plain(c))
		}
		return list
	case '0':
		v, _ := schema.Parse([]byte(p.text))
		return v
	case '"':
		return p.text
	case 't', 'f':
		return p.json == 't'
	}
	return nil
}
