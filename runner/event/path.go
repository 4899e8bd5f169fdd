// Package event defines the events of a run and the paths that address its
// steps. The engine emits events, a [Sink] receives them, and
// [Event.MarshalJSON] encodes them.
//
//	sink := event.Func(func(e event.Event) { fmt.Println(e.Seq, e.Kind, e.Path) })
//
// Begin with [Event] and [Path].
package event

import (
	"cmp"
	"strconv"
	"strings"
)

// A Path is the address of a step in a run: draft/attempt[1]/turn[0]/model. It
// is the same whenever the step is repeated. It is therefore the key of the
// recorded effect and the idempotency key of its call.
type Path string

// Join returns the path with a name appended.
func (p Path) Join(name string) Path {
	if p == "" {
		return Path(name)
	}
	return p + "/" + Path(name)
}

// At returns the path with a numbered name appended: p/name[n].
func (p Path) At(name string, n int) Path {
	if p == "" {
		return Path(name + "[" + strconv.Itoa(n) + "]")
	}
	return p + "/" + Path(name) + "[" + Path(strconv.Itoa(n)) + "]"
}

// Parent returns the path without its last name, or "" for a single name.
func (p Path) Parent() Path { return p[:max(strings.LastIndexByte(string(p), '/'), 0)] }

// First returns the first name of the path, with its number.
func (p Path) First() string {
	first, _, _ := strings.Cut(string(p), "/")
	return first
}

// Last returns the last name of the path, with its number.
func (p Path) Last() string { return string(p[strings.LastIndexByte(string(p), '/')+1:]) }

// SplitIndex splits a name such as draft[2] into the name and the number. It
// returns the segment and 0 if there is no number.
func SplitIndex(segment string) (name string, n int, numbered bool) {
	name, rest, _ := strings.Cut(segment, "[")
	digits, closed := strings.CutSuffix(rest, "]")
	if !closed { // most names have no number: avoid the error of Atoi
		return segment, 0, false
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n < 0 {
		return segment, 0, false
	}
	return name, n, true
}

// Compare compares two paths by name, and equal names by number.
func (p Path) Compare(other Path) int {
	a, b := strings.Split(string(p), "/"), strings.Split(string(other), "/")
	for i := range min(len(a), len(b)) {
		one, m, _ := SplitIndex(a[i])
		two, n, _ := SplitIndex(b[i])
		if order := cmp.Or(cmp.Compare(one, two), cmp.Compare(m, n), cmp.Compare(a[i], b[i])); order != 0 {
			return order
		}
	}
	return cmp.Compare(len(a), len(b))
}
