package trace

import (
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/runner/event"
)

// A Subject is the text that a question to a person is about, with the verdicts on
// it and the version before it.
type Subject struct {
	Attempt  event.Path // the attempt with the text
	Text     string
	Verdicts []event.Verdict // the last verdict of each check, in the order of the run
	Before   event.Path      // the attempt of the previous version; "" if there is none
	Previous string          // the text of the previous version
}

// Subject returns the text that a question is about, or nil. The verdicts include those on other attempts with the same text, because
// a later phase may ask about the output of an earlier phase.
//
// The previous version is the text of the phase's last question, which a person has
// seen. For the first question, it is the text of the previous attempt.
func (r *Run) Subject(question event.Path) *Subject {
	own, a := r.attempt(r.about[question])
	if a == nil {
		return nil
	}
	s := &Subject{Attempt: a.Path, Text: a.Text}
	before := r.seen(own, a)
	if before == nil {
		before = own.before(a)
	}
	places := map[check]int{}
	for p := range r.All() {
		for _, same := range p.Texts() {
			if same.Text != a.Text || same.Status == "" {
				continue
			}
			s.note(places, p.on(same))
			if b := p.before(same); before == nil && b != nil && b.Text != a.Text {
				before = b
			}
		}
	}
	if before != nil {
		s.Before, s.Previous = before.Path, before.Text
	}
	return s
}

// Passed returns the number of checks that passed the text.
func (s *Subject) Passed() int {
	n := 0
	for _, v := range s.Verdicts {
		if v.Valid != nil && *v.Valid {
			n++
		}
	}
	return n
}

// note adds verdicts. A later verdict of the same check replaces the earlier one.
func (s *Subject) note(places map[check]int, verdicts []event.Verdict) {
	for _, v := range verdicts {
		key := check{v.Phase + "/" + v.Path.Last(), v.CheckMoment(), v.Validator}
		if i, known := places[key]; known {
			s.Verdicts[i] = v
			continue
		}
		places[key] = len(s.Verdicts)
		s.Verdicts = append(s.Verdicts, v)
	}
}

// attempt returns the attempt at a path and its phase, or nil.
func (r *Run) attempt(at event.Path) (*Phase, *Attempt) {
	for p := range r.All() {
		if a := p.Attempt(at); a != nil && at != "" {
			return p, a
		}
	}
	return nil, nil
}

// seen returns the attempt with the text that a person saw before the attempt a, or
// nil. For an edit, it is the text that the person edited. Otherwise it is the text of
// the last question in an earlier visit to the phase.
func (r *Run) seen(own *Phase, a *Attempt) (last *Attempt) {
	if a.Edited {
		_, last = r.attempt(r.about[a.Path.Join("question")])
		return last
	}
	for p := range r.All() {
		if p == own {
			break
		}
		if p.Name != own.Name || p.Cascade != own.Cascade {
			continue
		}
		for _, answer := range p.Answers {
			if _, earlier := r.attempt(r.about[answer.Path]); earlier != nil {
				last = earlier
			}
		}
	}
	return last
}

// before returns the previous attempt of the same conversation, or nil.
func (p *Phase) before(a *Attempt) *Attempt {
	for _, v := range p.Versions() {
		if v.Attempt == a {
			return v.Before
		}
	}
	return nil
}

// on returns the verdicts on the text of an attempt: the verdicts of its last turn, and
// those on the whole attempt.
func (p *Phase) on(a *Attempt) []event.Verdict {
	var list []event.Verdict
	add := func(verdicts []Verdict) {
		for _, v := range verdicts {
			if !slices.Contains([]string{"pre", "tool", "result"}, v.Moment) {
				list = append(list, v.Verdict)
			}
		}
	}
	if n := len(a.Turns); n > 0 {
		add(a.Turns[n-1].Verdicts)
	}
	for i := range p.Verdicts { // of a phase that is a validator
		if strings.HasPrefix(string(p.Verdicts[i].Path), string(a.Path)+"/") {
			add(p.Verdicts[i : i+1])
		}
	}
	add(a.Verdicts)
	return list
}

// Unmet returns the names of the checks that an attempt must pass and did not pass: retry
// checks that failed, and skipped checks. It leaves out advisory and shadow checks. If a
// turn was repeated, only the verdicts on its last text count.
func (p *Phase) Unmet(a *Attempt) (names []string) {
	var turn event.Path
	for _, v := range p.on(a) {
		on := v.Path.Parent()
		if v.Moment == "turn" && on != turn {
			turn, names = on, nil
		}
		final := on == a.Path || on.Last() == "tool"
		failed := v.Skipped() && !v.NonBinding() || v.Valid != nil && !*v.Valid && v.Mode == "retry"
		if failed && (final || on == turn) {
			names = append(names, v.Validator)
		}
	}
	return names
}
