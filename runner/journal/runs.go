package journal

import (
	"context"
	"database/sql/driver"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/owners"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/validators/schema"
)

// A summary is one with the run's number and what the file says of it.
type summary struct {
	Summary
	n       int64
	owned   bool // by a process that lives
	pending string
}

// summaryColumns begins a query of summaries.
func (j *Journal) summaryColumns() string {
	return `SELECT n, id, cascade, file, parent, started, status, finished, phases, events, calls,
	input_tokens, output_tokens, cost_usd, error, ` + j.says.owner + `, pending FROM run`
}

func (j *Journal) summaryOf(v []driver.Value) summary {
	s := summary{n: integer(v[0]), pending: word(v[16]), Summary: Summary{
		RunID: word(v[1]), CascadeID: word(v[2]), File: word(v[3]), Parent: word(v[4]),
		Started: timeOf(integer(v[5])), Status: word(v[6]), Phases: int(integer(v[8])), Events: integer(v[9]),
		Usage: model.Usage{Calls: int(integer(v[10])), InputTokens: int(integer(v[11])), OutputTokens: int(integer(v[12])), CostUSD: real(v[13])},
		Error: errorIn(v[14]).Error,
	}}
	if v[7] != nil && s.Status != engine.Waiting {
		finished := timeOf(integer(v[7]))
		s.Finished = &finished
	}
	if text := word(v[15]); text != "" {
		var by owners.Owner
		by, s.owned = j.alive(text)
		if s.Guest = by.Guest != ""; s.Guest || s.owned && s.Status == Running {
			s.Owner = by.String()
		}
	}
	if s.Status == Running && !s.owned {
		s.Status = engine.Cancelled
		s.Error = &event.Error{Code: engine.Cancelled, Message: goneMessage(s.RunID)}
	}
	return s
}

func timeOf(ns int64) time.Time { return time.Unix(0, ns).UTC() }

// Runs lists runs, the newest first.
func (j *Journal) Runs(ctx context.Context, f Filter) ([]Summary, error) {
	list := []Summary{}
	var open []int64 // numbers of those that have not ended; 0 of others
	var words *search
	err := j.reading(ctx, func(c *conn) error {
		where, args, err := f.where(ctx, c, j.says)
		if err == nil && f.Words != "" {
			words, err = j.search(ctx, c, f.Words)
		}
		if err != nil {
			return err
		}
		return c.each(ctx, func(v []driver.Value) error {
			s := j.summaryOf(v)
			if f.Status != "" && s.Status != f.Status || f.Among != nil && !f.Among[s.RunID] || words != nil && !words.runs[s.n] {
				return nil
			}
			if v[7] != nil {
				s.n = 0
			}
			list, open = append(list, s.Summary), append(open, s.n)
			if len(list) == f.Limit && words == nil {
				return errEnough
			}
			return nil
		}, j.summaryColumns()+where+" ORDER BY n DESC", args...)
	})
	if err == nil && words != nil {
		list, open, err = j.narrow(ctx, list, open, words, f.Limit)
	}
	if err == nil {
		err = j.tallies(ctx, list, open)
	}
	if err != nil {
		return nil, err
	}
	return list, nil
}

// narrow leaves those runs that have the words, up to a limit.
func (j *Journal) narrow(ctx context.Context, list []Summary, open []int64, words *search, limit int) ([]Summary, []int64, error) {
	n := 0
	for i := range list {
		hit, err := j.found(ctx, list[i].RunID, words)
		if err != nil {
			return nil, nil, err
		}
		if hit != nil {
			list[n], open[n] = list[i], open[i]
			list[n].Hit = hit
			if n++; n == limit {
				break
			}
		}
	}
	return list[:n], open[:n], nil
}

