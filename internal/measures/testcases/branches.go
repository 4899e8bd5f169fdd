package testcases

import (
	"cmp"
	"iter"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
)

// A group contains the branches of a call of Each. The first error cancels the waiting branches.
type group struct {
	outer *branch
	err   error
}

// A branch runs until it ends or waits for an effect that was not recorded.
type branch struct {
	*group
	yield func(struct{}) bool
}

// cancelled returns the error that has cancelled the branch or a branch around it.
func (b *branch) cancelled() error {
	for ; b != nil; b = b.outer {
		if b.err != nil {
			return engine.Beside(b.err)
		}
	}
	return nil
}

// wait returns the error of an effect without an answer. Another branch or a time limit has
// cancelled the effect, or it was not recorded.
func (h *host) wait(e *effect) error {
	h.yieldAtRandom()
	for !h.stuck {
		if err := h.branch.cancelled(); err != nil {
			return err
		}
		if h.branch == nil {
			break
		}
		h.branch.yield(struct{}{})
	}
	if over := h.scope.over(); over != nil {
		over.expired = true
		return &engine.Overtime{At: over.at}
	}
	h.missing[e] = true
	return errMissing
}

// cancelledEarlier returns the error that has cancelled the branch before it starts others, or
// between two phases. In the recorded run the error usually came later. A random choice decides.
func (h *host) cancelledEarlier() error {
	h.yieldAtRandom()
	if h.random == nil || h.random.IntN(2) == 0 {
		return nil
	}
	return h.branch.cancelled()
}

// beforeUnrecorded returns the error that has cancelled the branch before a check without a
// recorded verdict. In most random choices, the check waits for such an error.
func (h *host) beforeUnrecorded() error {
	switch {
	case h.branch == nil || h.random == nil:
	case h.random.IntN(4) == 0:
		return nil
	default:
		for !h.stuck && h.branch.cancelled() == nil {
			h.branch.yield(struct{}{})
		}
	}
	return h.branch.cancelled()
}

// yieldAtRandom lets other branches run first, by random choice.
func (h *host) yieldAtRandom() {
	for h.branch != nil && h.random != nil && !h.stuck && h.random.IntN(2) == 0 {
		h.yielded = true
		h.branch.yield(struct{}{})
	}
}

// Each runs the bodies one after the other. A waiting body continues when the error of another body
// cancels it, or if all bodies wait.
func (h *host) Each(n, limit int, body func(engine.Host, int) error) error {
	if n == 0 {
		return nil
	}
	if limit <= 0 || limit > n {
		limit = n
	}
	g := &group{outer: h.branch}
	var waiting []func() (struct{}, bool)
	goOn := func(list ...func() (struct{}, bool)) {
		for _, next := range list {
			if _, waits := next(); waits {
				waiting = append(waiting, next)
			}
		}
	}
	resume := func() {
		list := waiting
		waiting = nil
		goOn(list...)
	}
	starts := h.starts(n, limit)
	for i := 0; i < n || len(waiting) > 0; {
		switch {
		case g.err != nil && i < n && (i >= limit || h.random != nil && h.random.IntN(2) == 0):
			i = n // bodies that have not started do not start
		case g.err != nil && len(waiting) > 0:
			resume()
		case i < n && len(waiting) < limit:
			if err := h.cancelledEarlier(); err != nil {
				i, g.err = n, cmp.Or(g.err, err)
				continue
			}
			next, _ := iter.Pull(h.in(g, starts[i], body))
			goOn(next)
			i++
		case h.branch == nil:
			h.stuck, h.yielded = !h.yielded, false
			resume()
			h.stuck = false
		default:
			if !h.stuck && h.branch.cancelled() == nil {
				h.branch.yield(struct{}{})
			}
			resume()
		}
	}
	h.cut = h.cut || g.err != nil
	return g.err
}

// starts returns the order in which branches start. Branches that start at the same time may share
// the rest of a budget, so the order matters. The replay knows it as a number.
func (r *replay) starts(n, limit int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	switch first := list[:limit]; r.order {
	case 0:
	case 1: // the last first, which is common for goroutines
		copy(first, slices.Concat(first[limit-1:], first[:limit-1]))
	default:
		rand.New(rand.NewPCG(uint64(r.order), 0)).Shuffle(limit, func(i, j int) { first[i], first[j] = first[j], first[i] })
	}
	return list
}

// in returns one body as a coroutine of the group.
func (h *host) in(g *group, i int, body func(engine.Host, int) error) iter.Seq[struct{}] {
	return func(yield func(struct{}) bool) {
		within := &host{h.replay, &branch{g, yield}, h.scope}
		err := body(within, i)
		if within.yieldAtRandom(); err != nil && g.err == nil {
			g.err = err
		}
	}
}

// A scope is a time limit. It is exceeded if the test case says so.
type scope struct {
	outer    *scope
	at       event.Path
	timedOut bool
	expired  bool // the error was returned
}

// over returns the innermost scope whose limit was exceeded.
func (s *scope) over() *scope {
	for ; s != nil; s = s.outer {
		if s.timedOut {
			return s
		}
	}
	return nil
}

// Within runs the body. Its limit is exceeded at the first effect without an answer.
func (h *host) Within(at event.Path, _ time.Duration, body func(engine.Host) error) error {
	before := h.stored[at]
	s := &scope{outer: h.scope, at: at, timedOut: before != nil && before.timedOut}
	err := body(&host{h.replay, h.branch, s})
	if err == nil || !s.expired {
		return err
	}
	e := &effect{at: at, kind: timeoutKind, timedOut: true}
	h.asked = append(h.asked, e)
	return &engine.Overtime{At: at}
}
