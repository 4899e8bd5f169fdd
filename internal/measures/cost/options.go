package cost

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/internal/measures/stats"
	"github.com/seed61713e19/capstan/internal/reports"
)

// A way is a choice of settings: a number of attempts, a number of equal reasons in a row, or a
// model for each attempt.
type way struct {
	name      string
	budget    int
	same      int
	fallbacks []string
}

// options adds the present cost and the cost of other ways.
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
	p.Current, _ = all.option(way{name: "as it stands", budget: longest}, money)
	p.Alternatives = []Option{}
	for _, w := range ways(longest, h) {
		o, ok := all.option(w, money)
		if !ok {
			continue
		}
		if was := p.Current.Price.of(money); was > 0 {
			o.Saving = 1 - o.Price.of(money)/was
		}
		p.Alternatives = append(p.Alternatives, o)
	}
	p.Advice, p.Tested = all.advice(ways(longest, h), money)
}

// ways returns all ways that the runs can show.
func ways(longest int, h hazards) []way {
	var list []way
	for n := 1; n < longest; n++ {
		list = append(list, way{name: reports.Count(n, "attempt"), budget: n})
	}
	for same := 2; same < longest; same++ {
		list = append(list, way{name: fmt.Sprintf("stop after the same reason %d times in a row", same), same: same})
	}
	for _, fallbacks := range h.fallbackLists(longest) {
		list = append(list, way{name: strings.Join(fallbacks, " → "), fallbacks: fallbacks})
	}
	return list
}

// fewest is the minimum number of runs in each half.
const fewest = 5

// A sample is a list of outputs with the rates of their attempts. The halves are nil for a small
// number of runs.
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

// option returns the cost of a way, and false if no output is accepted.
func (s *sample) option(w way, money bool) (Option, bool) {
	accepted, price, around, ok := w.of(s, money)
	o := Option{Name: w.name, Attempts: w.budget, Accepted: accepted, Price: price, Interval: around}
	if !ok || s.first == nil {
		return o, ok
	}
	_, predicted, near, saw := w.of(s.first, money)
	_, actual, _, held := w.of(s.rest, money)
	if saw && held && actual.of(money) > 0 {
		o.Check = &Check{Predicted: predicted.of(money), Actual: actual.of(money), Error: predicted.of(money)/actual.of(money) - 1}
		if near != nil && near.Bounded() {
			ahead := near.Ahead(predicted.of(money), 1)
			o.Check.Expected = &ahead
		}
	}
	return o, true
}

// halves splits the outputs by runs. It returns nil for a small number of runs.
func halves(outputs []*output) (first, rest []*output) {
	runs := starts(outputs)
	if len(runs) < 2*fewest {
		return nil, nil
	}
	at := runs[(len(runs)+1)/2]
	return outputs[:at], outputs[at:]
}

// of returns the rate of accepted outputs of a way, the price of one, and the interval of the
// price.
func (w way) of(s *sample, money bool) (accepted stats.Rate, price Price, around *stats.Interval, ok bool) {
	if w.fallbacks != nil {
		accepted, price, ok = s.fallbackCost(w.fallbacks)
		return accepted, price, nil, ok
	}
	var sum Price
	var ratio stats.Ratio
	for _, o := range s.outputs {
		won, spent := w.output(o)
		sum = sum.plus(spent, 1)
		accepted.Add(won)
		ratio.Add(spent.of(money), won)
	}
	if accepted.K == 0 {
		return accepted, price, nil, false
	}
	i := ratio.Interval(stats.Confidence)
	return accepted, sum.over(float64(accepted.K)), &i, true
}

// output reports whether a way accepts the output, and returns its price. An output with a missing
// attempt is not accepted.
func (w way) output(o *output) (won bool, spent Price) {
	won, spent = o.accepted, o.beside
	for _, t := range o.tries {
		n := w.attempts(t)
		won = won && n == len(t.attempts)
		for _, attempt := range t.attempts[:n] {
			spent = spent.plus(attempt.price, 1)
		}
	}
	return won, spent
}

// attempts returns the number of attempts of a conversation.
func (w way) attempts(t *try) int {
	for i := range t.attempts {
		if n := i + 1; n == w.budget || w.same > 0 && repeated(t.attempts[:n]) >= w.same {
			return n
		}
	}
	return len(t.attempts)
}

// repeated returns how often the last reason is repeated.
func repeated(attempts []attempt) int {
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

// hazards are the results of attempts by number and model.
type hazards map[modelKey]*Step

type modelKey struct {
	attempt int
	model   string
}

func seen(outputs []*output) hazards {
	h := hazards{}
	for _, made := range outputs {
		for _, t := range made.tries {
			for i, o := range t.attempts {
				at := modelKey{i + 1, o.model}
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

func (h hazards) byModel() []Step {
	list := []Step{}
	for _, s := range h {
		attempt := *s
		attempt.Price = s.Price.over(float64(s.Accepted.N))
		list = append(list, attempt)
	}
	slices.SortFunc(list, func(a, b Step) int {
		return cmp.Or(cmp.Compare(a.Attempt, b.Attempt), strings.Compare(a.Model, b.Model))
	})
	return list
}

func (h hazards) byAttempt() []Step {
	list := []Step{}
	for _, s := range h.byModel() { // sorted, because the sum of floats depends on the order
		for len(list) < s.Attempt {
			list = append(list, Step{Attempt: len(list) + 1})
		}
		attempt := &list[s.Attempt-1]
		attempt.Accepted, attempt.Price = attempt.Accepted.Plus(s.Accepted), attempt.Price.plus(s.Price, float64(s.Accepted.N))
	}
	for i := range list {
		list[i].Price = list[i].Price.over(float64(list[i].Accepted.N))
	}
	return list
}

// The limits of fallback lists: the attempts of a model, the models of a list, and the number of
// lists.
const (
	enoughSeen       = 10
	maxFallbacks     = 5
	maxFallbackLists = 200
)

// fallbackLists returns the lists of models that the runs can show.
func (h hazards) fallbackLists(longest int) [][]string {
	if models(h.byModel()) < 2 {
		return nil
	}
	var list [][]string
	var grow func(fallbacks []string)
	grow = func(fallbacks []string) {
		if len(list) >= maxFallbackLists {
			return
		}
		if len(fallbacks) > 0 {
			list = append(list, slices.Clone(fallbacks))
		}
		if len(fallbacks) == min(longest, maxFallbacks) {
			return
		}
		for _, s := range h.byModel() {
			if s.Attempt == len(fallbacks)+1 && s.Accepted.N >= enoughSeen && s.Model != "" {
				grow(append(slices.Clip(fallbacks), s.Model))
			}
		}
	}
	grow(nil)
	return list
}

// fallbackCost returns the expected rate and price with a list of models. They are unknown for
// outputs with several conversations.
func (s *sample) fallbackCost(fallbacks []string) (accepted stats.Rate, price Price, ok bool) {
	for _, o := range s.outputs {
		if len(o.tries) > 1 {
			return accepted, price, false
		}
		price = price.plus(o.beside, 1/float64(len(s.outputs)))
	}
	left := 1.0
	for i, model := range fallbacks {
		step := s.hazards[modelKey{i + 1, model}]
		if step == nil || step.Accepted.N == 0 {
			return accepted, price, false
		}
		price = price.plus(step.Price.over(float64(step.Accepted.N)), left)
		left *= 1 - step.Accepted.Value()
	}
	accepted = stats.Rate{K: int(math.Round((1 - left) * float64(len(s.outputs)))), N: len(s.outputs)}
	return accepted, price.over(1 - left), left < 1
}
