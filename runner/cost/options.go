package cost

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/runner/measure"
	"github.com/seed61713e19/capstan/runner/reports"
)

// A way is one way of doing the tries: as far as so many attempts, up to a reason
// that came so many times in a row, or with a model for each attempt.
type way struct {
	name   string
	budget int
	same   int
	ladder []string
}

// options puts what the tries cost as they stand beside what they would cost in
// other ways that were seen.
func (t *tally) options(p *Phase, h hazards) {
	longest := 0
	money := false
	for _, tried := range t.tries {
		longest = max(longest, len(tried.attempts))
		for _, o := range tried.attempts {
			money = money || o.price.CostUSD > 0
		}
	}
	all := sampled(t.tries, h)
	p.Now, _ = all.option(way{name: "as it stands", budget: longest}, money)
	p.Others = []Option{}
	for _, w := range ways(longest, h) {
		o, ok := all.option(w, money)
		if !ok {
			continue
		}
		if was := p.Now.Price.of(money); was > 0 {
			o.Saving = 1 - o.Price.of(money)/was
		}
		p.Others = append(p.Others, o)
	}
	p.Advice, p.Tested = all.advice(ways(longest, h), money)
}

// ways lists what can be said something of.
func ways(longest int, h hazards) []way {
	var list []way
	for n := 1; n < longest; n++ {
		list = append(list, way{name: reports.Count(n, "attempt"), budget: n})
	}
	for same := 2; same < longest; same++ {
		list = append(list, way{name: fmt.Sprintf("stop after the same reason %d times in a row", same), same: same})
	}
	for _, ladder := range h.ladders(longest) {
		list = append(list, way{name: strings.Join(ladder, " → "), ladder: ladder})
	}
	return list
}

// fewest is how many runs each half must have for one to be held against the
// other.
const fewest = 5

// A sample is tries with how their attempts went, and its halves, where each has
// enough runs.
type sample struct {
	tries       []*try
	hazards     hazards
	first, rest *sample
}

func sampled(tries []*try, h hazards) *sample {
	s := &sample{tries: tries, hazards: h}
	if first, rest := halves(tries); first != nil {
		s.first, s.rest = &sample{tries: first, hazards: seen(first)}, &sample{tries: rest, hazards: seen(rest)}
	}
	return s
}

// option is what a way costs, false where nothing is accepted so.
func (s *sample) option(w way, money bool) (Option, bool) {
	accepted, price, around, ok := w.of(s, money)
	o := Option{Name: w.name, Attempts: w.budget, Accepted: accepted, Price: price, Around: around}
	if !ok || s.first == nil {
		return o, ok
	}
	_, predicted, near, saw := w.of(s.first, money)
	_, came, _, held := w.of(s.rest, money)
	if saw && held && came.of(money) > 0 {
		o.Check = &Check{Predicted: predicted.of(money), Came: came.of(money), Error: predicted.of(money)/came.of(money) - 1}
		if near != nil && near.Bounded() {
			ahead := near.Ahead(predicted.of(money), 1)
			o.Check.Expected = &ahead
		}
	}
	return o, true
}

// halves splits the tries by their runs; nil where there are too few.
func halves(tries []*try) (first, rest []*try) {
	runs := starts(tries)
	if len(runs) < 2*fewest {
		return nil, nil
	}
	at := runs[(len(runs)+1)/2]
	return tries[:at], tries[at:]
}

// of is how many of the tries are accepted in this way, what one that is takes, and
// the interval around that.
func (w way) of(s *sample, money bool) (accepted measure.Rate, price Price, around *measure.Interval, ok bool) {
	if w.ladder != nil {
		accepted, price, ok = s.hazards.climb(w.ladder, len(s.tries))
		return accepted, price, nil, ok
	}
	var sum Price
	var ratio measure.Ratio
	for _, t := range s.tries {
		won, spent := w.try(t)
		sum = sum.plus(spent, 1)
		accepted.Add(won)
		ratio.Add(spent.of(money), won)
	}
	if accepted.K == 0 {
		return accepted, price, nil, false
	}
	i := ratio.Interval(measure.Confidence)
	return accepted, sum.over(float64(accepted.K)), &i, true
}

