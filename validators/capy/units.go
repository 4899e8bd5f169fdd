package capy

import (
	"fmt"
	"github.com/seed61713e19/capstan/validators/patterns"
	"regexp"
	"strings"

	"github.com/seed61713e19/capstan/internal/reading"
)

var sentenceEnd = patterns.Lazy(`[;.?!]\s`)

// needsScenarios wants P and M of S1 to S4.
func (r *run) needsScenarios(f *findings, last place) {
	for n := 1; n <= 4; n++ {
		at, p, m := r.scenarioPlace(n), false, false
		for i := range r.facts {
			one := &r.facts[i]
			if one.scenario != n || one.hidden || one.form == inHeading {
				continue
			}
			said := sentenceEnd().Split(one.said, 2)[0]
			has := one.figure != nil || len(reading.Numbers(said)) > 0 || one.form == inKey && r.keyHolds(need{Holds: "number"}, one)
			p = p || has && one.value == "p"
			m = m || has && one.value == "m"
		}
		switch {
		case at == nil:
			f.fail(last, "Missing scenario S%d with its P and M estimates", n)
			continue
		case !p && !m:
			f.fail(*at, "Scenario S%d has neither a P nor an M estimate", n)
		case !p:
			f.fail(*at, "Scenario S%d has no P estimate: want, for instance, P: 0.30", n)
		case !m:
			f.fail(*at, "Scenario S%d has no M estimate: want, for instance, M: -12%%", n)
		}
		last = *at
	}
}

// scenarioPlace returns the heading, row or object of a scenario.
func (r *run) scenarioPlace(n int) *place {
	for _, d := range r.docs {
		for i := range d.titles {
			if scenarioOf(tokens(fold(d.titles[i].text))) == n {
				return &place{d, d.titles[i].start}
			}
		}
		for i := range d.Tables {
			for _, row := range d.Tables[i].Rows {
				if scenarioOf(tokens(fold(row[0].Text))) == n {
					return &place{d, row[0].Start}
				}
			}
		}
		for i := range d.nodes {
			if d.nodes[i].kind == '{' && d.scenario(i) == n {
				return &place{d, d.nodes[i].offset}
			}
		}
	}
	for i := range r.facts {
		if r.facts[i].scenario == n && r.facts[i].form == inLine {
			return &r.facts[i].place
		}
	}
	return nil
}

var findingID = patterns.Lazy(`\b(?:F|RT|RTF|CF|ACC|SC)[-_ ]?\d{1,3}\b`)

// needsDispositions wants a disposition of every finding that a heading, a row, an item or
// an object is about.
func (r *run) needsDispositions(f *findings, name string, n need, last place) {
	disposed := map[string]bool{}
	places := map[string]place{}
	for _, unit := range r.units(findingID()) {
		id := strings.NewReplacer("-", "", "_", "", " ", "").Replace(unit.id)
		if _, known := places[id]; !known {
			places[id] = unit.place
		}
		disposed[id] = disposed[id] || r.words.has(tokens(fold(unit.text)), "disposition")
	}
	for _, id := range sortedKeys(places) {
		if !disposed[id] {
			f.fail(places[id], "Finding %s has no disposition", id)
		}
	}
	if len(places) > 0 {
		return
	}
	for _, one := range r.of(name) {
		if one.form != inHeading && one.said != "" && !r.filler(one.said) {
			return
		}
		words := tokens(fold(clipped(one.body.In(one.doc.Source))))
		if one.form == inHeading && r.section(one.doc, one.body).enough(r.policy.Minimum) && r.words.has(words, "disposition") {
			return
		}
	}
	f.fail(last, "Missing %s: want, for each finding, a row, an item or a heading with its %s", n.Title, "disposition")
}

// A unit is a heading with its section, a row, an item or an object that begins with an
// id.
type unit struct {
	id   string
	text string
	place
	form form
}

// units returns what is about an id.
func (r *run) units(id *regexp.Regexp) []unit {
	var list []unit
	for _, d := range r.docs {
		for i := range d.titles {
			t := &d.titles[i]
			for _, found := range id.FindAllString(t.text, 1) {
				list = append(list, unit{found, t.text + "\n" + clipped(t.body.In(d.Source)), place{d, t.start}, inHeading})
			}
		}
		for i := range d.Tables {
			for _, row := range d.Tables[i].Rows {
				if found := id.FindString(row[0].Text); found != "" {
					list = append(list, unit{found, strings.Join(texts(row), " | "), place{d, row[0].Start}, inCell})
				}
			}
		}
		for i := range d.Blocks {
			b := &d.Blocks[i]
			if at := id.FindStringIndex(b.Text); b.Kind == reading.ItemBlock && at != nil && at[0] < 4 {
				list = append(list, unit{b.Text[at[0]:at[1]], b.Text, place{d, b.Start}, inLine})
			}
		}
		for i := range d.nodes {
			m := &d.nodes[i]
			if m.kind == '"' && m.parent >= 0 && d.nodes[m.parent].kind == '{' && isID(m.key) && id.MatchString(m.text) {
				list = append(list, unit{id.FindString(m.text), d.strings(m.parent), place{d, m.offset}, inKey})
			} else if found := id.FindString(m.key); found != "" && len(found) == len(m.key) {
				list = append(list, unit{found, d.strings(i), place{d, m.offset}, inKey})
			}
		}
	}
	return list
}

// maxUnit is how much of a section is looked at for a word, in bytes.
const maxUnit = 16 << 10

func clipped(text string) string { return text[:min(len(text), maxUnit)] }

func isID(key string) bool {
	key = strings.ToLower(key)
	return key == "id" || key == "rq" || key == "finding" || strings.HasSuffix(key, "_id") || strings.HasSuffix(key, "_number")
}

// maxParts is how many keys and scalars of a value are looked at for a word.
const maxParts = 200

// strings returns the first keys and scalars of a value.
func (d *document) strings(from int) string {
	var b strings.Builder
	for i := from; i < min(d.nodes[from].end, from+maxParts); i++ {
		fmt.Fprintf(&b, "%s %s | ", d.nodes[i].key, d.nodes[i].text)
	}
	return b.String()
}
