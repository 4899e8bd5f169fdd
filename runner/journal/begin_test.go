package journal

import (
	"bytes"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/journal/internal/stores"
)

// childBegin begins a run at the end of its input and prints the result.
func childBegin() {
	j, err := Open(os.Getenv(fileVariable), Options{})
	if err == nil {
		fmt.Println("ready")
		os.Stdin.Read(make([]byte, 1))
		_, err = j.Begin(runner.Start{RunID: "run", CascadeID: "c"})
	}
	fmt.Println(err)
	os.Exit(0)
}

// If several processes begin a run of one name at the same time, exactly one
// gets it.
func TestBeginAtOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "j.db")
	journalAt(t, file, Options{}).Close()
	const many = 4
	var content [many]bytes.Buffer
	var list [many]*exec.Cmd
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	for i := range list {
		list[i] = child(t, "begin", file, 0)
		list[i].Stdin, list[i].Stdout = read, &content[i]
		if err := list[i].Start(); err != nil {
			t.Fatal(err)
		}
	}
	write.Close()
	begun := 0
	for i, c := range list {
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
		switch words := content[i].String(); {
		case strings.HasSuffix(words, "<nil>\n"):
			begun++
		case !strings.Contains(words, runner.ErrRunExists.Error()):
			t.Errorf("one said %s", words)
		}
	}
	if begun != 1 {
		t.Errorf("%d have begun it", begun)
	}
}

// deaf is a connection that finds no run.
type deaf struct{ stores.Link }

func (d deaf) Each(ctx context.Context, row func([]driver.Value) error, text string, args ...any) error {
	if strings.Contains(text, " run ") {
		return nil
	}
	return d.Link.Each(ctx, row, text, args...)
}

// If a run cannot begin, the error gives the reason.
func TestBeginRefuses(t *testing.T) {
	clock := &calendar{time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)} // two runs at the same time are distinct
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{Now: clock.now})
	begin(t, j, runner.Start{RunID: "run"})
	for want, s := range map[string]runner.Start{
		"a run needs a name":     {},
		"start: ":                {RunID: "odd", Input: map[string]any{"a": math.NaN()}},
		"parent none: ":          {RunID: "child", Parent: "none"},
		"there is a run of that": {RunID: "run"},
	} {
		if r, err := j.Begin(s); r != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got %v, %v, want %s", s, r, err, want)
		}
	}
	j.db.Writer.C.Link = deaf{j.db.Writer.C.Link}
	if _, err := j.Begin(runner.Start{RunID: "new"}); err == nil || !strings.Contains(err.Error(), "the journal is damaged") {
		t.Errorf("got %v", err)
	}
}

// Whichever statement of a run's beginning fails, the run has either begun
// completely or not at all, and the error is returned.
func TestEveryStatementOfBeginning(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	b := breaking(j)
	for k, broke := 1, true; broke; k++ {
		s := runner.Start{RunID: fmt.Sprint("run-", k), Input: map[string]any{"a": fmt.Sprint(k, strings.Repeat("long ", 200))}}
		b.next(k)
		_, err := j.Begin(s)
		text := b.broke()
		broke = text != ""
		b.next(0)
		run, e := j.Run(t.Context(), s.RunID)
		if broke != (err != nil) || (err == nil) != (e == nil) || e == nil && run.Start.Input["a"] != s.Input["a"] || e != nil && !errors.Is(e, runner.ErrNoRun) {
			t.Errorf("statement %d, %s: it began with %v, and is %+v, %v", k, text, err, run, e)
		}
	}
}

// A process that opens a new file waits for the process that creates it.
func TestMadeAtOnce(t *testing.T) {
	onFile(t)
	for i := range 60 {
		file := filepath.Join(t.TempDir(), fmt.Sprintf("%d.db", i))
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				j, err := Open(file, Options{noSync: true})
				if err != nil {
					t.Error(err)
					return
				}
				j.Close()
			})
		}
		wg.Wait()
	}
}
