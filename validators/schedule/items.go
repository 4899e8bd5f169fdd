package schedule

import (
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sync"
)

func (in *scheduleReader) items(v any) []item {
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
	if in.eachPart(list, items) {
		return items
	}
	// A value that is not an object has a finding and is dropped; the other
	// items keep their index.
	return slices.DeleteFunc(items, func(it item) bool { return it.raw == nil })
}

// portion is the number of items from which a goroutine pays off.
const portion = 4096

// portions splits n items into ranges for goroutines. The number of ranges is at least one, and
// does not exceed the number of processors.
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

// eachPart reads the items, concurrently if there are many. Findings are still
// in order. It reports whether all items are objects.
func (in *scheduleReader) eachPart(list []any, items []item) bool {
	var parts []*scheduleReader
	var all sync.WaitGroup
	for from, to := range portions(len(list)) {
		part := &scheduleReader{report: newReport(in.policy), rule: in.rule, needs: in.needs, kinds: in.kinds}
		parts = append(parts, part)
		all.Go(func() { part.part(list[from:to], items[from:to], from) })
	}
	all.Wait()
	objects := true
	for _, part := range parts {
		in.merge(part.report)
		objects = objects && !part.invalidItems
	}
	return objects
}

// part reads a range of items that starts at the index first.
func (in *scheduleReader) part(list []any, items []item, first int) {
	for i, v := range list {
		if raw, ok := v.(map[string]any); ok && raw != nil {
			in.item(first+i, raw, &items[i])
		} else {
			in.invalidItems = true
			in.wrong(itemAt(first+i), "must be an object, not "+show(v))
		}
	}
}
