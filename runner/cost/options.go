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

// A way is one way of making the outputs: as far as so many attempts, up to a reason
// that came so many times in a row, or with a model for each attempt.
type way struct {
	name   string
	budget int
	same   int
	ladder []string
}

// options puts what the outputs cost as they stand beside what they would cost in
// other ways that were seen.
func (t *tally) options(p *Phase, h hazards) {
	longest := 0
	money := false
	for _, o := range t.outputs {
		for _, tried := range o.tries {
			longest = max(longest, len(tried.attempts))
		}
		_, spent := way{}.output(o)
		money = money || spent.CostUSD > 0
	}
	all := sampled(t.outputs, h)
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

// A sample is the outputs with the rates of their attempts. Its halves are nil if they
// have too few runs.
type sample struct {
	outputs     []*output
	hazards     hazards
	first, rest *sample
}

func sampled(outputs []*output, h hazards) *sample {
	s := &sample{outputs: outputs, hazards: h}
	if first, rest := halves(outputs); first != nil {
		s.first, s.rest = &sample{outputs: first, hazards: seen(first)}, &sample{outputs: rest, hazards: seen(rest)}
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

// halves splits the outputs by their runs. It returns nil if there are too few runs.
func halves(outputs []*output) (first, rest []*output) {
	runs := starts(outputs)
	if len(runs) < 2*fewest {
		return nil, nil
	}
	at := runs[(len(runs)+1)/2]
	return outputs[:at], outputs[at:]
}

// of returns the rate of accepted outputs in this way, the price of one, and the
// interval of the price.
func (w way) of(s *sample, money bool) (accepted measure.Rate, price Price, around *measure.Interval, ok bool) {
	if w.ladder != nil {
		accepted, price, ok = s.climb(w.ladder)
		return accepted, price, nil, ok
	}
	var sum Price
	var ratio measure.Ratio
	for _, o := range s.outputs {
		won, spent := w.output(o)
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

// output reports whether the output is accepted in this way, and returns its price. An
// output with a missing attempt is not accepted.
func (w way) output(o *output) (won bool, spent Price) {
	won, spent = o.accepted, o.beside
	for _, t := range o.tries {
		n := w.attempts(t)
		won = won && n == len(t.attempts)
		for _, one := range t.attempts[:n] {
			spent = spent.plus(one.price, 1)
		}
	}
	return won, spent
}

// attempts returns how many attempts of a try this way makes.
func (w way) attempts(t *try) int {
	for i := range t.attempts {
		if n := i + 1; n == w.budget || w.same > 0 && repeated(t.attempts[:n]) >= w.same {
			return n
		}
	}
	return len(t.attempts)
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
	return Price{
		p.CostUSD + times*q.CostUSD, p.Calls + times*q.Calls, p.Seconds + times*q.Seconds, p.Input + times*q.Input, p.Cached + times*q.Cached,
	}
}

func (p Price) over(n float64) Price {
	if n == 0 {
		return Price{}
	}
	return Price{p.CostUSD / n, p.Calls / n, p.Seconds / n, p.Input / n, p.Cached / n}
}

// hazards are how the attempts of each number and model went.
type hazards map[rung]*Step

type rung struct {
	attempt int
	model   string
}

func seen(outputs []*output) hazards {
	h := hazards{}
	for _, made := range outputs {
		for _, t := range made.tries {
			for i, o := range t.attempts {
				at := rung{i + 1, o.model}
				if h[at] == nil {
					h[at] = &Step{Attempt: i + 1, Model: o.model}
				}
				h[at].Accepted.Add(o.accepted)
				h[at].Price = h[at].Price.plus(o.price, 1)
			}
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

// climb returns the expected rate and price with these models, one for each attempt. They
// are unknown for outputs with several conversations.
func (s *sample) climb(ladder []string) (accepted measure.Rate, price Price, ok bool) {
	for _, o := range s.outputs {
		if len(o.tries) > 1 {
			return accepted, price, false
		}
		price = price.plus(o.beside, 1/float64(len(s.outputs)))
	}
	left := 1.0
	for i, model := range ladder {
		step := s.hazards[rung{i + 1, model}]
		if step == nil || step.Accepted.N == 0 {
			return accepted, price, false
		}
		price = price.plus(step.Price.over(float64(step.Accepted.N)), left)
		left *= 1 - step.Accepted.Value()
	}
	accepted = measure.Rate{K: int(math.Round((1 - left) * float64(len(s.outputs)))), N: len(s.outputs)}
	return accepted, price.over(1 - left), left < 1
}
