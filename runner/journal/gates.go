package journal

import (
	"bytes"
	"cmp"
	"context"
	"database/sql/driver"
	"slices"
	"time"

	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/internal/codec"
	"github.com/seed61713e19/capstan/runner/journal/internal/stores"
)

// Gates returns statistics of every validator, sorted by validator and moment.
// They cover the runs of a cascade, or all runs if cascade is empty. Checks
// that a judge was not asked do not count.
func (j *Journal) Gates(ctx context.Context, cascade string) ([]Gate, error) {
	t := gateTally{found: map[[2]string]*Gate{}}
	err := j.db.Read(ctx, func(c *stores.Conn) error {
		var runs []int64
		err := c.Each(ctx, func(v []driver.Value) error {
			runs = append(runs, stores.Integer(v[0]))
			return nil
		}, "SELECT n FROM run WHERE ?1 = '' OR cascade = ?1", cascade)
		for i := 0; i < len(runs) && err == nil; i++ {
			err = j.eachRow(ctx, c, runs[i], 0, isJudged, func(l codec.StoredRow) error {
				if err := t.row(&l); err != nil {
					return j.db.Corrupt("the row of a validator", err)
				}
				return nil
			})
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	list := make([]Gate, 0, len(t.found))
	for _, g := range t.found {
		if g.Verdicts == 0 {
			continue
		}
		if g.Passed > 0 {
			g.Attempts /= float64(g.Passed)
		}
		list = append(list, *g)
	}
	slices.SortFunc(list, func(a, b Gate) int {
		return cmp.Or(cmp.Compare(a.Validator, b.Validator), cmp.Compare(a.Moment, b.Moment))
	})
	return list, nil
}

// isJudged reports whether rows of a kind belong to validators.
func isJudged(kind string) bool {
	return kind == string(event.VerdictGiven) || kind == codec.ModelEffect || kind == codec.FindingEffect
}

// A gateTally counts verdicts and their cost, as the rows of effects have it. It also counts
// those of cascades within a run, which [Journal.Attempts] leaves out.
type gateTally struct {
	found map[[2]string]*Gate
}

func (t *gateTally) gate(validator, moment string) *Gate {
	key := [2]string{validator, moment}
	if t.found[key] == nil {
		t.found[key] = &Gate{Validator: validator, Moment: moment}
	}
	return t.found[key]
}

func (t *gateTally) row(l *codec.StoredRow) error {
	if l.Kind != string(event.VerdictGiven) {
		return t.effect(l)
	}
	v, err := l.Verdict()
	if err != nil || v.Valid == nil && v.Error == nil {
		return err
	}
	g := t.gate(v.Validator, v.Moment)
	g.Verdicts++
	switch {
	case v.Valid == nil:
		g.Errors++
	case *v.Valid:
		g.Passed++
		g.Attempts += float64(v.Attempt)
	default:
		g.Rejected++
	}
	return nil
}

// effect adds the cost of an effect of a validator.
func (t *gateTally) effect(l *codec.StoredRow) error {
	if !bytes.Contains(l.Peek(), []byte(`"validator":`)) {
		return nil
	}
	r, err := l.Reply()
	if err == nil && r.Validator != "" {
		g := t.gate(r.Validator, momentOf(l.Path, r.Validator))
		g.Seconds += time.Duration(l.Took).Seconds()
		if r.Response != nil {
			g.Calls += r.Response.Usage.Calls
			g.CostUSD += r.Response.Usage.CostUSD
		}
	}
	return err
}