// tallies counts what runs that have not ended have come to.
func (j *Journal) tallies(ctx context.Context, list []Summary, open []int64) error {
	if !slices.ContainsFunc(open, func(n int64) bool { return n > 0 }) {
		return nil
	}
	return j.reading(ctx, func(c *conn) error {
		for i, n := range open {
			if n == 0 {
				continue
			}
			if err := j.tally(ctx, c, n, &list[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// where is the condition that a filter makes, as far as the file can tell.
func (f Filter) where(ctx context.Context, c *conn, says *dialect) (string, []any, error) {
	var all []string
	var args []any
	add := func(condition string, values ...any) {
		all, args = append(all, condition), append(args, values...)
	}
	switch f.Status {
	case "":
	case engine.Cancelled:
		add("status IN (?, ?)", engine.Cancelled, Running) // one whose process is gone is running still, in the file
	default:
		add("status = ?", f.Status)
	}
	if f.Cascade != "" {
		add("cascade = ?", f.Cascade)
	}
	if f.Text != "" {
		add("("+says.within+"(lower(id), lower(?)) > 0 OR "+says.within+"(lower(cascade), lower(?)) > 0)", f.Text, f.Text)
	}
	if !f.Since.IsZero() {
		add("started >= ?", f.Since.UnixNano())
	}
	if !f.Until.IsZero() {
		add("started < ?", f.Until.UnixNano())
	}
	if f.Before != "" {
		n, _, err := numberOf(ctx, c, f.Before)
		if err != nil {
			return "", nil, err
		}
		add("n < ?", n)
	}
	if len(all) == 0 {
		return "", nil, nil
	}
	return " WHERE " + strings.Join(all, " AND "), args, nil
}

// tally counts what a run that has not ended has come to, in all its starts: where an
// earlier one ended, its row has what it had come to then.
func (j *Journal) tally(ctx context.Context, c *conn, n int64, s *Summary) (err error) {
	if _, s.Events, err = j.lastRow(ctx, c, n); err != nil {
		return err
	}
	s.Usage = model.Usage{}
	finished := visits{}
	again := map[event.Path]model.Usage{} // of calls whose place is free: the next one there has what they have spent
	counts := func(kind string) bool {
		return kind == modelEffect || kind == droppedEffect || kind == string(event.PhaseFinished)
	}
	err = j.eachRow(ctx, c, n, 0, counts, func(l logged) error {
		if l.kind == string(event.PhaseFinished) {
			finished.finish(l.kind, l.path)
			return nil
		}
		if len(l.peek()) == 0 {
			return nil // a time limit that was dropped
		}
		var made came
		if err := schema.Unmarshal(l.json(), &made); err != nil {
			return j.garbled(fmt.Sprintf("row %d of run %s", l.row, s.RunID), err)
		}
		switch {
		case made.Response == nil:
		case l.kind == droppedEffect:
			again[l.path] = made.Response.Usage
		default:
			delete(again, l.path)
			s.Usage = s.Usage.Add(made.Response.Usage)
		}
		return nil
	})
	s.Phases = len(finished)
	for _, at := range slices.Sorted(maps.Keys(again)) { // a sum of costs hangs on the order
		s.Usage = s.Usage.Add(again[at])
	}
	return err
}

// numberOf is the number and the whole name of the run of that name, or of the one
// whose name begins so, or of the last.
func numberOf(ctx context.Context, c *conn, id string) (n int64, name string, err error) {
	found, err := c.one(ctx, "SELECT n, id FROM run WHERE id = ?", id)
	if err == nil && found == nil && id == "last" {
		found, err = c.one(ctx, "SELECT n, id FROM run ORDER BY n DESC LIMIT 1")
	}
	if err != nil {
		return 0, "", err
	}
	if found != nil {
		return integer(found[0]), word(found[1]), nil
	}
	var names []string
	if id != "" {
		err = c.each(ctx, func(v []driver.Value) error {
			n = integer(v[0])
			names = append(names, word(v[1]))
			return nil
		}, "SELECT n, id FROM run WHERE substr(id, 1, length(?1)) = ?1 ORDER BY n DESC LIMIT 4", id)
	}
	switch {
	case err != nil:
		return 0, "", err
	case len(names) == 0:
		return 0, "", fmt.Errorf("run %s: %w", id, runner.ErrNoRun)
	case len(names) > 1:
		return 0, "", fmt.Errorf("run %s: %w: several begin so: %s", id, runner.ErrNoRun, strings.Join(names, ", "))
	}
	return n, names[0], nil
}

// find gives one run's summary.
func (j *Journal) find(ctx context.Context, id string) (s summary, err error) {
	err = j.reading(ctx, func(c *conn) error {
		s, err = j.lookUp(ctx, c, id)
		return err
	})
	return s, err
}

// lookUp is [Journal.find] within a transaction.
func (j *Journal) lookUp(ctx context.Context, c *conn, id string) (s summary, err error) {
	n, _, err := numberOf(ctx, c, id)
	if err != nil {
		return s, err
	}
	row, err := c.one(ctx, j.summaryColumns()+" WHERE n = ?", n)
	switch {
	case err != nil:
		return s, err
	case row == nil:
		return s, fmt.Errorf("run %s: %w", id, runner.ErrNoRun)
	}
	if s = j.summaryOf(row); row[7] == nil {
		err = j.tally(ctx, c, n, &s.Summary)
	}
	return s, err
}

// Run gives one run. The id may be the beginning of one, where only one begins
// so, or "last", the newest. [runner.ErrNoRun] says that there is none.
func (j *Journal) Run(ctx context.Context, id string) (*Run, error) {
	run := &Run{}
	err := j.reading(ctx, func(c *conn) error {
		s, err := j.lookUp(ctx, c, id)
		if err != nil {
			return err
		}
		run.Summary = s.Summary
		if run.Start, err = j.readStart(ctx, c, s.n, people); err != nil {
			return err
		}
		open, err := j.open(ctx, c, s)
		run.Pending = pendings(open, j.now())
		for i := 0; err == nil && i < len(run.Pending); i++ {
			run.Pending[i].Untold, err = j.untold(ctx, c, s.n, run.Pending[i].Path)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return run, nil
}

// Abandoned lists the runs that nobody ended and whose process is gone, the
// oldest first. [Journal.Reopen] goes on with them. Where a server of all processes was
// away it lists none until those that live have had the time to say so.
func (j *Journal) Abandoned(ctx context.Context) (ids []string, err error) {
	if !j.store.judges() {
		return nil, nil
	}
	err = j.reading(ctx, func(c *conn) error {
		return c.each(ctx, func(v []driver.Value) error {
			if s := j.summaryOf(v); !s.owned {
				ids = append(ids, s.RunID)
			}
			return nil
		}, j.summaryColumns()+" WHERE status = '"+Running+"' ORDER BY n")
	})
	return ids, err
}
