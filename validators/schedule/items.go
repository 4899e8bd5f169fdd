package schedule

import (
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sync"
)

func (in *intake) items(v any) []item {
	list, ok := v.([]any)
	if !ok {
		in.wrong("items", "must be a list of items, not "+show(v))
		return nil
	}
	if most := in.policy.Limits.MaxItems; len(list) > most {
		in.wrong(itemAt(most), fmt.Sprintf("a schedule has at most %d items, not %d", most, len(list)))
		return nil
	}
	items := make([]item, len(list))
	if in.each(list, items) {
		return items
	}
	// What is no object has its finding, and is no item; the others keep their index.
	return slices.DeleteFunc(items, func(it item) bool { return it.raw == nil })
}

// portion is how many items are worth a goroutine.
const portion = 4096

// portions parts n items into those, from and to, that one goroutine goes
// through: at most as many portions as there are processors, and at least one.
func portions(n int) iter.Seq2[int, int] {
	parts := max(1, min(runtime.GOMAXPROCS(0), n/portion))
	return func(yield func(int, int) bool) {
		for k := range parts {
			if !yield(k*n/parts, (k+1)*n/parts) {
				return
			}
		}
	}
}

// each reads the items, side by side where there are many; what is found comes
// in their order all the same. It tells whether all are objects.
func (in *intake) each(list []any, items []item) bool {
	var parts []*intake
	var all sync.WaitGroup
	for from, to := range portions(len(list)) {
		part := &intake{report: newReport(in.policy), rule: in.rule, needs: in.needs, kinds: in.kinds}
		parts = append(parts, part)
		all.Go(func() { part.part(list[from:to], items[from:to], from) })
	}
	all.Wait()
	objects := true
	for _, part := range parts {
		in.absorb(part.report)
		objects = objects && !part.strange
	}
	return objects
}

// part reads a part of the items, which begins at the index first.
func (in *intake) part(list []any, items []item, first int) {
	for i, v := range list {
		if raw, ok := v.(map[string]any); ok && raw != nil {
			in.item(first+i, raw, &items[i])
		} else {
			in.strange = true
			in.wrong(itemAt(first+i), "must be an object, not "+show(v))
		}
	}
}
