package journal

import (
	"bytes"
	"cmp"
	"context"
	"database/sql/driver"
	"slices"
	"time"

	"github.com/seed61713e19/capstan/runner/event"
)

// Gates tells how every validator did, over the runs of a cascade or, with "",
// over all; sorted by validator and moment. What a judge was not asked about does
// not count.
func (j *Journal) Gates(ctx context.Context, cascade string) ([]Gate, error) {
	t := gateTally{brief: brief{words: map[string]string{}}, found: map[[2]string]*Gate{}}
	err := j.reading(ctx, func(c *conn) error {
		var runs []int64
		err := c.each(ctx, func(v []driver.Value) error {
			runs = append(runs, integer(v[0]))
			return nil
		}, "SELECT n FROM run WHERE ?1 = '' OR cascade = ?1", cascade)
		for i := 0; i < len(runs) && err == nil; i++ {
			err = j.eachRow(ctx, c, runs[i], 0, isJudged, func(l logged) error {
				if t.row(&l); t.bad {
					return j.garbled("what a validator said", nil)
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

// isJudged picks the rows that tell of validators.
func isJudged(kind string) bool {
	return kind == string(event.VerdictGiven) || kind == modelEffect || kind == findingEffect
}

// A gateTally counts what validators said and what they took.
type gateTally struct {
	brief
	found map[[2]string]*Gate
}

func (t *gateTally) gate(validator, moment string) *Gate {
	key := [2]string{validator, moment}
	if t.found[key] == nil {
		t.found[key] = &Gate{Validator: validator, Moment: moment}
	}
	return t.found[key]
}

func (t *gateTally) row(l *logged) {
	if l.kind != string(event.VerdictGiven) {
		t.effect(l)
		return
	}
	v, broke := t.verdict(l)
	if v.Valid == nil && !broke {
		return
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
}

// effect counts one that a validator had made, which its row says.
func (t *gateTally) effect(l *logged) {
	if !bytes.Contains(l.peek(), []byte(`"validator":`)) {
		return
	}
	if r := t.answered(l); r.validator != "" {
		g := t.gate(r.validator, momentOf(l.path, r.validator))
		g.Seconds += time.Duration(l.took).Seconds()
		g.Calls += r.usage.Calls
		g.CostUSD += r.usage.CostUSD
	}
}
