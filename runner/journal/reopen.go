package journal

import (
	"bytes"
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/owners"
	"github.com/seed61713e19/capstan/validators/schema"
)

// final tells of a run that has ended for good: of one that failed, only an
// input that the cascade does not take is that.
func final(status, code string) bool {
	switch status {
	case engine.Succeeded, engine.Blocked, engine.Exhausted, engine.OverBudget:
		return true
	}
	return status == engine.Failed && code == engine.Invalid
}

// Reopen goes on with a run.
func (j *Journal) Reopen(id string) (runner.Recording, error) {
	if err := j.writable(); err != nil {
		return nil, err
	}
	if err := j.pay(id); err != nil {
		return nil, err
	}
	ctx := context.Background()
	n, epoch, ended, err := j.own(id)
	if err != nil {
		return nil, err
	}
	r := j.newRecording(n, epoch, runner.Start{RunID: id})
	if ended {
		result, err := j.Result(ctx, id)
		if err != nil {
			return nil, err
		}
		r.ended = &result
	}
	if err := r.load(ctx); err != nil {
		if !ended {
			r.disown()
		}
		return nil, err
	}
	return r, nil
}

// errGuest tells of a run that another engine makes, or has made.
var errGuest = fmt.Errorf("%w elsewhere: another engine continues it and takes its answers", runner.ErrRunBusy)

// own takes a run for this process, with a new epoch, unless it has ended for
// good.
func (j *Journal) own(id string) (n, epoch int64, ended bool, err error) {
	var refused error // not the job's own: that would take back what others write beside it
	err = j.writer.do(func(c *conn) error {
		refused = nil
		found, err := c.one(context.Background(), "SELECT n, status, error, "+j.says.owner+", epoch, owner FROM run WHERE id = ?"+j.says.lock, id)
		if err != nil {
			return err
		}
		if found == nil {
			refused = fmt.Errorf("run %s: %w", id, runner.ErrNoRun)
			return nil
		}
		if n = integer(found[0]); integer(found[4]) == guestEpoch {
			refused = fmt.Errorf("run %s: %w", id, errGuest)
			return nil
		}
		other, alive := j.alive(word(found[3]))
		if alive && epoch != 0 && integer(found[4]) == epoch {
			return nil // nobody heard that it was taken
		}
		if !alive && found[5] != nil {
			gone, err := j.store.bury(c, word(found[5]))
			if err != nil {
				return err
			}
			other, alive = owners.Read(word(found[5])), !gone
		}
		if alive {
			refused = fmt.Errorf("run %s: %w (%s)", id, runner.ErrRunBusy, other)
			return nil
		}
		if ended = final(word(found[1]), errorIn(found[2]).code()); ended {
			return nil
		}
		epoch = integer(found[4]) + 1
		_, err = c.Exec("UPDATE run SET owner = ?, epoch = ? WHERE n = ?", j.owner.Text(), epoch, n)
		j.writer.endEra()
		return err
	})
	if err == nil {
		err = refused
	}
	return n, epoch, ended, err
}

func (r *recording) disown() { _ = r.j.owe(r.start.RunID, r.letGo) }

// letGo has whoever wants go on with the run.
func (r *recording) letGo() error {
	return r.j.writer.do(func(c *conn) error {
		_, err := c.Exec("UPDATE run SET owner = NULL WHERE n = ? AND epoch = ?", r.n, r.epoch)
		return err
	})
}

// why is an error of a run that may not be there.
type why struct{ *event.Error }

func errorIn(v driver.Value) (w why) {
	if text := word(v); text != "" {
		_ = json.Unmarshal([]byte(text), &w.Error) // one that does not read is none
	}
	return w
}

func (w why) code() string {
	if w.Error == nil {
		return ""
	}
	return w.Code
}

// load reads what earlier starts of the run kept, and begins a new one.
func (r *recording) load(ctx context.Context) error {
	j := r.j
	var rows []logged
	var broke driver.Value
	var status, open string
	err := j.reading(ctx, func(c *conn) (err error) {
		if r.start, err = j.readStart(ctx, c, r.n, j.secrets.asItWas()); err != nil || r.ended != nil {
			return err
		}
		found, err := c.one(ctx, "SELECT status, broke, pending FROM run WHERE n = ?", r.n)
		if err != nil {
			return err
		}
		status, broke, open = word(found[0]), found[1], word(found[2])
		rows, err = j.readRows(ctx, c, r.n)
		return err
	})
	if err != nil || r.ended != nil {
		return err
	}
	if r.open, err = j.openRows(r.start.RunID, open); err != nil {
		return err
	}
	r.count(rows)
	r.collect(rows)
	if status == engine.Failed {
		if err := r.drop(word(broke)); err != nil {
			return err
		}
	}
	r.hear(rows)
	if r.start.Parent != "" {
		switch r.shared, err = j.share(r.start); {
		case errors.Is(err, runner.ErrNoRun): // of the parent: this run is there
			return fmt.Errorf("run %s takes what is the same from run %s, which is not kept any more: it cannot be gone on with", r.start.RunID, r.start.Parent)
		case err != nil:
			return fmt.Errorf("parent %s: %w", r.start.Parent, err)
		}
		for _, l := range rows {
			r.part(l.path)
		}
	}
	return r.begin()
}

