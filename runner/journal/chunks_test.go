package journal

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/event"
)

// Events are read in several chunks from any start. Each is read once, in order, and
// the reader stops when the caller does.
func TestEventsOverChunks(t *testing.T) {
	j, err := Open(filepath.Join(t.TempDir(), "runs.db"), Options{noSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	g := j.External("elsewhere")
	if err := g.Begin(runner.Start{RunID: "r"}); err != nil {
		t.Fatal(err)
	}
	const chunk, all = 512, 1025
	for seq := int64(1); seq <= all; seq++ {
		if err := g.Append(event.Event{Run: "r", Seq: seq, Time: time.Unix(seq, 0), Kind: event.Feedback, Path: "a/attempt[1]", Phase: "a", Message: fmt.Sprint(seq)}); err != nil {
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
	b := breaking(j)
	for range j.Events(t.Context(), "r", 0, Brief) {
		break
	}
	one := len(b.statements())
	b.next(0)
	for range j.Events(t.Context(), "r", 0, Brief) {
	}
	if all := len(b.statements()); one == 0 || one > all/2 {
		t.Errorf("one event takes %d statements, and all take %d", one, all)
	}
}
