package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/validators"
)

// tryOf returns the visit whose soundings contain a path, and the number of the
// sounding. The first number is 1, and 0 means no sounding.
func tryOf(at event.Path) (visit event.Path, number int) {
	for ; at.Parent() != ""; at = at.Parent() {
		if name, n, numbered := event.SplitIndex(at.Last()); numbered && name == "sounding" {
			return at.Parent(), n + 1
		}
	}
	return "", 0
}

// member returns the name of the phase of a group that a path is in, "" for none. The
// innermost group counts.
func (p *progress) member(at event.Path) string {
	for ; at != ""; at = at.Parent() {
		if name, ok := p.members[at]; ok {
			return name
		}
	}
	return ""
}

// grouped tracks the open phases and the members of groups. A member begins
// directly below another phase.
func (p *progress) grouped(e event.Event) {
	switch e.Kind {
	case event.PhaseStarted:
		if p.open[e.Path.Parent()] && !isItem(e.Path) {
			p.members[e.Path] = e.Phase
		}
		p.open[e.Path] = true
	case event.PhaseFinished:
		delete(p.open, e.Path)
	}
}

func isItem(at event.Path) bool {
	name, _, numbered := event.SplitIndex(at.Last())
	return numbered && name == "item"
}

// label returns the phase of a group, the item and the sounding of a path, with
// a space at the end, or "".
func (p *progress) label(at event.Path) string {
	text := ""
	if name := p.member(at); name != "" {
		text = name + ": "
	}
	if _, item := itemOf(at); item != "" {
		text = item + " "
	}
	if _, n := tryOf(at); n > 0 {
		text += fmt.Sprintf("try %d ", n)
	}
	return text
}

// A contest is the state of a visit's soundings: their number and the
// evaluator's reason.
type contest struct {
	tries   int
	judged  bool
	because string
}

// contested updates the contest of an event.
func (p *progress) contested(e event.Event) {
	if visit, n := tryOf(e.Path); n > 0 && e.Kind == event.AttemptStarted {
		c := p.contests[visit]
		c.tries = max(c.tries, n)
		p.contests[visit] = c
		return
	}
	visit, model, found := strings.Cut(string(e.Path), "/evaluator/")
	if !found || e.Kind != event.ModelReplied || !strings.HasPrefix(model, "model") {
		return
	}
	if _, reason, err := validators.WinnerIn(e.Response.Text, math.MaxInt32); err == nil {
		c := p.contests[event.Path(visit)]
		c.judged, c.because = true, reason
		p.contests[event.Path(visit)] = c
	}
}

// won prints the picked sounding of a visit and the reason.
func (p *progress) won(e event.Event) {
	c, ok := p.contests[e.Path]
	visit, n := tryOf(e.Released)
	delete(p.contests, e.Path)
	if !ok || n == 0 || visit != e.Path {
		return
	}
	reason := "the first that passed, or the highest score"
	if c.judged {
		reason = oneLine(c.because)
	}
	p.line("  %s %stry %d of %d picked: %s", p.styled(green, "→"), p.label(e.Path), n, c.tries, reason)
}

// knows sets the cascade, so that unnamed checks are printed with their
// expressions.
func (p *progress) knows(c *cascades.Cascade) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cascade = c
}

// checkName returns the printed name of a check. A check without a name has the
// text of its expression, if the cascade is known.
func checkName(c *cascades.Cascade, v *event.Verdict) string {
	if v.Validator != "expr" || c == nil {
		return oneLine(v.Validator)
	}
	return strings.TrimSpace("expr " + oneLine(c.Unnamed(v.Phase, v.CheckMoment(), v.Index())))
}
