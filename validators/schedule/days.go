package schedule

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
)

// dayItems are the items of one calendar day, by scheduled_date.
type dayItems struct {
	day   int
	items []*item
	price float64
}

// byDay returns the days with items, in order. It omits items without a date.
func (p *plan) byDay() []*dayItems {
	days := map[int]*dayItems{}
	for i := range p.items {
		it := &p.items[i]
		if it.day == noDay {
			continue
		}
		d := days[it.day]
		if d == nil {
			d = &dayItems{day: it.day}
			days[it.day] = d
		}
		d.items = append(d.items, it)
		if !math.IsNaN(it.price) {
			d.price += it.price
		}
	}
	list := make([]*dayItems, 0, len(days))
	for _, day := range slices.Sorted(maps.Keys(days)) {
		list = append(list, days[day])
	}
	return list
}

func (d *dayItems) String() string {
	return fmt.Sprintf("%s %s", weekday(d.day), dateText(d.day))
}

// volume compares each day with the volume configuration.
func (r *report) volume(p *plan, week []*dayItems) {
	most := r.policy.Limits.MaxVolumeRatio
	for _, d := range week {
		n, expected := len(d.items), p.expected.of(d.day)
		if math.IsNaN(expected) {
			r.add(untestedRule, finding{at: dateText(d.day), message: "volume_config.weekly_distribution says nothing of this day"})
			continue
		}
		if float64(n) > most*expected*(1+tolerance) {
			r.add(volumeRule, finding{
				at: dateText(d.day), message: fmt.Sprintf("%d items on %s, more than %s times the expected %s", n, d, short(most), short(expected)),
				expected: "at most " + short(most*expected), got: fmt.Sprint(n),
			})
		}
	}
}

// clustering finds groups of items of a day within the window. Both ends belong to the window.
// Reported windows do not overlap.
func (r *report) clustering(week []*dayItems) {
	least, span := r.policy.Limits.ClusterItems, int64(r.policy.Limits.ClusterMinutes)*60
	for _, d := range week {
		timed := slices.DeleteFunc(slices.Clone(d.items), func(it *item) bool { return !it.timed })
		slices.SortStableFunc(timed, func(a, b *item) int { return cmp.Compare(a.at, b.at) })
		for i := 0; i < len(timed); {
			end := i
			for end < len(timed) && timed[end].at-timed[i].at <= span {
				end++
			}
			if end-i < least {
				i++
				continue
			}
			r.add(clusteringRule, finding{
				at:      itemAt(timed[i].index),
				message: fmt.Sprintf("%d items scheduled within %d minutes on %s from %s", end-i, r.policy.Limits.ClusterMinutes, d, clip(timed[i].time)),
			})
			i = end
		}
	}
}

// concentration finds a day with too large a share of the week's prices.
func (r *report) concentration(week []*dayItems) {
	total := 0.0
	for _, d := range week {
		total += d.price
	}
	most := r.policy.Limits.MaxDayRevenue
	for _, d := range week {
		if total > 0 && d.price > most*total*(1+tolerance) {
			r.add(revenueDay, finding{
				at: dateText(d.day), message: fmt.Sprintf("%s has %.1f %% of the price sum, more than %s %%", d, 100*d.price/total, short(100*most)),
				expected: "at most " + short(100*most) + " %", got: fmt.Sprintf("%.1f %%", 100*d.price/total),
			})
		}
	}
}
