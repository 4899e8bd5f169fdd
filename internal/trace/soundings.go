package trace

import (
	"reflect"
	"slices"

	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner/event"
)

// Filter is [event.Filter].
const Filter = event.Filter

// Won returns the number of the winning sounding, from 0, or -1 if it is unknown.
// The winner has the released attempt, a verdict of a post-ward, or a text that
// matches the output. Otherwise it is the only sounding that left a text.
func (p *Phase) Won() int {
	same, left := -1, map[int]bool{}
	for _, a := range p.Attempts {
		if a.Sounding < 0 {
			return -1
		}
		if a.Path == p.Released {
			return a.Sounding // another attempt may have the same text
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

// Last returns the latest attempt of the visit, or nil. If a sounding has won, it
// returns the latest attempt of that sounding.
func (p *Phase) Last() *Attempt {
	if a := p.last(p.Won()); a != nil || len(p.Attempts) == 0 {
		return a
	}
	return p.Attempts[len(p.Attempts)-1]
}

// Left reports whether the attempt of a sounding left a text that can win: the
// attempt succeeded, and the filter passed its text.
func (a *Attempt) Left() bool {
	return a.Sounding >= 0 && a.Status == "succeeded" && !slices.ContainsFunc(a.Verdicts, func(v Verdict) bool {
		return v.IsFilter() && (v.Valid == nil || !*v.Valid)
	})
}

// matches reports whether the output is the text of the attempt, or its JSON value.
func (a *Attempt) matches(output any) bool {
	if text, ok := output.(string); ok {
		return text == a.Text
	}
	was, err := schema.Plain(output)
	parsed, wrong := schema.Parse([]byte(a.Text))
	return err == nil && wrong == nil && reflect.DeepEqual(was, parsed)
}
