package journal

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/internal/codec"
	"github.com/seed61713e19/capstan/runner/journal/internal/stores"
	"github.com/seed61713e19/capstan/runner/model"
)

// parentEffects are the effects that a run may take from its parent.
type parentEffects struct {
	run           string
	effects       map[event.Path]storedEffect
	startedWrites startedWrites
	files         bool           // the files are the same, and so are the validators
	from          string         // the phase from which nothing is taken; default: none
	up            *parentEffects // the effects of the parent's own parent that an unfinished parent would still take; nil for none
}

// startedWrites are writing calls without a known end.
type startedWrites map[event.Path]startedWrite

// startedWrite is a call that has started.
type startedWrite struct {
	request codec.Fingerprint
	run     string // the run that started it first; "" for the run itself
}

// note adds one row of the run. Rows must be added in order.
func (b startedWrites) note(l codec.StoredRow) {
	switch {
	case l.Kind == codec.WriteStarts:
		b[l.Path] = startedWrite{l.Fingerprint, strings.Trim(string(l.JSON()), `"`)}
	case l.Seq == 0:
		delete(b, l.Path) // it has ended
	}
}

// has reports whether the call at a path may be the same as this one.
func (b startedWrites) has(at event.Path, asked codec.Fingerprint) bool {
	was, ok := b[at]
	return ok && was.request.Same(asked)
}

// find returns the nearest ancestor with an effect at a path, or nil.
func (p *parentEffects) find(path event.Path) *parentEffects {
	for ; p != nil; p = p.up {
		_, done := p.effects[path]
		if _, open := p.startedWrites[path]; done || open {
			return p
		}
	}
	return nil
}

// shuffleSource returns the run whose random order a new run repeats, so that
// an evaluator sees the same candidates in the same order. It is the run that
// replaces the model, because its "winner": 1 means the first candidate shown.
// Otherwise it is the parent. It returns "" if there is none.
func (j *Journal) shuffleSource(s runner.Start) string {
	id := s.Parent
	if answers, ok := strings.CutPrefix(cascades.Chosen(s.Model).Default(), "replay:"); ok {
		id = answers
	}
	if id == "" {
		return ""
	}
	run, err := j.Run(context.Background(), id)
	if err != nil {
		return "" // a later use of the run reports the error
	}
	return cmp.Or(run.Start.SeedRun, run.RunID)
}

// share reads the effects of the parent, and those of further ancestors as far
// as the parent would share them.
func (j *Journal) share(s runner.Start) (*parentEffects, error) {
	var first *parentEffects
	next, child := &first, s
	for s.Parent != "" {
		p, parent, err := j.parentOf(s, child)
		if first != nil && errors.Is(err, runner.ErrNoRun) {
			break // it was pruned
		}
		if err != nil {
			return nil, err
		}
		*next = p
		next, s = &p.up, parent
	}
	return first, nil
}

// parentOf reads the effects that a run shares with its parent, for the new run child.
// It also returns the parent's start. The start has no parent if the parent has
// finished with it.
func (j *Journal) parentOf(s, child runner.Start) (p *parentEffects, start runner.Start, err error) {
	ctx := context.Background()
	p = &parentEffects{run: s.Parent, effects: map[event.Path]storedEffect{}, startedWrites: startedWrites{}, from: s.From}
	err = j.db.Read(ctx, func(c *stores.Conn) error {
		found, err := c.One(ctx, "SELECT n, status, failed_paths FROM run WHERE id = ?", s.Parent)
		if err != nil {
			return err
		}
		if found == nil {
			return runner.ErrNoRun
		}
		n := stores.Integer(found[0])
		if start, err = j.readStart(ctx, c, n, j.secrets.RestoredView()); err != nil {
			return err
		}
		p.files = start.SamePrograms(child) && slices.EqualFunc(start.Files, child.Files, func(a, b cascades.File) bool {
			return a.Name == b.Name && bytes.Equal(a.Text, b.Text)
		})
		if stores.Text(found[1]) == engine.Succeeded {
			start.Parent = "" // it has ended and contains the effects that it took
		}
		rows, err := j.readRows(ctx, c, n)
		all := parseFailedPaths(stores.Text(found[2]))
		for _, l := range rows {
			p.startedWrites.note(l)
			if codec.IsEffect(l.Kind) && l.Fingerprint != nil && !all.useless(l.Kind, l.Path) {
				p.effects[l.Path] = storedEffect{l.Row, l.Kind, l.Fingerprint, l.JSON()}
			}
			if start.From != "" && phaseOf(l.Path) == start.From {
				start.Parent = ""
			}
		}
		return err
	})
	return p, start, err
}

// dropShared ends the sharing with an ancestor at the phase from which the run,
// or an ancestor, repeats everything. The caller must hold r.mu.
func (r *recording) dropShared(at event.Path) {
	for p := &r.shared; *p != nil; p = &(*p).up {
		if (*p).from != "" && phaseOf(at) == (*p).from {
			*p = nil
			return
		}
	}
}

// repeated reports whether a new run repeats the effect at a path instead of sharing it.
func repeated(c *codec.Effect, at event.Path) bool {
	return c.Failed() || c.Result != nil && c.Result.Failed || c.Answer != nil && (c.Answer.Expired || engine.Stops(at, *c.Answer))
}

// fromParent returns the parent's effect at the path, if its request was the
// same. It costs nothing. Failed effects are not shared, nor their repetitions,
// nor an answer that stopped the run. Before its only phase, a run shares the failed
// effects too, and every other call is an error.
func (r *recording) fromParent(w effectRequest, print codec.Fingerprint) (c codec.Effect, found bool, err error) {
	r.mu.Lock()
	r.dropShared(w.at)
	p, own := r.shared.find(w.at), r.startedWrites[w.at.Parent()]
	_, again := r.spent[w.at]
	taken := r.start.Only != "" && r.shared != nil
	r.mu.Unlock()
	if taken && w.kind != codec.FindingEffect {
		defer func() {
			if err == nil && !found {
				err = fmt.Errorf("run %s has no equal call at %s: before phase %s, a run of that phase alone takes all calls from it", r.start.Parent, w.at, r.start.Only)
			}
		}()
	}
	if p == nil || print == nil || again {
		return c, false, nil
	}
	k, ok := p.effects[w.at]
	if !ok || k.kind != w.kind || !k.print.Same(print) || w.kind == codec.FindingEffect && !p.files {
		return c, false, nil
	}
	if call := w.at.Parent(); engine.Unfinished(call) == w.at && !p.startedWrites.has(call, own.request) {
		return c, false, nil // the question is about a call of this run, which the question cannot distinguish
	}
	if c, err = r.j.readEffect(k.data); err != nil || !taken && repeated(&c, w.at) {
		return codec.Effect{}, false, err
	}
	if c.Response != nil {
		c.Response.Usage = model.Usage{}
	}
	return c, true, nil
}