// begin notes that the run is running again. An expired question has its answer: there
// is none.
func (r *recording) begin() error {
	r.mu.Lock()
	r.open = slices.DeleteFunc(r.open, func(q openRow) bool { return q.expired() })
	r.piece.pending = rowOf(r.open)
	r.put(row{kind: legBegins})
	p := r.take()
	r.mu.Unlock()
	return r.j.writer.do(func(c *conn) error {
		if err := r.insertAll(c, p); err != nil {
			return err
		}
		_, err := c.Exec("UPDATE run SET status = ?, finished = NULL, broke = NULL, error = NULL WHERE n = ?", Running, r.n)
		return err
	})
}

// count takes up numbers and times where earlier starts left them. What has elapsed
// is each start's from its first row to its last: the night between two is none.
func (r *recording) count(rows []logged) {
	var began, last int64
	for _, l := range rows {
		if l.kind == legBegins {
			r.start.Elapsed += time.Duration(last - began)
			began = l.time
		}
		if l.kind != answerEffect && l.kind != noticeEnds { // they may have come between two starts
			last = max(last, l.time)
		}
		r.row, r.seq = max(r.row, l.row), max(r.seq, l.seq)
		r.time = max(r.time, l.time)
		r.visits.finish(l.kind, l.path)
	}
	r.start.Elapsed += time.Duration(last - began)
}

// collect takes up the effects. Of two at one path, the later stands.
func (r *recording) collect(rows []logged) {
	words := map[string]string{}
	r.start.Made = map[string]engine.Made{}
	for _, l := range rows {
		if l.kind == modelEffect || l.kind == droppedEffect {
			b := brief{words: words} // of this row alone: a time limit that was dropped has no JSON
			if a := b.answered(&l); a.came {
				r.start.Made[string(l.path)] = engine.Made{Usage: a.usage, Again: l.kind == droppedEffect}
			}
		}
		switch l.kind {
		case droppedEffect:
			r.replaces = true
			r.spent[l.path] = r.start.Made[string(l.path)].Usage
		case questionBegins:
			r.since[l.path] = l.time
		case noticeBegins:
			r.notices[l.path] = string(l.json())
		case noticeEnds:
			r.notices[l.path] = ""
		default:
			if isEffect(l.kind) {
				r.kept[l.path] = kept{l.row, l.kind, l.print, l.json()}
				delete(r.spent, l.path)
			}
		}
		r.begun.note(l)
	}
}

// drop forgets the failures at and under the paths of what broke, a line each, and all
// that models said in what gave an answer of no use, so that they are made again. What
// such a call has spent stays spent.
func (r *recording) drop(broken string) error {
	all := readFallen(broken)
	for at, k := range r.kept {
		broke := all.over(at)
		if broke == "" {
			continue
		}
		c, err := r.j.readEffect(k.data)
		if err != nil {
			return err
		}
		toolFailed := at == broke && c.Result != nil && c.Result.Failed
		if !c.failed() && !toolFailed && !all.useless(k.kind, at) && k.kind != timeoutEffect {
			continue
		}
		if c.Response != nil {
			r.spent[at] = c.Response.Usage
			r.start.Made[string(at)] = engine.Made{Usage: c.Response.Usage, Again: true}
		}
		delete(r.kept, at)
		r.piece.dropped = append(r.piece.dropped, k.row)
		r.replaces = true
	}
	return nil
}

// hear takes up the events, but those of effects that are to be made again:
// they come again. What is told twice at one path stands there twice, and is taken
// off one by one as the run comes by: see [recording.heard].
func (r *recording) hear(rows []logged) {
	dropped := map[int64]bool{}
	for _, row := range r.piece.dropped {
		dropped[row] = true
	}
	again := map[event.Path]bool{}
	late := r.late()
	for _, l := range rows {
		if l.kind == droppedEffect || dropped[l.row] {
			again[l.path] = !late(l.path)
		}
	}
	for _, l := range rows {
		_, made := r.kept[l.path]
		if l.seq == 0 || l.kind == string(event.RunFinished) || again[l.path] && !made {
			continue
		}
		at := spotOf(l.kind, string(l.path))
		r.told[at] = append(r.told[at], teller{l.row, l.print, digestOf(l.json())})
	}
}

// late tells of what lies in something that ran out of time: it is not made again.
// Of the judgement of an attempt, draft/attempt[1]/winner/timeout, all of it lies there.
func (r *recording) late() func(event.Path) bool {
	over := map[string]bool{}
	for at, k := range r.kept {
		if k.kind == timeoutEffect {
			over[strings.TrimSuffix(string(at.Up()), "/winner")] = true
		}
	}
	return func(at event.Path) bool {
		for at != "" && !over[string(at)] {
			at = at.Up()
		}
		return at != ""
	}
}

// readEffect reads what an effect came to, as the run had it.
func (j *Journal) readEffect(data []byte) (c came, err error) {
	if data == nil {
		return c, nil
	}
	read := func(conn *conn) error {
		raw, err := j.unpack(context.Background(), conn, data, j.secrets.asItWas())
		if err != nil {
			return err
		}
		if err := schema.Unmarshal(raw, &c); err != nil {
			return j.garbled("an effect", err)
		}
		return nil
	}
	if !bytes.Contains(data, []byte(reference)) {
		err = read(nil) // all of it is at hand
	} else {
		err = j.reading(context.Background(), read)
	}
	return c, err
}
