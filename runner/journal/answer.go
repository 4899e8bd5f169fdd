package journal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/event"
)

// Answer answers an open question of a run, which its key names. The run's name is
// whole here. The key may be empty if one question alone is open; otherwise the answer
// is [runner.ErrSeveral]. The value must be one that the question takes: a boolean for a
// confirmation, one of the options for a choice, a text that is not empty. The run then
// goes on with [runner.Runner.Resume]. A run that somebody is running is
// [runner.ErrRunBusy]. Who answered is kept with the answer, and shown with it. An
// answer that comes too late is [runner.ErrExpired], and the question is over from then
// on; one to a question that somebody else has answered, or that nobody asks, is
// [runner.ErrAnswered], also where the run is running.
func (j *Journal) Answer(ctx context.Context, id string, question event.Path, a runner.Answer) error {
	if err := j.writable(); err != nil {
		return err
	}
	s, err := j.find(ctx, id)
	if err != nil {
		return err
	}
	switch {
	case s.RunID != id:
		return fmt.Errorf("run %s: %w", id, runner.ErrNoRun)
	case s.Guest:
		return fmt.Errorf("run %s: %w", id, errGuest)
	}
	var open []pendingRow
	if err := j.reading(ctx, func(c *conn) error { open, err = j.open(ctx, c, s); return err }); err != nil {
		return err
	}
	i, err := chosen(pendings(open, j.now()), question)
	switch {
	case errors.Is(err, runner.ErrAnswered) && s.Status == Running:
		return fmt.Errorf("run %s: %w: %w", s.RunID, err, runner.ErrRunBusy)
	case errors.Is(err, runner.ErrAnswered):
		return fmt.Errorf("run %s: %w: it is %s", s.RunID, err, s.Status)
	case err != nil:
		return fmt.Errorf("run %s: %w", s.RunID, err)
	}
	p := &open[i]
	if p.Expired {
		return p.late(s.RunID)
	}
	if wrong := p.Question.Unfit(a.Value); wrong != "" && !p.over(j.now()) {
		return fmt.Errorf("answer: %s", wrong)
	}
	g := given{Answer: a.Signed(), time: j.now()}
	var refused error
	err = j.writer.do(func(c *conn) error {
		refused, err = j.answer(ctx, c, s, p, &g)
		return err
	})
	if err == nil {
		err = refused
	}
	return err
}

// late is the error of an answer that came too late.
func (p *Pending) late(run string) error {
	return fmt.Errorf("run %s: %w: it took answers until %s", run, runner.ErrExpired, p.Expires.Format(time.RFC3339))
}

// given is an answer on its way to the file.
type given struct {
	runner.Answer
	time time.Time
	row  int64 // that it was written as, where nobody heard whether it stands
}

// stands tells whether the answer is in the file.
func (g *given) stands(ctx context.Context, j *Journal, c *conn, n int64) (bool, error) {
	if g.row == 0 {
		return false, nil
	}
	l, there, err := j.rowAt(ctx, c, n, g.row)
	return there && l.kind == answerEffect && l.time == g.time.UnixNano(), err
}

// answer writes an answer, or that there was none in time, unless something has
// happened to the run meanwhile. Whoever ran it before has no say from then on.
func (j *Journal) answer(ctx context.Context, c *conn, s summary, p *pendingRow, g *given) (refused, err error) {
	a := g.Answer
	if p.over(g.time) {
		a, refused = runner.Answer{Expired: true}, p.late(s.RunID)
	}
	if there, err := g.stands(ctx, j, c, s.n); there || err != nil {
		return refused, err
	}
	found, err := c.one(ctx, "SELECT "+j.says.owner+", pending, epoch FROM run WHERE n = ?"+j.says.lock, s.n)
	if err != nil {
		return nil, err
	}
	open, err := j.openRows(s.RunID, word(found[1]))
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(open, func(q openRow) bool { return q.path == p.Path && !q.expired() })
	if i < 0 {
		return fmt.Errorf("run %s: %w", s.RunID, runner.ErrAnswered), nil
	}
	if other, alive := j.alive(word(found[0])); other.Guest != "" {
		return fmt.Errorf("run %s: %w", s.RunID, errGuest), nil
	} else if alive {
		return fmt.Errorf("run %s: %w (%s)", s.RunID, runner.ErrRunBusy, other), nil
	}
	pack := packer{secrets: j.secrets}
	data, err := pack.encode(came{Answer: &a})
	if err == nil {
		err = j.writer.texts(pack.texts)
	}
	if err != nil {
		return nil, fmt.Errorf("answer: %w", err)
	}
	last, seq, err := j.lastRow(ctx, c, s.n)
	if err != nil {
		return nil, err
	}
	if a.Expired {
		open[i].expire()
	} else {
		open = slices.Delete(open, i, i+1)
	}
	g.row = last + 1
	k, _ := packed(s.n, seq, []row{{n: g.row, time: g.time.UnixNano(), kind: answerEffect, path: string(p.Path), print: p.Print, data: data}}, nil)
	if err = k.write(c, integer(found[2])+1); err == nil {
		_, err = c.Exec("UPDATE run SET pending = ?, epoch = epoch + 1 WHERE n = ?", rowOf(open), s.n)
		j.writer.endEra()
	}
	return refused, err
}
