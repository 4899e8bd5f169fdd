package capy

import (
	"cmp"
	"math"
	"slices"
)

// derivationCheck is check 6: the policy's value is the mean of the others, in the text
// and in its JSON, and a divergence is flagged.
func (r *run) derivationCheck(f *findings) {
	d, v := r.policy.Derivation, r.policy.Values
	if d == nil || len(d.Mean) != 2 {
		return
	}
	results := [2][]*fact{r.derived(d.Value, false), r.derived(d.Value, true)}
	var first, second [2]*fact
	for i := range results {
		first[i], second[i] = r.once(f, d.Mean[0], i == 1), r.once(f, d.Mean[1], i == 1)
	}
	for i := range results {
		a, b := cmp.Or(first[i], first[1-i]), cmp.Or(second[i], second[1-i])
		if len(results[i]) == 0 {
			results[i] = results[1-i]
		}
		if a == nil || b == nil {
			return
		}
		mean := (a.figure.Value + b.figure.Value) / 2
		for _, result := range results[i] {
			if math.Abs(result.figure.Value-mean) > max(d.Tolerance, 0.5*math.Pow10(-result.figure.Decimals))+1e-9 {
				shown := v[d.Value].shown
				f.fail(result.place, "%s is %s, but the mean of %s %s and %s %s is %s", v[d.Value].Title, shown(result.figure.Value),
					v[d.Mean[0]].Title, shown(a.figure.Value), v[d.Mean[1]].Title, shown(b.figure.Value), shown(mean))
			}
		}
	}
	a, b := cmp.Or(first[0], first[1]), cmp.Or(second[0], second[1])
	if difference := math.Abs(a.figure.Value - b.figure.Value); difference > d.Divergence+1e-9 && !r.flagged() {
		f.warn(b.place, "%s and %s differ by %.4g, more than %.4g, and nothing flags it",
			v[d.Mean[0]].Title, v[d.Mean[1]].Title, difference, d.Divergence)
	}
}

// derived returns the numbers of a value in the text, or in its JSON.
func (r *run) derived(name string, inJSON bool) []*fact {
	return slices.DeleteFunc(slices.Clone(r.of(name)), func(one *fact) bool {
		return !one.counts() || (one.form == inKey) != inJSON || one.figure.To != nil || one.doc != r.text
	})
}

// once returns the first number of a value. Any other form is a warning.
func (r *run) once(f *findings, name string, inJSON bool) *fact {
	list := r.derived(name, inJSON)
	if len(list) == 0 {
		return nil
	}
	for _, one := range list[1:] {
		if math.Abs(list[0].figure.Value-one.figure.Value) > 0.5*math.Pow10(-min(list[0].figure.Decimals, one.figure.Decimals))+1e-9 {
			v := r.policy.Values[name]
			f.warn(one.place, "%s is %s here and %s on line %d", v.Title, v.shown(one.figure.Value), v.shown(list[0].figure.Value), list[0].line())
		}
	}
	return list[0]
}

// flagged reports whether a line or a member of JSON that names the divergence flags it.
func (r *run) flagged() bool {
	for i := range r.text.parts {
		p := &r.text.parts[i]
		names, flags := tokens(fold(p.text)), tokens(fold(p.text))
		switch p.kind {
		case aTitle:
			names, flags = p.words, p.words
		case aMember:
			names, flags = p.words, tokens(fold(r.text.wordsOf(i)))
		case aCode:
			continue
		}
		if r.words.has(names, "divergence") && r.words.has(flags, "flag") {
			return true
		}
	}
	return false
}
