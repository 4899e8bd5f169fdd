package schedule

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/seed61713e19/capstan/validators"
)

// slack forgives what binary fractions do to a value that stands exactly on a
// threshold.
const slack = 1e-9

// variety is phase 2.5: enough send types, none too frequent, and no content
// type too frequent among the PPV slots.
func (r *report) variety(plan *plan) validators.Verdict {
	p, u := r.policy, plan.usage()
	contents := plan.contents()
	r.diversityGate(u, varietyHard)
	share := r.typeShare(plan, u)
	r.contentShare(contents)
	score := r.varietyScore(u.types, share, contents.share())
	told := short(math.Floor(score*100+slack) / 100) // never up, or 74.999 would read as 75
	if score < p.Limits.MinVariety-slack {
		r.add(varietyLow, finding{
			message: fmt.Sprintf("variety score %s, below %s: %d of %d send types, one with %s of the items, one content type with %s of the PPV slots",
				told, short(p.Limits.MinVariety), u.types, len(everySendType()), inPercent(share), inPercent(contents.share())),
			expected: "at least " + short(p.Limits.MinVariety), got: told,
		})
	}
	status := Approved
	if r.refused() {
		status = Rejected
	}
	v := r.verdict(status, "variety score "+told, map[string]any{
		"variety_status": status, "variety_score": score, "unique_types": u.types, "max_type_concentration": share,
		"max_content_concentration": contents.share(), "ppv_slots": contents.slots,
	})
	scaled := min(max(score/100, 0), 1)
	v.Score = &scaled
	return v
}

// varietyScore is the seed's formula.
func (r *report) varietyScore(types int, typeShare, contentShare float64) float64 {
	l := r.policy.Limits
	return float64(types)/float64(len(everySendType()))*l.WeightTypes + (1-typeShare)*l.WeightTypeShare + (1-contentShare)*l.WeightContentShare
}

// typeShare is the share of the most frequent send type among all items.
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

// A mixture is how often each content type stands in the PPV slots; items
// without one count as one type.
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

// share is 0 where there is no slot.
func (m mixture) share() float64 {
	if m.slots == 0 {
		return 0
	}
	return float64(m.largest) / float64(m.slots)
}

// tooOften applies the share rule to a content type that stands in n of the slots;
// with so few slots that one alone is above it, none may stand there more than once.
func (m mixture) tooOften(n int, most float64) bool {
	return above(n, m.slots, most) && (n > 1 || m.slots >= fewestSlots(most))
}

// bound is in words how often a content type may stand in the slots.
func (m mixture) bound(most float64) string {
	if m.slots < fewestSlots(most) {
		return "one, which is all that fewer than " + strconv.Itoa(fewestSlots(most)) + " slots allow"
	}
	return short(100*most) + " %"
}

func (r *report) contentShare(m mixture) {
	most := r.policy.Limits.MaxContentShare
	if !m.tooOften(m.largest, most) {
		return // of 200,000 names none is sorted for nothing
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

// fewestSlots is the least number of slots that can keep to a share at all: 4
// for a quarter.
func fewestSlots(share float64) int { return int(math.Ceil(1/share - slack)) }

// above tells whether n of all is more than the share.
func above(n, all int, share float64) bool {
	return float64(n) > share*float64(all)+slack
}

func percent(n, all int) string { return inPercent(float64(n) / float64(all)) }

func inPercent(share float64) string { return short(math.Round(1000*share)/10) + " %" }
