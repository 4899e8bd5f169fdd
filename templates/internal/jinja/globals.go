package jinja

import (
	"fmt"
	"math"
)

const maxRange = 100_000 // elements, as in Jinja2's sandbox

func (v interval) length() int {
	if v.step > 0 && v.start < v.stop {
		return int((uint64(v.stop)-uint64(v.start)-1)/uint64(v.step)) + 1
	}
	if v.step < 0 && v.stop < v.start {
		return int((uint64(v.start)-uint64(v.stop)-1)/-uint64(v.step)) + 1
	}
	return 0
}

func (v interval) at(i int64) (any, bool) {
	n := int64(v.length())
	if i < 0 {
		i += n
	}
	if i < 0 || i >= n {
		return nil, false
	}
	return v.start + i*v.step, true
}

func (v interval) contains(i int64) bool {
	if v.length() == 0 {
		return false
	}
	last := v.start + int64(v.length()-1)*v.step
	return i >= min(v.start, last) && i <= max(v.start, last) && (i-v.start)%v.step == 0
}

func (v interval) equal(w interval) bool {
	n := v.length()
	return n == w.length() && (n == 0 || v.start == w.start && (n == 1 || v.step == w.step))
}

func (v interval) slice(bounds [3]*int64, step int64) interval {
	start, stop, _ := sliceBounds(bounds, step, v.length())
	return interval{v.start + start*v.step, v.start + stop*v.step, v.step * step}
}

func (v interval) iterate(r *render) *iterator {
	i, n := int64(0), int64(v.length())
	return &iterator{pull: func() (any, bool) {
		if i >= n {
			return nil, false
		}
		r.charge(1)
		i++
		return v.start + (i-1)*v.step, true
	}}
}

// String returns Python's representation of the range.
func (v interval) String() string {
	if v.step == 1 {
		return fmt.Sprintf("range(%d, %d)", v.start, v.stop)
	}
	return fmt.Sprintf("range(%d, %d, %d)", v.start, v.stop, v.step)
}

func makeRange(r *render, _ any, a []any) any {
	v := interval{step: 1}
	switch len(a) {
	case 1:
		v.stop = r.integer(a[0], "the end of a range")
	case 2, 3:
		v.start, v.stop = r.integer(a[0], "the start of a range"), r.integer(a[1], "the end of a range")
	default:
		r.fail("range takes one to three integers")
	}
	if len(a) == 3 {
		v.step = r.integer(a[2], "the stride of a range")
	}
	if v.step == 0 || v.step == math.MinInt64 {
		r.fail("the stride of a range cannot be %d", v.step)
	}
	if n := v.length(); n > maxRange || n < 0 {
		r.fail("the range has more than %d elements", maxRange)
	}
	return v
}

// makeDict implements dict(mapping or pairs, key=value…).
func makeDict(r *render, a *given) *dict {
	d := newDict(len(a.keywords))
	if len(a.positional) > 1 {
		r.fail("dict takes at most one value and key=value pairs")
	}
	if len(a.positional) == 1 {
		source := r.defined(a.positional[0])
		if isMapping(source) {
			for _, e := range r.entries(source) {
				d.set(r, e.key, e.value)
			}
		} else {
			r.addPairs(d, source)
		}
	}
	for _, k := range a.keywords {
		d.set(r, k.key.(string), k.value)
	}
	return d
}

func (r *render) addPairs(d *dict, source any) {
	for item := range r.iterate(source).rest() {
		pair := r.all(r.defined(item))
		if len(pair) != 2 {
			r.fail("a dict is made of pairs, not of %d values", len(pair))
		}
		d.set(r, pair[0], pair[1])
	}
}

// A cycler implements Jinja2's cycler(…).
type cycler struct {
	items    []any
	position int
}

func makeCycler(r *render, _ any, a []any) any {
	if len(a) == 0 {
		r.fail("cycler takes at least one value")
	}
	return &cycler{items: a}
}

func cyclerNext(r *render, self any, _ []any) any {
	c := self.(*cycler)
	value := c.items[c.position]
	c.position = (c.position + 1) % len(c.items)
	return value
}

func cyclerReset(_ *render, self any, _ []any) any {
	self.(*cycler).position = 0
	return nil
}

// A joiner implements Jinja2's joiner(): an empty text in the first call, the
// separator afterwards.
type joiner struct {
	separator any
	used      bool
}

func makeJoiner(_ *render, _ any, a []any) any { return &joiner{separator: a[0]} }

func (j *joiner) call() any {
	if !j.used {
		j.used = true
		return ""
	}
	return j.separator
}
