package schedule

import (
	"context"
	"fmt"
	"time"

	"github.com/seed61713e19/capstan/validators"
)

// maxAlternatives is the maximum number of items for which layer 2 suggests
// another caption.
const maxAlternatives = 100

// selection is the gate of layer 2: the vault and AVOID checks of every
// caption, the proof of the read data, and the next best captions for those
// that are not allowed.
func (p *gatePolicy) selection(ctx context.Context, db *DB, m map[string]any, now time.Time) (validators.Verdict, error) {
	r := newReport(p)
	plan := r.read(m, 0)
	var f facts
	alternatives := []any{}
	err := db.reading(ctx, func(t tx) (err error) {
		if f, err = t.facts(plan.creator); err != nil || !f.known() {
			return err
		}
		alternatives, err = t.alternatives(plan, f, now)
		return err
	})
	if err != nil {
		return validators.Verdict{}, err
	}
	return r.selectionVerdict(plan, f, alternatives, now), nil
}

// selectionVerdict checks the captions of a plan against the vault and the tiers
// of a creator. The verdict has the alternatives for refused items.
func (r *report) selectionVerdict(p *plan, f facts, alternatives []any, now time.Time) validators.Verdict {
	if r.checkCreator(p, f) {
		r.vaultGate(p, f)
	}
	status := statusApproved
	if r.rejected() {
		status = statusRejected
	}
	return r.verdict(status, fmt.Sprintf("%d captions keep to the vault and the AVOID tier", len(p.items)), map[string]any{
		"selection_status": status, "validation_proof": proof(p, f, now), "alternatives": alternatives,
		"violations_found": map[string]any{"vault": r.counts[vaultRule], "avoid_tier": r.counts[avoidRule]},
	})
}

// alternatives returns, for each item that is not allowed, the best unused
// caption of its send type.
func (t tx) alternatives(p *plan, f facts, now time.Time) ([]any, error) {
	list := []any{}
	used := map[string]bool{}
	for i := range p.items {
		used[captionOrder(p.items[i].caption)] = true
	}
	pools := map[string][]caption{}
	for i := range p.items {
		it := &p.items[i]
		if it.kind == nil || f.inVault[it.content] && !f.avoided[it.content] {
			continue
		}
		if len(list) == maxAlternatives {
			break
		}
		pool, ok := pools[it.kind.Key]
		if !ok {
			var err error
			if pool, err = t.captions(captionQuery{f.id, it.kind, maxAlternatives, now}); err != nil {
				return nil, err
			}
		}
		for len(pool) > 0 && used[captionOrder(pool[0].ID)] {
			pool = pool[1:]
		}
		if len(pool) > 0 {
			list = append(list, pool[0].alternative(it.index))
			pool = pool[1:]
		}
		pools[it.kind.Key] = pool
	}
	return list, nil
}

// alternative returns the caption as a suggestion for an item.
func (c caption) alternative(item int) map[string]any {
	m := map[string]any{"item": item, "caption_id": c.ID, "caption_text": c.Text, "content_type": c.ContentType}
	if c.Type != nil {
		m["caption_type"] = *c.Type
	}
	if c.Score != nil {
		m["performance_score"] = *c.Score
	}
	if c.DaysUnused != nil {
		m["days_since_last_use"] = *c.DaysUnused
	}
	return m
}
