// Package event says what happened in a run, and where.
package event

import (
	"cmp"
	"strconv"
	"strings"
)

// A Path is the address of something in a run: draft/attempt[1]/turn[0]/model.
// It is the same whenever the same thing is done again, so it is the key under
// which an effect is recorded and the idempotency key of what it calls.
type Path string

// Join adds a name to the path.
func (p Path) Join(name string) Path {
	if p == "" {
		return Path(name)
	}
	return p + "/" + Path(name)
}

// At adds a numbered name to the path: p/name[n].
func (p Path) At(name string, n int) Path {
	if p == "" {
		return Path(name + "[" + strconv.Itoa(n) + "]")
	}
	return p + "/" + Path(name) + "[" + Path(strconv.Itoa(n)) + "]"
}

// Up is the path without its last name, "" where it has one alone.
func (p Path) Up() Path { return p[:max(strings.LastIndexByte(string(p), '/'), 0)] }

// First is the first name of the path, with its number.
func (p Path) First() string {
	first, _, _ := strings.Cut(string(p), "/")
	return first
}

// Last is the last name of the path, with its number.
func (p Path) Last() string { return string(p[strings.LastIndexByte(string(p), '/')+1:]) }

// Numbered takes the number off a name of a path: draft[2]. Of one that has none it
// is 0.
func Numbered(segment string) (name string, n int, numbered bool) {
	name, rest, _ := strings.Cut(segment, "[")
	digits, closed := strings.CutSuffix(rest, "]")
	if !closed { // most have none: no error is made of that
		return segment, 0, false
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n < 0 {
		return segment, 0, false
	}
	return name, n, true
}

// Compare returns the order of two paths: by their names, and where these are the
// same by their numbers.
func (p Path) Compare(other Path) int {
	a, b := strings.Split(string(p), "/"), strings.Split(string(other), "/")
	for i := range min(len(a), len(b)) {
		one, m, _ := Numbered(a[i])
		two, n, _ := Numbered(b[i])
		if order := cmp.Or(cmp.Compare(one, two), cmp.Compare(m, n), cmp.Compare(a[i], b[i])); order != 0 {
			return order
		}
	}
	return cmp.Compare(len(a), len(b))
}