// try is whether the try is accepted in this way, and what it takes.
func (w way) try(t *try) (won bool, spent Price) {
	for i, o := range t.attempts {
		if w.budget > 0 && i >= w.budget {
			break
		}
		spent = spent.plus(o.price, 1)
		if won = o.accepted; won || w.same > 0 && repeated(t.attempts[:i+1]) >= w.same {
			break
		}
	}
	return won, spent
}

// repeated is how often the last reason has come in a row.
func repeated(attempts []one) int {
	n := 0
	last := attempts[len(attempts)-1].reason
	for i := len(attempts) - 1; i >= 0 && attempts[i].reason == last; i-- {
		n++
	}
	return n
}

func (p Price) plus(q Price, times float64) Price {
	return Price{p.CostUSD + times*q.CostUSD, p.Calls + times*q.Calls, p.Seconds + times*q.Seconds}
}

func (p Price) over(n float64) Price {
	if n == 0 {
		return Price{}
	}
	return Price{p.CostUSD / n, p.Calls / n, p.Seconds / n}
}

// hazards are how the attempts of each number and model went.
type hazards map[rung]*Step

type rung struct {
	attempt int
	model   string
}

func seen(tries []*try) hazards {
	h := hazards{}
	for _, t := range tries {
		for i, o := range t.attempts {
			at := rung{i + 1, o.model}
			if h[at] == nil {
				h[at] = &Step{Attempt: i + 1, Model: o.model}
			}
			h[at].Accepted.Add(o.accepted)
			h[at].Price = h[at].Price.plus(o.price, 1)
		}
	}
	return h
}

func (h hazards) byRung() []Step {
	list := []Step{}
	for _, s := range h {
		one := *s
		one.Price = s.Price.over(float64(s.Accepted.N))
		list = append(list, one)
	}
	slices.SortFunc(list, func(a, b Step) int {
		return cmp.Or(cmp.Compare(a.Attempt, b.Attempt), strings.Compare(a.Model, b.Model))
	})
	return list
}

func (h hazards) byAttempt() []Step {
	list := []Step{}
	for _, s := range h.byRung() { // in their order, on which the last digit of a sum hangs
		for len(list) < s.Attempt {
			list = append(list, Step{Attempt: len(list) + 1})
		}
		one := &list[s.Attempt-1]
		one.Accepted, one.Price = one.Accepted.Plus(s.Accepted), one.Price.plus(s.Price, float64(s.Accepted.N))
	}
	for i := range list {
		list[i].Price = list[i].Price.over(float64(list[i].Accepted.N))
	}
	return list
}

// Bounds of ladders: how often a model must have been seen at an attempt, how many
// attempts a ladder has, and how many are looked at.
const (
	enoughSeen  = 10
	mostRungs   = 5
	mostLadders = 200
)

// ladders lists the models for one attempt after the other, where there are
// several to choose from, of those that were seen there.
func (h hazards) ladders(longest int) [][]string {
	if models(h.byRung()) < 2 {
		return nil
	}
	var list [][]string
	var grow func(ladder []string)
	grow = func(ladder []string) {
		if len(list) >= mostLadders {
			return
		}
		if len(ladder) > 0 {
			list = append(list, slices.Clone(ladder))
		}
		if len(ladder) == min(longest, mostRungs) {
			return
		}
		for _, s := range h.byRung() {
			if s.Attempt == len(ladder)+1 && s.Accepted.N >= enoughSeen && s.Model != "" {
				grow(append(slices.Clip(ladder), s.Model))
			}
		}
	}
	grow(nil)
	return list
}

// climb is what is to be expected of n tries with these models, one for each
// attempt.
func (h hazards) climb(ladder []string, n int) (accepted measure.Rate, price Price, ok bool) {
	left := 1.0
	for i, model := range ladder {
		s := h[rung{i + 1, model}]
		if s == nil || s.Accepted.N == 0 {
			return accepted, price, false
		}
		price = price.plus(s.Price.over(float64(s.Accepted.N)), left)
		left *= 1 - s.Accepted.Value()
	}
	accepted = measure.Rate{K: int(math.Round((1 - left) * float64(n))), N: n}
	return accepted, price.over(1 - left), left < 1
}
