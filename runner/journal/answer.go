package journal

import (
	"context"
	"fmt"
	"time"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/journal/encodings"
)

// Answer gives a waiting run its answer. The value must be one that the
// question takes: a boolean for a confirmation, one of the options for a
// choice, a text that is not empty. The run then goes on with
// [runner.Runner.Resume]. A run that somebody is running is [runner.ErrRunBusy].
// Who answered is kept with the answer, and shown with it. An answer that comes
// too late is [runner.ErrExpired], and the question is over from then on; one to
// a question that somebody else has answered, or that nobody asks, is
// [runner.ErrAnswered], also where the run is running.
func (j *Journal) Answer(ctx context.Context, id string, a runner.Answer) error {
	if err := j.writable(); err != nil {
		return err
	}
	s, err := j.find(ctx, id)
	if err != nil {
		return err
	}
	var p *pendingRow
	if err := j.reading(ctx, func(c *conn) error { p, err = j.pending(ctx, c, s); return err }); err != nil {
		return err
	}
	switch {
	case p == nil && s.Status == Running:
		return fmt.Errorf("run %s: %w: %w", s.RunID, runner.ErrAnswered, runner.ErrRunBusy)
	case p == nil:
		return fmt.Errorf("run %s: %w: it is %s", s.RunID, runner.ErrAnswered, s.Status)
	case p.Expired:
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
	a, pending := g.Answer, any(nil)
	if p.over(g.time) {
		a, refused, pending = runner.Answer{Expired: true}, p.late(s.RunID), string(encodings.With([]byte(s.pending), "expired", []byte("true")))
	}
	if there, err := g.stands(ctx, j, c, s.n); there || err != nil {
		return refused, err
	}
	found, err := c.one(ctx, "SELECT "+j.says.owner+", pending, epoch FROM run WHERE n = ?"+j.says.lock, s.n)
	if err != nil {
		return nil, err
	}
	if word(found[1]) != s.pending {
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
	g.row = last + 1
	k, _ := packed(s.n, seq, []row{{n: g.row, time: g.time.UnixNano(), kind: answerEffect, path: string(p.Path), print: p.Print, data: data}}, nil)
	if err = k.write(c, integer(found[2])+1); err == nil {
		_, err = c.Exec("UPDATE run SET pending = ?, epoch = epoch + 1 WHERE n = ?", pending, s.n)
		j.writer.endEra()
	}
	return refused, err
}
