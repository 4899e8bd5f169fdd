package journal

import (
	"context"
	"database/sql/driver"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/internal/codec"
	"github.com/seed61713e19/capstan/runner/journal/internal/owners"
	"github.com/seed61713e19/capstan/runner/journal/internal/stores"
	"github.com/seed61713e19/capstan/runner/model"
)

// A summary also has the run's number and the state of its owner.
type summary struct {
	Summary
	n       int64
	owned   bool // its process is alive
	pending string
}

// summaryColumns returns the beginning of a query for summaries.
func (j *Journal) summaryColumns() string {
	return `SELECT n, id, cascade, file, parent, started, status, finished, phases, events, calls,
	input_tokens, output_tokens, cost_usd, error, ` + j.db.Dialect.Owner + `, pending, only_phase FROM run`
}

func (j *Journal) summaryOf(v []driver.Value) summary {
	s := summary{n: stores.Integer(v[0]), pending: stores.Text(v[16]), Summary: Summary{
		RunID: stores.Text(v[1]), CascadeID: stores.Text(v[2]), File: stores.Text(v[3]), Parent: stores.Text(v[4]), Only: stores.Text(v[17]),
		Started: timeOf(stores.Integer(v[5])), Status: stores.Text(v[6]), Phases: int(stores.Integer(v[8])), Events: stores.Integer(v[9]),
		Usage: model.Usage{Calls: int(stores.Integer(v[10])), InputTokens: int(stores.Integer(v[11])), OutputTokens: int(stores.Integer(v[12])), CostUSD: stores.Real(v[13])},
		Error: errorIn(v[14]).Error,
	}}
	if v[7] != nil && s.Status != engine.Waiting {
		finished := timeOf(stores.Integer(v[7]))
		s.Finished = &finished
	}
	if text := stores.Text(v[15]); text != "" {
		var by owners.Owner
		by, s.owned = j.db.Alive(text)
		if s.External = by.Engine != ""; s.External || s.owned && s.Status == Running {
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
	list, open, err := j.matching(ctx, f)
	if err == nil {
		err = j.tallies(ctx, list, open)
	}
	if err != nil {
		return nil, err
	}
	return list, nil
}

// Count returns the number of runs that match a filter, whatever its limit.
func (j *Journal) Count(ctx context.Context, f Filter) (n int, err error) {
	if f.Words != "" || f.Among != nil || f.Status == Running || f.Status == engine.Cancelled {
		f.Limit = 0
		list, _, err := j.matching(ctx, f)
		return len(list), err
	}
	err = j.db.Read(ctx, func(c *stores.Conn) error {
		where, args, err := f.where(ctx, c, j.db.Dialect)
		if err != nil {
			return err
		}
		found, err := c.One(ctx, "SELECT count(*) FROM run"+where, args...)
		if err == nil {
			n = int(stores.Integer(found[0]))
		}
		return err
	})
	return n, err
}

// matching returns the runs that match a filter, newest first. A run that has not ended
// has its number in open, and every other run has 0 there.
func (j *Journal) matching(ctx context.Context, f Filter) (list []Summary, open []int64, err error) {
	list = []Summary{}
	var words *search
	err = j.db.Read(ctx, func(c *stores.Conn) error {
		where, args, err := f.where(ctx, c, j.db.Dialect)
		if err == nil && f.Words != "" {
			words, err = j.search(ctx, c, f.Words)
		}
		if err != nil {
			return err
		}
		return c.Each(ctx, func(v []driver.Value) error {
			s := j.summaryOf(v)
			if f.Status != "" && s.Status != f.Status || f.Among != nil && !f.Among[s.RunID] || words != nil && !words.runs[s.n] {
				return nil
			}
			if v[7] != nil {
				s.n = 0
			}
			list, open = append(list, s.Summary), append(open, s.n)
			if len(list) == f.Limit && words == nil {
				return stores.ErrEnough
			}
			return nil
		}, j.summaryColumns()+where+" ORDER BY n DESC", args...)
	})
	if err == nil && words != nil {
		return j.narrow(ctx, list, open, words, f.Limit)
	}
	return list, open, err
}

// A Status is the name of a run and its stored status.
type Status struct{ RunID, Status string }

// Statuses returns the stored statuses of the runs with a name from first to last, in the
// order of the names. The status of a run whose process died is [Running].
func (j *Journal) Statuses(ctx context.Context, first, last string) (list []Status, err error) {
	err = j.db.Read(ctx, func(c *stores.Conn) error {
		return c.Each(ctx, func(v []driver.Value) error {
			list = append(list, Status{stores.Text(v[0]), stores.Text(v[1])})
			return nil
		}, "SELECT id, status FROM run WHERE id BETWEEN ? AND ? ORDER BY id", first, last)
	})
	return list, err
}

// narrow returns the runs that contain the words, up to a limit.
func (j *Journal) narrow(ctx context.Context, list []Summary, open []int64, words *search, limit int) ([]Summary, []int64, error) {
	n := 0
	for i := range list {
		hit, err := j.firstHit(ctx, list[i].RunID, words)
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

// tallies counts the events and costs of unfinished runs.
func (j *Journal) tallies(ctx context.Context, list []Summary, open []int64) error {
	if !slices.ContainsFunc(open, func(n int64) bool { return n > 0 }) {
		return nil
	}
	return j.db.Read(ctx, func(c *stores.Conn) error {
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

// where returns the SQL condition for a filter, as far as SQL can express it.
func (f Filter) where(ctx context.Context, c *stores.Conn, dialect *stores.Dialect) (string, []any, error) {
	var all []string
	var args []any
	add := func(condition string, values ...any) {
		all, args = append(all, condition), append(args, values...)
	}
	switch f.Status {
	case "":
	case engine.Cancelled:
		add("status IN (?, ?)", engine.Cancelled, Running) // in the store, a run without its process is still running
	default:
		add("status = ?", f.Status)
	}
	if f.Cascade != "" {
		add("cascade = ?", f.Cascade)
	}
	if f.Text != "" {
		add("("+dialect.Within+"(lower(id), lower(?)) > 0 OR "+dialect.Within+"(lower(cascade), lower(?)) > 0)", f.Text, f.Text)
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

// tally counts the events and costs of all starts of an unfinished run. The row
// of the run has only those of starts that ended.
func (j *Journal) tally(ctx context.Context, c *stores.Conn, n int64, s *Summary) (err error) {
	if _, s.Events, err = j.lastRow(ctx, c, n); err != nil {
		return err
	}
	s.Usage = model.Usage{}
	finished := visits{}
	again := map[event.Path]model.Usage{} // cost of dropped calls, which the next call at the path includes
	counts := func(kind string) bool {
		return kind == codec.ModelEffect || kind == codec.DroppedEffect || kind == string(event.PhaseFinished)
	}
	err = j.eachRow(ctx, c, n, 0, counts, func(l codec.StoredRow) error {
		if l.Kind == string(event.PhaseFinished) {
			finished.finish(l.Kind, l.Path)
			return nil
		}
		if len(l.Peek()) == 0 {
			return nil // a dropped time limit
		}
		var result codec.Effect
		if err := schema.Unmarshal(l.JSON(), &result); err != nil {
			return j.db.Corrupt(fmt.Sprintf("row %d of run %s", l.Row, s.RunID), err)
		}
		switch {
		case result.Response == nil:
		case l.Kind == codec.DroppedEffect:
			again[l.Path] = result.Response.Usage
		default:
			delete(again, l.Path)
			s.Usage = s.Usage.Add(result.Response.Usage)
		}
		return nil
	})
	s.Phases = len(finished)
	for _, at := range slices.Sorted(maps.Keys(again)) { // a sum of costs depends on the order
		s.Usage = s.Usage.Add(again[at])
	}
	return err
}

// numberOf returns the number and the full name of a run. The id may be its
// name, the beginning of a unique name, or "last".
func numberOf(ctx context.Context, c *stores.Conn, id string) (n int64, name string, err error) {
	found, err := c.One(ctx, "SELECT n, id FROM run WHERE id = ?", id)
	if err == nil && found == nil && id == "last" {
		found, err = c.One(ctx, "SELECT n, id FROM run ORDER BY n DESC LIMIT 1")
	}
	if err != nil {
		return 0, "", err
	}
	if found != nil {
		return stores.Integer(found[0]), stores.Text(found[1]), nil
	}
	var names []string
	if id != "" {
		err = c.Each(ctx, func(v []driver.Value) error {
			n = stores.Integer(v[0])
			names = append(names, stores.Text(v[1]))
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

// find returns the summary of a run.
func (j *Journal) find(ctx context.Context, id string) (s summary, err error) {
	err = j.db.Read(ctx, func(c *stores.Conn) error {
		s, err = j.lookUp(ctx, c, id)
		return err
	})
	return s, err
}

// lookUp is [Journal.find] within a transaction.
func (j *Journal) lookUp(ctx context.Context, c *stores.Conn, id string) (s summary, err error) {
	n, _, err := numberOf(ctx, c, id)
	if err != nil {
		return s, err
	}
	row, err := c.One(ctx, j.summaryColumns()+" WHERE n = ?", n)
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

// Run returns a run. The id may be its name, the beginning of a unique name, or
// "last" for the newest. If there is none, the error is [runner.ErrNoRun].
func (j *Journal) Run(ctx context.Context, id string) (*Run, error) {
	run := &Run{}
	err := j.db.Read(ctx, func(c *stores.Conn) error {
		s, err := j.lookUp(ctx, c, id)
		if err != nil {
			return err
		}
		run.Summary = s.Summary
		if run.Start, err = j.readStart(ctx, c, s.n, codec.RedactedView); err != nil {
			return err
		}
		open, err := j.open(ctx, c, s)
		run.Pending = pendingAt(open, j.db.Now())
		for i := 0; err == nil && i < len(run.Pending); i++ {
			run.Pending[i].NoticeError, err = j.noticeError(ctx, c, s.n, run.Pending[i].Path)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	j.watchers.counted(run.RunID, run.Events)
	return run, nil
}

// Abandoned returns the unfinished runs whose process is gone, the oldest
// first. [Journal.Reopen] resumes them. After an outage of the server the list
// is empty until living processes have had time to renew their leases.
func (j *Journal) Abandoned(ctx context.Context) (ids []string, err error) {
	if !j.db.Store.Judges() {
		return nil, nil
	}
	err = j.db.Read(ctx, func(c *stores.Conn) error {
		return c.Each(ctx, func(v []driver.Value) error {
			if s := j.summaryOf(v); !s.owned {
				ids = append(ids, s.RunID)
			}
			return nil
		}, j.summaryColumns()+" WHERE status = '"+Running+"' ORDER BY n")
	})
	return ids, err
}
