package cases

import (
	"cmp"
	"iter"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
)

// A group is the branches of one Each. Its first error cancels those that wait.
type group struct {
	outer *branch
	err   error
}

// A branch is one of a group. It runs until it ends or waits for what was not
// recorded, which another branch's error may have cut short.
type branch struct {
	*group
	yield func(struct{}) bool
}

// cancelled gives the error that has cancelled the branch or one around it.
func (b *branch) cancelled() error {
	for ; b != nil; b = b.outer {
		if b.err != nil {
			return engine.Beside(b.err)
		}
	}
	return nil
}

// wait is for an effect without an answer. It was never made, or cut short by
// another branch or the end of its time.
func (h *host) wait(e *effect) error {
	h.dawdle()
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

// overtaken gives the error that has cancelled the branch before it begins others,
// or between two phases. It comes behind that, where lots do not say otherwise.
func (h *host) overtaken() error {
	h.dawdle()
	if h.lots == nil || h.lots.IntN(2) == 0 {
		return nil
	}
	return h.branch.cancelled()
}

// untold gives the error that has cancelled the branch before a check of which
// nobody was told. Lots mostly have it wait for one.
func (h *host) untold() error {
	switch {
	case h.branch == nil || h.lots == nil:
	case h.lots.IntN(4) == 0:
		return nil
	default:
		for !h.stuck && h.branch.cancelled() == nil {
			h.branch.yield(struct{}{})
		}
	}
	return h.branch.cancelled()
}

// dawdle lets other branches go ahead, by lot.
func (h *host) dawdle() {
	for h.branch != nil && h.lots != nil && !h.stuck && h.lots.IntN(2) == 0 {
		h.dawdled = true
		h.branch.yield(struct{}{})
	}
}

// Each runs the bodies one after the other. One that waits is left aside until
// another's error cancels it, or nothing else can go on.
func (h *host) Each(n, limit int, body func(engine.Host, int) error) error {
	if n == 0 {
		return nil // what nothing begins has no order
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
		case g.err != nil && i < n && (i >= limit || h.lots != nil && h.lots.IntN(2) == 0):
			i = n // those that had not begun by then do not
		case g.err != nil && len(waiting) > 0:
			resume()
		case i < n && len(waiting) < limit:
			if err := h.overtaken(); err != nil {
				i, g.err = n, cmp.Or(g.err, err)
				continue
			}
			next, _ := iter.Pull(h.in(g, starts[i], body))
			goOn(next)
			i++
		case h.branch == nil:
			h.stuck, h.dawdled = !h.dawdled, false
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

// starts is the order in which branches begin. Where several begin at the same
// time it is anybody's guess which comes first, and where they share what is
// left of a budget it matters: the replay's order says which guess to take.
func (r *replay) starts(n, limit int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	switch first := list[:limit]; r.order {
	case 0:
	case 1: // the last first, as goroutines often go
		copy(first, slices.Concat(first[limit-1:], first[:limit-1]))
	default:
		rand.New(rand.NewPCG(uint64(r.order), 0)).Shuffle(limit, func(i, j int) { first[i], first[j] = first[j], first[i] })
	}
	return list
}

// in is one body as a coroutine of the group.
func (h *host) in(g *group, i int, body func(engine.Host, int) error) iter.Seq[struct{}] {
	return func(yield func(struct{}) bool) {
		within := &host{h.replay, &branch{g, yield}, h.scope}
		err := body(within, i)
		if within.dawdle(); err != nil && g.err == nil {
			g.err = err
		}
	}
}

// A scope is a bound of time, which is over where the case says so.
type scope struct {
	outer    *scope
	at       event.Path
	timedOut bool
	expired  bool // somebody was told
}

// over gives the innermost scope whose time was over.
func (s *scope) over() *scope {
	for ; s != nil; s = s.outer {
		if s.timedOut {
			return s
		}
	}
	return nil
}

// Within runs the body; its time is over at the first thing that it did not
// get any more.
func (h *host) Within(at event.Path, _ time.Duration, body func(engine.Host) error) error {
	before := h.frozen[at]
	s := &scope{outer: h.scope, at: at, timedOut: before != nil && before.timedOut}
	err := body(&host{h.replay, h.branch, s})
	if err == nil || !s.expired {
		return err
	}
	e := &effect{at: at, kind: timeoutKind, timedOut: true}
	h.asked = append(h.asked, e)
	return &engine.Overtime{At: at}
}
