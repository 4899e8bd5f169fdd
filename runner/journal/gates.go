package journal

import (
	"bytes"
	"cmp"
	"context"
	"database/sql/driver"
	"slices"
	"time"

	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/validators/schema"
)

// Gates tells how every validator did, over the runs of a cascade or, with "",
// over all; sorted by validator and moment. What a judge was not asked about does
// not count.
func (j *Journal) Gates(ctx context.Context, cascade string) ([]Gate, error) {
	t := gateTally{found: map[[2]string]*Gate{}}
	err := j.reading(ctx, func(c *conn) error {
		var runs []int64
		err := c.each(ctx, func(v []driver.Value) error {
			runs = append(runs, integer(v[0]))
			return nil
		}, "SELECT n FROM run WHERE ?1 = '' OR cascade = ?1", cascade)
		for i := 0; i < len(runs) && err == nil; i++ {
			err = j.eachRow(ctx, c, runs[i], 0, isJudged, func(l logged) error {
				if err := t.row(&l); err != nil {
					return j.garbled("what a validator said", err)
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
type gateTally struct{ found map[[2]string]*Gate }

func (t *gateTally) gate(validator, moment string) *Gate {
	key := [2]string{validator, moment}
	if t.found[key] == nil {
		t.found[key] = &Gate{Validator: validator, Moment: moment}
	}
	return t.found[key]
}

func (t *gateTally) row(l *logged) error {
	if l.kind != string(event.VerdictGiven) {
		return t.effect(l)
	}
	v := l.verdict()
	if v == nil {
		var b body
		if err := schema.Unmarshal(l.json(), &b); err != nil || b.Verdict == nil {
			return err
		}
		v = b.Verdict
	}
	if v.Valid == nil && v.Error == nil {
		return nil
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

// effect counts one that a validator had made, which its row says.
func (t *gateTally) effect(l *logged) error {
	raw := l.json()
	if !bytes.Contains(raw, []byte(`"validator":`)) {
		return nil
	}
	var c came
	if err := schema.Unmarshal(raw, &c); err != nil || c.Validator == "" {
		return err
	}
	g := t.gate(c.Validator, c.Moment)
	g.Seconds += time.Duration(l.took).Seconds()
	if c.Response != nil {
		g.Calls += c.Response.Usage.Calls
		g.CostUSD += c.Response.Usage.CostUSD
	}
	return nil
}
