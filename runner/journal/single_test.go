package journal

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/seed61713e19/capstan/runner"
)

// TestSingle checks that reads share the connection of the writer, and that they do not
// wait for a write.
func TestSingle(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{Single: true})
	begin := func(id string) {
		if _, err := j.Begin(runner.Start{RunID: id, CascadeID: "c"}); err != nil {
			t.Error(err)
		}
		if run, err := j.Run(t.Context(), id); err != nil || run.RunID != id {
			t.Errorf("%s: %+v, %v", id, run, err)
		}
	}
	begin("run.00")
	if n := len(j.db.Readers); n > 0 && onServer == nil { // only a file has one connection
		t.Errorf("%d connections for reads are open", n)
	}
	j.db.Writer.Turn <- struct{}{} // as during a write
	if _, err := j.Run(t.Context(), "run.00"); err != nil {
		t.Error(err)
	}
	<-j.db.Writer.Turn
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() { begin(fmt.Sprintf("run.%02d", i+1)) })
	}
	all.Wait()
	list, err := j.Statuses(t.Context(), "run.02", "run.04")
	if want := []Status{{"run.02", Running}, {"run.03", Running}, {"run.04", Running}}; err != nil || !slices.Equal(list, want) {
		t.Errorf("%v, %v", list, err)
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	if _, err := j.Run(t.Context(), "run.00"); err == nil {
		t.Error("a closed journal has a run")
	}
}
