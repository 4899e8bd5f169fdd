package journal

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
)

// shared is what a run may take from its parent.
type shared struct {
	run   string
	kept  map[event.Path]kept
	begun begun
	files bool    // the cascade is the same, so its validators are
	from  string  // the phase from which on nothing is taken; "" for none
	up    *shared // what the parent would still take from its own: of one that has not come to its end; nil for nothing
}

// begun are writes of which a run has not heard the end.
type begun map[event.Path]writing

// A writing is a call that has begun.
type writing struct {
	asked print  // nil where a version that did not keep it began it
	by    string // the run that began it first; "" for the one that has it
}

// note takes up one row of the run after the other.
func (b begun) note(l logged) {
	switch {
	case l.kind == writeBegins:
		b[l.path] = writing{l.print, strings.Trim(string(l.json()), `"`)}
	case l.seq == 0:
		delete(b, l.path) // it has come to an end
	}
}

// has tells whether the write at a path may have been this one.
func (b begun) has(at event.Path, asked print) bool {
	was, ok := b[at]
	return ok && (len(was.asked) == 0 || was.asked.same(asked))
}

// at is who has come to a path first: the parent, or whom it shares with.
func (p *shared) at(path event.Path) *shared {
	for ; p != nil; p = p.up {
		_, done := p.kept[path]
		if _, open := p.begun[path]; done || open {
			return p
		}
	}
	return nil
}

// alike is the run whose lots a new one draws again, so that an evaluator is shown
// the same candidates in the same order: that which answers in its model's place,
// whose "winner": 1 means the first it was shown; or its parent. "" is none.
func (j *Journal) alike(s runner.Start) string {
	id := s.Parent
	if answers, ok := strings.CutPrefix(cascades.Chosen(s.Model).Default(), "replay:"); ok {
		id = answers
	}
	if id == "" {
		return ""
	}
	run, err := j.Run(context.Background(), id)
	if err != nil {
		return "" // who shares with it, or asks it, says why
	}
	return cmp.Or(run.Start.Alike, run.RunID)
}

// share reads what the parent's effects came to, and those of its own parents as far
// as it would share them.
func (j *Journal) share(s runner.Start) (*shared, error) {
	var first *shared
	next, child := &first, s
	for s.Parent != "" {
		p, parent, err := j.parentOf(s, child)
		if first != nil && errors.Is(err, runner.ErrNoRun) {
			break // it is not kept any more
		}
		if err != nil {
			return nil, err
		}
		*next = p
		next, s = &p.up, parent
	}
	return first, nil
}

// parentOf reads what a run shares with its parent, for the new run child. It
// also returns what the parent began with, which has no parent of its own if it takes
// nothing more from one.
func (j *Journal) parentOf(s, child runner.Start) (p *shared, start runner.Start, err error) {
	ctx := context.Background()
	p = &shared{run: s.Parent, kept: map[event.Path]kept{}, begun: begun{}, from: s.From}
	err = j.reading(ctx, func(c *conn) error {
		found, err := c.one(ctx, "SELECT n, status, broke FROM run WHERE id = ?", s.Parent)
		if err != nil {
			return err
		}
		if found == nil {
			return runner.ErrNoRun
		}
		n := integer(found[0])
		if start, err = j.readStart(ctx, c, n, j.secrets.asItWas()); err != nil {
			return err
		}
		p.files = start.SamePrograms(child) && slices.EqualFunc(start.Files, child.Files, func(a, b cascades.File) bool {
			return a.Name == b.Name && bytes.Equal(a.Text, b.Text)
		})
		if word(found[1]) == engine.Succeeded {
			start.Parent = "" // it has come to its end, and has what it took
		}
		rows, err := j.readRows(ctx, c, n)
		all := readFallen(word(found[2]))
		for _, l := range rows {
			p.begun.note(l)
			if isEffect(l.kind) && l.print != nil && !all.useless(l.kind, l.path) {
				p.kept[l.path] = kept{l.row, l.kind, l.print, l.json()}
			}
			if start.From != "" && phaseOf(l.path) == start.From {
				start.Parent = ""
			}
		}
		return err
	})
	return p, start, err
}

// part ends the sharing where the run, or one that it shares with, does everything
// anew from the phase on. It is called with r.mu held.
func (r *recording) part(at event.Path) {
	for p := &r.shared; *p != nil; p = &(*p).up {
		if (*p).from != "" && phaseOf(at) == (*p).from {
			*p = nil
			return
		}
	}
}

// fromParent is what the parent's effect at the path came to, where it was
// asked the same. It costs nothing. What broke is not shared, nor what is asked again
// because it did, nor who stopped it.
func (r *recording) fromParent(w wanted, print print) (c came, found bool, err error) {
	r.mu.Lock()
	r.part(w.at)
	p, own := r.shared.at(w.at), r.begun[w.at.Up()]
	_, again := r.spent[w.at]
	r.mu.Unlock()
	if p == nil || print == nil || again {
		return c, false, nil
	}
	k, ok := p.kept[w.at]
	if !ok || k.kind != w.kind || !k.print.same(print) || w.kind == findingEffect && !p.files {
		return c, false, nil
	}
	if call := w.at.Up(); engine.Unfinished(call) == w.at && !p.begun.has(call, own.asked) {
		return c, false, nil // it is asked about a call of this run, which may say the same as far as the question tells it
	}
	if c, err = r.j.readEffect(k.data); err != nil || c.failed() || c.Result != nil && c.Result.Failed || c.Answer != nil && (c.Answer.Expired || engine.Stops(w.at, *c.Answer)) {
		return came{}, false, err
	}
	if c.Response != nil {
		c.Response.Usage = model.Usage{}
	}
	return c, true, nil
}
