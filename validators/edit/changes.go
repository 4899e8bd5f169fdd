package edit

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/validators/edit/markers"
	"github.com/seed61713e19/capstan/validators/reading"
)

// A changeFact is one thing that the candidate text has changed, and who
// answers for it. What nobody answers for is a warning.
type changeFact struct {
	reading.Change
	graded
	key  string // by which a judgement speaks of it
	asks bool   // the direction asks for this very change
}

// maxChanges is how many changes are told one by one.
const maxChanges = 60

// compare reads both texts and finds what differs in what they are to keep.
// Where there is nothing left that shows, there is no candidate. A text that is
// too long or too tangled to be read is told as such, and is a person's then.
func (in *input) compare(r *reader) {
	unread := func(err error) {
		in.differing = []reading.Change{{Kind: kindUnread, Now: "nobody has looked at what numbers, links and the like have changed: " + err.Error()}}
		in.unread = true
	}
	old, err := reading.Read(in.pages[0].body)
	if err != nil {
		unread(err)
		return
	}
	now, err := reading.Read(in.pages[1].body)
	if err != nil {
		unread(err)
		return
	}
	if !shows(now) {
		r.at(nil, "nothing of the text is left that a reader could see")
		return
	}
	in.differing = in.unmarked(reading.Compare(old, now))
	matter := strings.Count(in.candidate[:len(in.candidate)-len(in.pages[1].body)], "\n")
	for i := range in.differing {
		in.differing[i].Line += matter
	}
	in.differing = append(in.differing, reading.Unseen(in.raw[0], in.raw[1])...)
}

// unmarked are changes without the word of gap markers, which the gap policy answers
// for where it stands nowhere else that is new.
func (in *input) unmarked(list []reading.Change) []reading.Change {
	m := markers.Parse(in.status.markFormat)
	at := slices.IndexFunc(list, func(c reading.Change) bool { return c.Kind == reading.Names && c.Old == "" && m.Named(c.Now) })
	if at < 0 {
		return list
	}
	good, _ := m.New(in.pages[0].body, in.pages[1].body)
	if word := list[at].Now; strings.Count(in.pages[1].body, word) != strings.Count(in.pages[0].body+strings.Join(good, "\n"), word) {
		return list
	}
	return slices.Delete(list, at, at+1)
}

// What is told of changes that are not told one by one.
const (
	kindUnread reading.Kind = "unread"
	kindMore   reading.Kind = "more"
)

// shows tells whether there is anything in a text that a reader sees.
func shows(t reading.Text) bool {
	return slices.ContainsFunc(t.Blocks, func(b reading.Block) bool {
		return reading.Visible(b.Words) != "" || slices.ContainsFunc(b.Things, func(t reading.Thing) bool {
			return t.Kind == reading.Code || t.Kind == reading.Images || strings.Contains(t.Text, "<img")
		})
	})
}

// sameToReaders tells whether the texts differ only in what no reader sees.
func (in *input) sameToReaders() bool {
	if in.unread {
		return false
	}
	shown := slices.ContainsFunc(in.differing, func(c reading.Change) bool { return c.Kind != reading.Invisible })
	return !shown && reading.Visible(in.pages[0].body) == reading.Visible(in.pages[1].body)
}

// changes are the differences as facts. Each has a key of its own that is the
// same for the same change and no other, so that a judgement of another
// candidate cannot answer for it.
func (in *input) changes() []changeFact {
	if len(in.unreadable) > 0 {
		return nil
	}
	var out []changeFact
	seen := map[string]int{}
	for i, c := range in.differing {
		if i == maxChanges {
			rest := reading.Change{Kind: kindMore, Now: fmt.Sprintf("%d more changes are not told one by one", len(in.differing)-i)}
			return append(out, changeFact{Change: rest, key: "more"})
		}
		said := fmt.Sprintf("%s\x00%s\x00%s", c.Kind, c.Old, c.Now)
		seen[said]++
		sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d", said, seen[said]))
		out = append(out, changeFact{Change: c, key: fmt.Sprintf("%s-%x", c.Kind, sum[:3])})
	}
	return out
}

// askedChanges are the changes as a judge is asked about them.
func (in *input) askedChanges() []any {
	out := []any{}
	for _, c := range in.changes() {
		out = append(out, map[string]any{"key": c.key, "kind": string(c.Kind), "text": clean(c.said()), "old": clean(c.Old), "now": clean(c.Now), "line": c.Line})
	}
	return out
}

func (c changeFact) said() string {
	switch c.Kind {
	case kindUnread, kindMore:
		return c.Now
	}
	return c.String()
}

// judgeChanges lets the direction and the judgement answer for changes: the
// direction for one that it names, the judgement for one that it passes by its
// key. A change that is judged to be no part of the direction fails it.
func (f *facts) judgeChanges(j *judgement, d *direction) {
	wants := newWants(d.wants)
	known := map[string]int{}
	for i := range f.changes {
		c := &f.changes[i]
		known[c.key] = i
		c.result, c.asks = Warn, wants.ask(c.Change)
		if c.asks {
			c.result = Pass
		}
	}
	times := map[string]int{}
	for _, g := range j.changes {
		i, ok := known[g.key]
		if !ok {
			f.strange = append(f.strange, "change "+brief(g.key)+" was judged and is not in the candidate")
			continue
		}
		c := &f.changes[i]
		if times[g.key]++; times[g.key] > 1 {
			g.result = worst(c.result, g.result)
		}
		if c.key != "more" {
			c.result = g.result
		}
		c.notes = g.notes
		if g.result == Fail {
			f.direction.result = Fail
			f.direction.notes = append(f.direction.notes, c.said()+because(g.notes))
		}
	}
}

// doubt asks about a change that nobody answers for.
func (c changeFact) doubt(out *doubts) {
	if c.result != Warn {
		return
	}
	location := ""
	if c.Line > 0 {
		location = fmt.Sprintf("line %d", c.Line)
	}
	out.add(string(c.Kind), location, "Is this change meant? "+sentence(clean(c.said()+because(c.notes))), "%s", c.said()+because(c.notes))
}

// noteChanges tells of every change in the section of the direction, which is
// what a change has to come from.
func (r *Report) noteChanges(list []changeFact) {
	for _, c := range list {
		answer := "nobody asked for it"
		switch {
		case c.result == Pass && c.asks:
			answer = "the direction asks for it"
		case c.result == Pass:
			answer = "judged to be meant" + because(c.notes)
		case c.result == Fail:
			answer = "judged to be no part of the direction"
		case len(c.notes) > 0:
			answer = "judged doubtful" + because(c.notes)
		}
		if c.result == Warn {
			r.Direction.Result = worst(r.Direction.Result, Warn)
		}
		r.Direction.Notes = append(r.Direction.Notes, fmt.Sprintf("%s: %s [%s]", c.said(), answer, c.key))
	}
}
