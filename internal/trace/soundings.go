package trace

import (
	"reflect"
	"slices"

	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner/event"
)

// Filter is [event.Filter].
const Filter = event.Filter

// Won is the sounding that was picked, from 0: the one that post-wards judged,
// whose text the visit let out, or that alone was not lost. It is -1 where
// there are none, and where nothing tells.
func (p *Phase) Won() int {
	same, left := -1, map[int]bool{}
	for _, a := range p.Attempts {
		if a.Sounding < 0 {
			return -1
		}
		if a.Path == p.Released {
			return a.Sounding // another may have said the same
		}
		if slices.ContainsFunc(a.Verdicts, func(v Verdict) bool { return v.CheckMoment() == "post" }) {
			return a.Sounding
		}
		if !a.Left() {
			continue
		}
		left[a.Sounding] = true
		if same < 0 && p.Output != nil && a.matches(p.Output) {
			same = a.Sounding
		}
	}
	if same < 0 && p.Output != nil && len(left) == 1 {
		for same = range left {
		}
	}
	return same
}

// Last is the attempt that the visit came to last: of soundings, the newest of
// the one that was picked. It is nil where there are none.
func (p *Phase) Last() *Attempt {
	if a := p.last(p.Won()); a != nil || len(p.Attempts) == 0 {
		return a
	}
	return p.Attempts[len(p.Attempts)-1]
}

// Left tells whether the attempt of a try left a text to pick from.
func (a *Attempt) Left() bool {
	return a.Sounding >= 0 && a.Status == "succeeded" && !slices.ContainsFunc(a.Verdicts, func(v Verdict) bool {
		return v.IsFilter() && (v.Valid == nil || !*v.Valid)
	})
}

// matches reports whether an output is the attempt's text, or the JSON in it.
func (a *Attempt) matches(output any) bool {
	if text, ok := output.(string); ok {
		return text == a.Text
	}
	was, err := schema.Plain(output)
	parsed, wrong := schema.Parse([]byte(a.Text))
	return err == nil && wrong == nil && reflect.DeepEqual(was, parsed)
}
