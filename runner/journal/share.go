package journal

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
)

// shared is what a run may take from its parent.
type shared struct {
	kept  map[event.Path]kept
	files bool // the cascade is the same, so its validators are
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

// share reads the parent's effects.
func (j *Journal) share(s runner.Start) (*shared, error) {
	ctx := context.Background()
	p := &shared{kept: map[event.Path]kept{}}
	err := j.reading(ctx, func(c *conn) error {
		found, err := c.one(ctx, "SELECT n FROM run WHERE id = ?", s.Parent)
		if err != nil {
			return err
		}
		if found == nil {
			return runner.ErrNoRun
		}
		n := integer(found[0])
		start, err := j.readStart(ctx, c, n, j.secrets.shown)
		if err != nil {
			return err
		}
		p.files = slices.EqualFunc(start.Files, s.Files, func(a, b cascades.File) bool {
			return a.Name == b.Name && bytes.Equal(a.Text, b.Text)
		})
		rows, err := j.readRows(ctx, c, n)
		for _, l := range rows {
			if strings.HasPrefix(l.kind, "effect:") && l.print != nil {
				p.kept[l.path] = kept{l.row, l.kind, l.print, l.json()}
			}
		}
		return err
	})
	return p, err
}

// partAfter ends the sharing of a run that had come past the phase from which
// on everything is done anew.
func (r *recording) partAfter(rows []logged) {
	for _, l := range rows {
		if l.path != "" && r.start.From != "" && phaseOf(l.path) == r.start.From {
			r.shared = nil
			return
		}
	}
}

// fromParent is what the parent's effect at the path came to, where it was
// asked the same. It costs nothing. What broke is not shared.
func (r *recording) fromParent(w wanted, print print) (c came, found bool, err error) {
	r.mu.Lock()
	r.part(w.at)
	p := r.shared
	r.mu.Unlock()
	if p == nil || print == nil {
		return c, false, nil
	}
	k, ok := p.kept[w.at]
	if !ok || k.kind != w.kind || !k.print.same(print) || w.kind == findingEffect && !p.files {
		return c, false, nil
	}
	if c, err = r.j.readEffect(k.data); err != nil || c.failed() || c.Result != nil && c.Result.Failed || c.Answer != nil && c.Answer.Expired {
		return came{}, false, err
	}
	if c.Response != nil {
		c.Response.Usage = model.Usage{}
	}
	return c, true, nil
}
