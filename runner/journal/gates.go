package journal

import (
	"cmp"
	"context"
	"database/sql/driver"
	"slices"
)

// Gates tells how every validator did, over the runs of a cascade or, with "",
// over all; sorted by validator and moment. What a judge was not asked about does
// not count.
func (j *Journal) Gates(ctx context.Context, cascade string) ([]Gate, error) {
	found := map[[2]string]*Gate{}
	gate := func(v []driver.Value) *Gate {
		key := [2]string{word(v[0]), word(v[1])}
		if found[key] == nil {
			found[key] = &Gate{Validator: key[0], Moment: key[1]}
		}
		return found[key]
	}
	err := j.reading(ctx, func(c *conn) error {
		older, err := j.older(c)
		if err != nil {
			return err
		}
		entries := ""
		if older {
			entries = "WITH entry AS (SELECT id >> 32 AS run, kind, took, data FROM log) "
		}
		err = c.each(ctx, func(v []driver.Value) error {
			g := gate(v)
			g.Verdicts, g.Passed, g.Rejected = int(integer(v[2])), int(integer(v[3])), int(integer(v[4]))
			g.Errors, g.Attempts = g.Verdicts-g.Passed-g.Rejected, real(v[5])
			return nil
		}, entries+gateVerdicts, cascade)
		if err != nil {
			return err
		}
		return c.each(ctx, func(v []driver.Value) error {
			if g, known := found[[2]string{word(v[0]), word(v[1])}]; known {
				g.Calls, g.CostUSD, g.Seconds = int(integer(v[2])), real(v[3]), real(v[4])
			}
			return nil
		}, entries+gateEffects, cascade)
	})
	if err != nil {
		return nil, err
	}
	list := make([]Gate, 0, len(found))
	for _, g := range found {
		list = append(list, *g)
	}
	slices.SortFunc(list, func(a, b Gate) int {
		return cmp.Or(cmp.Compare(a.Validator, b.Validator), cmp.Compare(a.Moment, b.Moment))
	})
	return list, nil
}

const gateVerdicts = `SELECT json_extract(data, '$.verdict.validator'), json_extract(data, '$.verdict.moment'), count(*),
	count(*) FILTER (WHERE json_extract(data, '$.verdict.valid')), count(*) FILTER (WHERE NOT json_extract(data, '$.verdict.valid')),
	avg(json_extract(data, '$.verdict.attempt')) FILTER (WHERE json_extract(data, '$.verdict.valid'))
	FROM entry JOIN run ON run.n = entry.run
	WHERE kind = 'verdict' AND (?1 = '' OR cascade = ?1)
	AND coalesce(json_extract(data, '$.verdict.valid'), json_extract(data, '$.verdict.error')) IS NOT NULL GROUP BY 1, 2`

const gateEffects = `SELECT json_extract(data, '$.validator') AS validator, json_extract(data, '$.moment') AS moment,
	sum(json_extract(data, '$.response.usage.model_calls')), sum(json_extract(data, '$.response.usage.cost_usd')), sum(took) / 1e9
	FROM entry JOIN run ON run.n = entry.run
	WHERE kind IN ('effect:model', 'effect:validate') AND (?1 = '' OR cascade = ?1) AND validator IS NOT NULL GROUP BY 1, 2`
