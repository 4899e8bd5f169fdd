package schema

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed61713e19/capstan/internal/clips"
)

func (r *run) array(list []any) {
	a := r.n.array
	r.bounds("Items", len(list), a.min, a.max)
	if a.unique && !r.done() {
		r.unique(list)
	}
	for i, n := range a.prefix[:min(len(a.prefix), len(list))] {
		if !r.done() {
			r.child(n, step{index: i}, list[i])
		}
	}
	r.seen.first = max(r.seen.first, min(len(a.prefix), len(list)))
	if a.rest != nil {
		r.rest(list)
	}
	if a.contains != nil && !r.done() {
		r.contains(list)
	}
}

func (r *run) rest(list []any) {
	a, from := r.n.array, len(r.n.array.prefix)
	if a.rest.truth != nil && !*a.rest.truth && from < len(list) && a.restWord == "additionalItems" {
		r.fail("additionalItems", message(sentence("additionalItems", countInWords(from, "Items"), strconv.Itoa(len(list)))))
	} else {
		for i := from; i < len(list) && !r.done(); i++ {
			r.child(a.rest, step{index: i}, list[i])
		}
	}
	r.seen.all = true
}

func (r *run) unique(list []any) {
	if len(list) < 2 || !r.spend(byteSize(list, r.left)/8) {
		return
	}
	at := make(map[string]int, len(list))
	for i, v := range list {
		key := canonical(v)
		if first, again := at[key]; again {
			r.fail("uniqueItems", message(fmt.Sprintf("items at %d and %d are equal", first, i)))
			return
		}
		at[key] = i
	}
}

func (r *run) contains(list []any) {
	a := r.n.array
	var matched []string
	for i, v := range list {
		if !r.childValid(a.contains, step{index: i}, v, false) {
			continue
		}
		matched = append(matched, strconv.Itoa(i))
		if a.marks && r.unevaluated {
			r.seen.item(i)
		}
	}
	r.containsCount(matched)
}

// containsCount evaluates contains, minContains and maxContains for the items
// that match.
func (r *run) containsCount(matched []string) {
	a := r.n.array
	which := strconv.Itoa(len(matched))
	if len(matched) > 0 {
		which += clips.Bytes(" (at "+strings.Join(matched, ", ")+")", maxShown)
	}
	switch {
	case a.minContains < 0 && len(matched) == 0:
		r.fail("contains", func() Violation { return Violation{Message: sentence("contains", show(a.contains.raw))} })
	case len(matched) < a.minContains:
		r.fail("minContains", message(sentence("minContains", countInWords(a.minContains, "Items"), which)))
	}
	if a.maxContains >= 0 && len(matched) > a.maxContains {
		r.fail("maxContains", message(sentence("maxContains", countInWords(a.maxContains, "Items"), which)))
	}
}

func (r *run) object(object map[string]any) {
	o := r.n.object
	r.bounds("Properties", len(object), o.min, o.max)
	if missing := missingFrom(object, o.required); len(missing) > 0 {
		r.fail("required", func() Violation {
			words := "missing property "
			if len(missing) > 1 {
				words = "missing properties "
			}
			return Violation{Message: words + quotedAll(missing), Expected: strings.Join(missing, ", "), Got: "missing"}
		})
	}
	if r.done() {
		return
	}
	if len(o.patterns) == 0 && o.additional == nil && o.names == nil && !r.unevaluated && !r.report {
		r.namedProperties(object)
	} else {
		r.properties(object)
	}
	r.dependents(object)
}

// namedProperties evaluates only the properties that the schema names.
func (r *run) namedProperties(object map[string]any) {
	if o := r.n.object; len(o.properties) < len(object) {
		for name, n := range o.properties {
			if value, ok := object[name]; ok && !r.done() {
				r.child(n, step{name, -1}, value)
			}
		}
		return
	}
	for name, value := range object {
		if n := r.n.object.properties[name]; n != nil && !r.done() {
			r.child(n, step{name, -1}, value)
		}
	}
}

func (r *run) properties(object map[string]any) {
	o := r.n.object
	var extra []string
	for name, value := range object {
		if r.done() || !r.spend(1) {
			return
		}
		known := false
		if n := o.properties[name]; n != nil {
			known = true
			r.child(n, step{name, -1}, value)
		}
		for _, p := range o.patterns {
			if r.matches(p.re, name) {
				known = true
				r.child(p.n, step{name, -1}, value)
			}
		}
		if !known && o.additional != nil {
			known = true
			if o.additional.truth != nil && !*o.additional.truth {
				extra = append(extra, name)
			} else {
				r.child(o.additional, step{name, -1}, value)
			}
		}
		if known && r.unevaluated {
			r.seen.name(name)
		}
		if o.names != nil && !r.done() {
			r.propertyName(o.names, name)
		}
	}
	if len(extra) > 0 {
		r.fail("additionalProperties", func() Violation {
			slices.Sort(extra)
			return Violation{
				Message:  "additional properties " + quotedAll(extra) + " not allowed",
				Expected: "no other properties", Got: clips.Bytes(strings.Join(extra, ", "), maxShown),
			}
		})
	}
}

// propertyName evaluates the schema of propertyNames for a name. Failures are
// reported at the object.
func (r *run) propertyName(n *node, name string) {
	of := &place{value: name, parent: r.p.parent, step: r.p.step, depth: r.p.depth}
	if ok, _ := r.visit(n, of, r.sc, r.report); !ok {
		r.failed = true
	}
}

func (r *run) dependents(object map[string]any) {
	for _, d := range r.n.object.requires {
		if _, ok := object[d.property]; !ok || r.done() {
			continue
		}
		if missing := missingFrom(object, d.needs); len(missing) > 0 {
			r.fail(d.word, message("properties "+quotedAll(missing)+" required, if "+quoted(d.property)+" exists"))
		}
	}
	for _, d := range r.n.object.schemas {
		if _, ok := object[d.property]; ok && !r.done() {
			r.applyRef(d.n)
		}
	}
}

// missingFrom returns the names that are not properties of an object.
func missingFrom(object map[string]any, names []string) []string {
	var missing []string
	for _, name := range names {
		if _, ok := object[name]; !ok {
			missing = append(missing, name)
		}
	}
	return missing
}
