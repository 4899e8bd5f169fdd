package journal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/internal/encodings"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/internal/codec"
	"github.com/seed61713e19/capstan/runner/journal/internal/stores"
)

// A Pending is an open question.
type Pending struct {
	Path        event.Path      `json:"path"` // its key, which an answer must name
	Question    engine.Question `json:"question"`
	Expires     *time.Time      `json:"expires,omitempty"`      // nil: never
	Expired     bool            `json:"expired,omitempty"`      // it takes no more answers; a resumed run continues without one
	NoticeError string          `json:"notice_error,omitempty"` // error of the notice, if it was not delivered
}

// pendingRow is a question as stored.
type pendingRow struct {
	Pending
	Fingerprint []byte `json:"fingerprint"`
}

// isExpired reports whether the question takes no more answers. Once stored, an
// expiry is final, whatever the clock says.
func (p *Pending) isExpired(now time.Time) bool {
	return p.Expired || p.Expires != nil && !now.Before(*p.Expires)
}

// Ask returns the recorded answer, or asks and records the answer or the
// expiry. The time of the first question is stored before it is asked. So a
// question expires at the same time for every start of the run and every
// observer.
func (h *host) Ask(at event.Path, q engine.Question) (engine.Answer, error) {
	w := effectRequest{at: at, kind: codec.AnswerEffect, print: func() (codec.Fingerprint, error) { return h.r.j.secrets.Fingerprint(q) }}
	c, err := h.do(w, func() (codec.Effect, error) {
		answer, err := h.askOpen(at, q)
		return codec.Effect{Answer: &answer}, err
	})
	if c.Answer == nil {
		return engine.Answer{}, err
	}
	return *c.Answer, err
}

// askOpen asks a question without an answer, for the rest of its time.
func (h *host) askOpen(at event.Path, q engine.Question) (engine.Answer, error) {
	p := Pending{Path: at, Question: q}
	if q.Expires > 0 {
		asked, err := h.r.firstAsked(at)
		if err != nil {
			return engine.Answer{}, stopped(at, err)
		}
		over, now := asked.Add(q.Expires).UTC(), h.r.j.db.Now()
		if p.Expires = &over; p.isExpired(now) {
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
	case err == nil && p.isExpired(h.r.j.db.Now()):
		return engine.Answer{Expired: true}, nil
	}
	return answer, err
}

// firstAsked returns the time when this start of the run or an earlier one
// first asked a question.
func (r *recording) firstAsked(at event.Path) (time.Time, error) {
	r.mu.Lock()
	asked, before := r.since[at]
	if !before {
		asked = r.now()
		r.since[at] = asked
		r.put(codec.Row{Kind: codec.QuestionAsked, Path: string(at), Time: asked})
	}
	r.mu.Unlock()
	if before {
		return timeOf(asked), nil
	}
	return timeOf(asked), r.commit()
}

// wait stores a question for which the run waits.
func (r *recording) wait(p Pending) error {
	print, err := r.j.secrets.Fingerprint(p.Question)
	if err != nil {
		return stopped(p.Path, err)
	}
	r.mu.Lock()
	raw, err := r.piece.Encode(pendingRow{p, print})
	if err == nil {
		r.closeQuestion(p.Path)
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

// closeQuestion removes a question from the open ones. The caller must hold
// r.mu.
func (r *recording) closeQuestion(at event.Path) {
	r.open = slices.DeleteFunc(r.open, func(q openRow) bool { return q.path == at })
	r.piece.pending = rowOf(r.open)
}

// Question returns the open question with a key or, if the key is empty, the
// only open one. If there is none, the error is [runner.ErrAnswered]. If
// several questions are open and the key is empty, the error is
// [runner.ErrSeveral] with their list.
func (r *Run) Question(key event.Path) (*Pending, error) {
	i, err := questionIndex(r.Pending, key)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", r.RunID, err)
	}
	return &r.Pending[i], nil
}

// questionIndex returns the index of the question that an answer with this key
// belongs to.
func questionIndex(open []Pending, key event.Path) (int, error) {
	if key != "" {
		i := slices.IndexFunc(open, func(p Pending) bool { return p.Path == key })
		if i < 0 {
			return 0, fmt.Errorf("question %s: %w", key, runner.ErrAnswered)
		}
		return i, nil
	}
	var fit []int
	for i, p := range open {
		if !p.Expired {
			fit = append(fit, i)
		}
	}
	switch {
	case len(fit) == 1:
		return fit[0], nil
	case len(fit) > 1:
		return 0, fmt.Errorf("%w: %s", runner.ErrSeveral, Keys(open))
	case len(open) > 0:
		return 0, nil // the question has expired, and the answer is too late
	}
	return 0, runner.ErrAnswered
}

// Keys returns the keys of open questions in one line, each with its phase.
func Keys(open []Pending) string {
	var list []string
	for _, p := range open {
		if !p.Expired {
			list = append(list, fmt.Sprintf("%s (phase %s)", p.Path, p.Question.Phase))
		}
	}
	return strings.Join(list, ", ")
}

// An openRow is an open question of a run, as stored.
type openRow struct {
	path  event.Path
	text  string // a [pendingRow]
	fresh bool   // this start of the run has asked it
}

// expiredMark ends the stored form of a question that has expired.
const expiredMark = `,"expired":true}`

func (q *openRow) expire() { q.text = strings.TrimSuffix(q.text, "}") + expiredMark }

// expired reports whether the expiry of the question is stored.
func (q *openRow) expired() bool { return strings.HasSuffix(q.text, expiredMark) }

// openRows returns the open questions in a run's row.
func (j *Journal) openRows(id, text string) (list []openRow, err error) {
	if text == "" {
		return nil, nil
	}
	elements, ok := encodings.Elements(nil, []byte(text))
	for _, raw := range elements {
		var row pendingRow
		if err := schema.Unmarshal(raw, &row); err != nil {
			return nil, j.db.Corrupt("a question of run "+id, err)
		}
		list = append(list, openRow{path: row.Path, text: string(raw)})
	}
	if !ok {
		return nil, j.db.Corrupt("the questions of run "+id, errors.New("they are no list"))
	}
	return list, nil
}

// rowOf returns the stored form of a run's open questions, or nil if there are
// none.
func rowOf(open []openRow) any {
	if len(open) == 0 {
		return nil
	}
	texts := make([]string, len(open))
	for i, q := range open {
		texts[i] = q.text
	}
	return "[" + strings.Join(texts, ",") + "]"
}

// open returns the open questions of a run, in the order of their keys.
func (j *Journal) open(ctx context.Context, c *stores.Conn, s summary) ([]pendingRow, error) {
	if s.pending == "" {
		return nil, nil
	}
	raw, err := j.unpack(ctx, c, []byte(s.pending), codec.RedactedView)
	if err != nil {
		return nil, err
	}
	var list []pendingRow
	if err := schema.Unmarshal(raw, &list); err != nil {
		return nil, j.db.Corrupt("the questions of run "+s.RunID, err)
	}
	for i := range list {
		list[i].Question.Path = list[i].Path
	}
	return list, nil
}

// pendingAt returns open questions with their state at a time.
func pendingAt(open []pendingRow, now time.Time) []Pending {
	var list []Pending
	for i := range open {
		p := open[i].Pending
		p.Expired = p.isExpired(now)
		list = append(list, p)
	}
	return list
}
