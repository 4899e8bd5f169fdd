package schedule

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/seed61713e19/capstan/validators"
)

// tolerance compensates rounding errors of values that are exactly at a
// threshold.
const tolerance = 1e-9

// variety is the gate of phase 2.5: enough send types, none too frequent, and
// no content type too frequent in the PPV slots.
func (r *report) variety(plan *plan) validators.Verdict {
	p, u := r.policy, plan.usage()
	contents := plan.contents()
	r.diversityGate(u, varietyHard)
	share := r.typeShare(plan, u)
	r.contentShare(contents)
	score := r.varietyScore(u.types, share, contents.share())
	shown := short(math.Floor(score*100+tolerance) / 100) // rounded down, or 74.999 would be shown as 75
	if score < p.Limits.MinVariety-tolerance {
		r.add(varietyLow, finding{
			message: fmt.Sprintf("variety score %s, below %s: %d of %d send types are used, the most frequent for %s of the items; one content type fills %s of the PPV slots",
				shown, short(p.Limits.MinVariety), u.types, len(everySendType()), inPercent(share), inPercent(contents.share())),
			expected: "at least " + short(p.Limits.MinVariety), got: shown,
		})
	}
	status := statusApproved
	if r.rejected() {
		status = statusRejected
	}
	v := r.verdict(status, "variety score "+shown, map[string]any{
		"variety_status": status, "variety_score": score, "unique_types": u.types, "max_type_concentration": share,
		"max_content_concentration": contents.share(), "ppv_slots": contents.slots,
	})
	scaled := min(max(score/100, 0), 1)
	v.Score = &scaled
	return v
}

// varietyScore returns the score by the specified formula.
func (r *report) varietyScore(types int, typeShare, contentShare float64) float64 {
	l := r.policy.Limits
	return float64(types)/float64(len(everySendType()))*l.WeightTypes + (1-typeShare)*l.WeightTypeShare + (1-contentShare)*l.WeightContentShare
}

// typeShare returns the share of the most frequent send type among all items.
func (r *report) typeShare(p *plan, u usage) float64 {
	largest, all, most := 0, len(p.items), r.policy.Limits.MaxTypeShare
	for i, kind := range everySendType() {
		n := u.byType[i]
		largest = max(largest, n)
		if above(n, all, most) {
			r.add(typeShare, finding{
				at: "items", message: fmt.Sprintf("%s has %d of %d items, more than %s %%", kind.Key, n, all, short(100*most)),
				expected: "at most " + short(100*most) + " %", got: percent(n, all),
			})
		}
	}
	return float64(largest) / float64(max(all, 1))
}

// A mixture counts the content types in the PPV slots. Items without one count
// as one type.
type mixture struct {
	slots, largest int
	counts         map[string]int
}

func (p *plan) contents() mixture {
	m := mixture{counts: map[string]int{}}
	for i := range p.items {
		it := &p.items[i]
		if it.kind == nil || !it.kind.PPV {
			continue
		}
		m.slots++
		m.counts[it.content]++
		m.largest = max(m.largest, m.counts[it.content])
	}
	return m
}

// share returns the share of the most frequent content type, or 0 without
// slots.
func (m mixture) share() float64 {
	if m.slots == 0 {
		return 0
	}
	return float64(m.largest) / float64(m.slots)
}

// tooOften reports whether a content type in n slots exceeds the share. With so
// few slots that a single one exceeds it, each type may occur once.
func (m mixture) tooOften(n int, most float64) bool {
	return above(n, m.slots, most) && (n > 1 || m.slots >= fewestSlots(most))
}

// bound describes how often a content type may occur in the slots.
func (m mixture) bound(most float64) string {
	if m.slots < fewestSlots(most) {
		return "one, which is all that fewer than " + strconv.Itoa(fewestSlots(most)) + " slots allow"
	}
	return short(100*most) + " %"
}

func (r *report) contentShare(m mixture) {
	most := r.policy.Limits.MaxContentShare
	if !m.tooOften(m.largest, most) {
		return // avoids sorting 200,000 names
	}
	for _, name := range slices.Sorted(maps.Keys(m.counts)) {
		n := m.counts[name]
		if !m.tooOften(n, most) {
			continue
		}
		r.add(contentShare, finding{
			at: "items", message: fmt.Sprintf("content type %s has %d of %d PPV slots, more than %s", strconv.Quote(clip(name)), n, m.slots, m.bound(most)),
			expected: "at most " + short(100*most) + " %", got: percent(n, m.slots),
		})
	}
}

// fewestSlots returns the smallest number of slots that can satisfy a share: 4
// for a quarter.
func fewestSlots(share float64) int { return int(math.Ceil(1/share - tolerance)) }

// above reports whether n of all exceeds the share.
func above(n, all int, share float64) bool {
	return float64(n) > share*float64(all)+tolerance
}

func percent(n, all int) string { return inPercent(float64(n) / float64(all)) }

func inPercent(share float64) string { return short(math.Round(1000*share)/10) + " %" }
