package jinja

import (
	"slices"
	"strings"
)

func splitMethods() []*function {
	return []*function{
		ofString("split", "sep=none maxsplit=-1", split),
		ofString("rsplit", "sep=none maxsplit=-1", splitRight),
		ofString("splitlines", "keepends=false", func(r *render, s string, a []any) any {
			return converted(r, splitLines(s, r.truth(a[0])))
		}),
		ofString("partition", "sep", func(r *render, s string, a []any) any {
			before, after, found := strings.Cut(s, r.separator(a[0]))
			if !found {
				return &tuple{items: []any{s, "", ""}}
			}
			return &tuple{items: []any{before, a[0], after}}
		}),
		ofString("rpartition", "sep", func(r *render, s string, a []any) any {
			separator := r.separator(a[0])
			i := strings.LastIndex(s, separator)
			if i < 0 {
				return &tuple{items: []any{"", "", s}}
			}
			return &tuple{items: []any{s[:i], a[0], s[i+len(separator):]}}
		}),
		ofString("join", "iterable", func(r *render, s string, a []any) any {
			return r.between(s, a[0], func(b *builder, item any) { b.text(r.textOf(item, "an element to join")) })
		}),
	}
}

func (r *render) separator(v any) string {
	s := r.textOf(v, "the separator")
	if s == "" {
		r.fail("the separator cannot be empty")
	}
	return s
}

func split(r *render, s string, a []any) any {
	most := r.splits(a[1], s)
	r.charge(len(s) / 2)
	if a[0] != nil {
		return converted(r, strings.SplitN(s, r.separator(a[0]), most))
	}
	var parts []string
	for {
		if s = strings.TrimLeftFunc(s, isSpace); s == "" {
			return converted(r, parts)
		}
		end := strings.IndexFunc(s, isSpace)
		if end < 0 || len(parts) == most-1 {
			return converted(r, append(parts, s))
		}
		parts, s = append(parts, s[:end]), s[end:]
	}
}

// splits returns the maximum number of parts of a split, or -1 for no limit.
func (r *render) splits(v any, s string) int {
	n := r.integer(v, "the number of splits")
	if n < 0 || n > int64(len(s)) {
		return -1
	}
	return int(n) + 1
}

func splitRight(r *render, s string, a []any) any {
	most := r.splits(a[1], s)
	r.charge(len(s) / 2)
	if most < 0 {
		return split(r, s, a)
	}
	var parts []string
	cut := func() bool {
		if a[0] != nil {
			separator := r.separator(a[0])
			i := strings.LastIndex(s, separator)
			if i >= 0 {
				parts, s = append(parts, s[i+len(separator):]), s[:i]
			}
			return i >= 0
		}
		s = strings.TrimRightFunc(s, isSpace)
		i := strings.LastIndexFunc(s, isSpace)
		if i >= 0 {
			start := i + runeSize(s[i:])
			parts, s = append(parts, s[start:]), s[:i]
		}
		return i >= 0
	}
	for len(parts) < most-1 && cut() {
	}
	if a[0] == nil {
		s = strings.TrimRightFunc(s, isSpace)
	}
	if a[0] != nil || s != "" {
		parts = append(parts, s)
	}
	slices.Reverse(parts)
	return converted(r, parts)
}
