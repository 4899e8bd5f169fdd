package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/validators"
)

// tryOf is the visit whose soundings a path is in and which of them it is, from
// 1; 0 for none.
func tryOf(at event.Path) (visit event.Path, number int) {
	for ; at.Up() != ""; at = at.Up() {
		if name, n, numbered := event.Numbered(at.Last()); numbered && name == "sounding" {
			return at.Up(), n + 1
		}
	}
	return "", 0
}

// member returns the name of the phase of a group that a path is in, "" for none. The
// innermost group counts.
func (p *progress) member(at event.Path) string {
	for ; at != ""; at = at.Up() {
		if name, ok := p.members[at]; ok {
			return name
		}
	}
	return ""
}

// grouped notes the phases that are open, and which of them are members of a group:
// those that began directly below another.
func (p *progress) grouped(e event.Event) {
	switch e.Kind {
	case event.PhaseStarted:
		if p.open[e.Path.Up()] && !isItem(e.Path) {
			p.members[e.Path] = e.Phase
		}
		p.open[e.Path] = true
	case event.PhaseFinished:
		delete(p.open, e.Path)
	}
}

func isItem(at event.Path) bool {
	name, _, numbered := event.Numbered(at.Last())
	return numbered && name == "item"
}

// label says which phase of a group, which item and which try a path is in, with a
// blank behind it; "" for none of them.
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

// A contest is what is known of a visit's soundings: how many there are, and why
// the evaluator picks the one that it picks.
type contest struct {
	tries   int
	judged  bool
	because string
}

// contested notes what an event says of soundings.
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

// won tells which of a visit's soundings was picked, and why.
func (p *progress) won(e event.Event) {
	c, ok := p.contests[e.Path]
	visit, n := tryOf(e.Released)
	delete(p.contests, e.Path)
	if !ok || n == 0 || visit != e.Path {
		return
	}
	why := "the first that passed, or the highest score"
	if c.judged {
		why = oneLine(c.because)
	}
	p.line("  %s %stry %d of %d picked: %s", p.styled(green, "→"), p.label(e.Path), n, c.tries, why)
}

// knows has checks without a name told by their text.
func (p *progress) knows(c *cascades.Cascade) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cascade = c
}

// checkName is a check as it is told: its name, or the text of an expression without
// one, where its cascade is known.
func checkName(c *cascades.Cascade, v *event.Verdict) string {
	if v.Validator != "expr" || c == nil {
		return oneLine(v.Validator)
	}
	return strings.TrimSpace("expr " + oneLine(c.Unnamed(v.Phase, v.Asked(), v.Index())))
}
