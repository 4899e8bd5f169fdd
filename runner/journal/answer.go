package journal

import (
	"context"
	"fmt"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
)

// Answer gives a waiting run its answer. The value must be one that the
// question takes: a boolean for a confirmation, one of the options for a
// choice, a text that is not empty. The run then goes on with
// [runner.Runner.Resume]. A run that somebody is running is [runner.ErrRunBusy].
func (j *Journal) Answer(ctx context.Context, id string, value any) error {
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
	if p == nil {
		return fmt.Errorf("run %s waits for no answer: it is %s", s.RunID, s.Status)
	}
	if wrong := p.Question.Unfit(value); wrong != "" {
		return fmt.Errorf("answer: %s", wrong)
	}
	pack := packer{secrets: j.secrets}
	data, err := pack.encode(came{Answer: &engine.Answer{Value: value}})
	if err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	var refused error
	err = j.writer.do(func(c *conn) error {
		refused, err = j.answer(ctx, c, s, p, pack.texts, data)
		return err
	})
	if err == nil {
		err = refused
	}
	return err
}

// answer writes an answer, unless something has happened to the run meanwhile.
// Whoever ran it before has no say from then on.
func (j *Journal) answer(ctx context.Context, c *conn, s summary, p *pendingRow, texts []text, data []byte) (refused, err error) {
	found, err := c.one(ctx, "SELECT owner, pending, (SELECT max(id) FROM log WHERE id < ?2), epoch FROM run WHERE n = ?1", s.n, (s.n+1)<<rowBits)
	if err != nil {
		return nil, err
	}
	if other, alive := j.owner.alive(word(found[0])); alive {
		return fmt.Errorf("run %s: %w (%s)", s.RunID, runner.ErrRunBusy, other), nil
	}
	if word(found[1]) != s.pending {
		return fmt.Errorf("run %s waits with that question no more", s.RunID), nil
	}
	if err := j.writer.texts(texts); err != nil {
		return nil, err
	}
	_, err = c.exec("INSERT INTO log (id, time, took, kind, path, print, data, epoch) VALUES (?, ?, 0, ?, ?, ?, ?, ?)",
		integer(found[2])+1, j.options.Now().UnixNano(), answerEffect, string(p.Path), p.Print, string(data), integer(found[3])+1)
	if err == nil {
		_, err = c.exec("UPDATE run SET pending = NULL, epoch = epoch + 1 WHERE n = ?", s.n)
		j.writer.era.Add(1)
	}
	return nil, err
}
