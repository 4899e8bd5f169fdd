package journal

import (
	"errors"
	"slices"
	"time"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
)

// A Pending is an open question.
type Pending struct {
	Path     event.Path      `json:"path"` // its key, which an answer names
	Question engine.Question `json:"question"`
	Expires  *time.Time      `json:"expires,omitempty"` // when it does; nil for never
	Expired  bool            `json:"expired,omitempty"` // it takes no answer any more: the run goes on without one when it is resumed
	Untold   string          `json:"untold,omitempty"`  // why whoever was to be told of it was not
}

// pendingRow is a question as the file has it.
type pendingRow struct {
	Pending
	Print []byte `json:"print"`
}

// over tells whether the question takes no answer any more. What was found to
// be over once stays so, whatever becomes of the clock.
func (p *Pending) over(now time.Time) bool {
	return p.Expired || p.Expires != nil && !now.Before(*p.Expires)
}

// Ask gives the recorded answer, or asks and records it, or that nobody is
// there. A question that expires is over at the same time for every start of the
// run, and for whoever else looks: when it was asked first is in the file before
// it is asked.
func (h *host) Ask(at event.Path, q engine.Question) (engine.Answer, error) {
	w := wanted{at: at, kind: answerEffect, print: func() (print, error) { return h.r.print(q) }}
	c, err := h.do(w, func() (came, error) {
		answer, err := h.put(at, q)
		return came{Answer: &answer}, err
	})
	if c.Answer == nil {
		return engine.Answer{}, err
	}
	return *c.Answer, err
}

// put asks a question that has no answer yet, for as long as is left of its time.
func (h *host) put(at event.Path, q engine.Question) (engine.Answer, error) {
	p := Pending{Path: at, Question: q}
	if q.Expires > 0 {
		asked, err := h.r.firstAsked(at)
		if err != nil {
			return engine.Answer{}, stopped(at, err)
		}
		over, now := asked.Add(q.Expires).UTC(), h.r.j.now()
		if p.Expires = &over; p.over(now) {
			return engine.Answer{Expired: true}, nil
		}
		q.Expires = over.Sub(now)
	}
	if q.Notice != nil {
		var err error
		if q.Notice, err = h.r.notice(q.Notice, p.Expires); err != nil {
			return engine.Answer{}, stopped(at, err)
		}
	}
	answer, err := h.Host.Ask(at, q)
	switch {
	case errors.Is(err, engine.ErrSuspended):
		if e := h.r.wait(p); e != nil {
			return answer, e
		}
	case err == nil && p.over(h.r.j.now()):
		return engine.Answer{Expired: true}, nil
	}
	return answer, err
}

// firstAsked is when a question was asked for the first time, by this start of
// the run or an earlier one.
func (r *recording) firstAsked(at event.Path) (time.Time, error) {
	r.mu.Lock()
	asked, before := r.since[at]
	if !before {
		asked = r.now()
		r.since[at] = asked
		r.put(row{kind: questionBegins, path: string(at), time: asked})
	}
	r.mu.Unlock()
	if before {
		return timeOf(asked), nil
	}
	return timeOf(asked), r.commit()
}

// wait notes a question that the run waits with.
func (r *recording) wait(p Pending) error {
	print, err := r.print(p.Question)
	if err != nil {
		return stopped(p.Path, err)
	}
	r.mu.Lock()
	raw, err := r.piece.encode(pendingRow{p, print})
	if err == nil {
		r.closes(p.Path)
		r.open = append(r.open, openRow{p.Path, string(raw), true})
		slices.SortFunc(r.open, func(a, b openRow) int { return a.path.Compare(b.path) })
		r.piece.pending = rowOf(r.open)
	}
	r.mu.Unlock()
	if err == nil {
		err = r.commit()
	}
	return stopped(p.Path, err)
}

// closes takes a question off the open ones. It is called with r.mu held.
func (r *recording) closes(at event.Path) {
	r.open = slices.DeleteFunc(r.open, func(q openRow) bool { return q.path == at })
	r.piece.pending = rowOf(r.open)
}
