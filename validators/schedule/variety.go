package schedule

import (
	"fmt"
	"math"
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
			message:  fmt.Sprintf("variety score %s, below %s", told, short(p.Limits.MinVariety)),
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
	if u.largest == nil {
		return 0
	}
	n, all, most := u.byType[u.largest.index], len(p.items), r.policy.Limits.MaxTypeShare
	if above(n, all, most) {
		r.add(typeShare, finding{
			at: "items", message: fmt.Sprintf("%s has %d of %d items, more than %s %%", u.largest.Key, n, all, short(100*most)),
			expected: "at most " + short(100*most) + " %", got: percent(n, all),
		})
	}
	return float64(n) / float64(all)
}

// A mixture is how often the content types stand in the PPV slots; items
// without one count as one type.
type mixture struct {
	slots, largest int
	name           string
}

func (p *plan) contents() mixture {
	var m mixture
	counts := map[string]int{}
	for i := range p.items {
		it := &p.items[i]
		if it.kind == nil || !it.kind.PPV {
			continue
		}
		m.slots++
		if counts[it.content]++; counts[it.content] > m.largest {
			m.largest, m.name = counts[it.content], it.content
		}
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

// contentShare applies the share rule; with so few slots that one alone is
// above it, no type may stand there more than once.
func (r *report) contentShare(m mixture) {
	most := r.policy.Limits.MaxContentShare
	if !above(m.largest, m.slots, most) || m.largest <= 1 && m.slots < fewestSlots(most) {
		return
	}
	r.add(contentShare, finding{
		at: "items", message: fmt.Sprintf("content type %s has %d of %d PPV slots, more than %s %%", strconv.Quote(clip(m.name)), m.largest, m.slots, short(100*most)),
		expected: "at most " + short(100*most) + " %", got: percent(m.largest, m.slots),
	})
}

// fewestSlots is the least number of slots that can keep to a share at all: 4
// for a quarter.
func fewestSlots(share float64) int { return int(math.Ceil(1/share - slack)) }

// above tells whether n of all is more than the share.
func above(n, all int, share float64) bool {
	return float64(n) > share*float64(all)+slack
}

func percent(n, all int) string {
	return short(math.Round(1000*float64(n)/float64(all))/10) + " %"
}
