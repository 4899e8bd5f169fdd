package journal

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/event"
)

// A run of more events than are read at a time has each of them once, in order, from
// wherever one begins to read, and whoever has enough reads no further.
func TestEventsOverChunks(t *testing.T) {
	j, err := Open(filepath.Join(t.TempDir(), "runs.db"), Options{careless: true})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	g := j.Guest("elsewhere")
	if err := g.Begin(runner.Start{RunID: "r"}); err != nil {
		t.Fatal(err)
	}
	const all = 2*chunk + 1
	for seq := int64(1); seq <= all; seq++ {
		if err := g.Tell(event.Event{Run: "r", Seq: seq, Time: time.Unix(seq, 0), Kind: event.Feedback, Path: "a/attempt[1]", Phase: "a", Message: fmt.Sprint(seq)}); err != nil {
			t.Fatal(err)
		}
	}
	for _, after := range []int64{0, 1, chunk, all - 1, all} {
		next := after
		for e, err := range j.Events(t.Context(), "r", after, Brief) {
			if next++; err != nil || e.Seq != next || e.Message != fmt.Sprint(next) {
				t.Fatalf("after %d: %d says %q, %v; want %d", after, e.Seq, e.Message, err, next)
			}
		}
		if next != all {
			t.Errorf("after %d the last is %d of %d", after, next, all)
		}
	}
	reads := 0
	for range chunked(func() ([]int, bool, error) { reads++; return []int{1, 2}, true, nil }) {
		break
	}
	if reads != 1 {
		t.Errorf("read %d times for one", reads)
	}
}
