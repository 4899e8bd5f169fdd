package journal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/internal/stores"
	"github.com/seed61713e19/capstan/runner/model"
)

// pragma changes the writing connection.
func pragma(t *testing.T, j *Journal, text string) {
	t.Helper()
	if err := j.db.Writer.Do(func(c *stores.Conn) error { _, err := c.Exec("PRAGMA " + text); return err }); err != nil {
		t.Fatal(err)
	}
}

// If the journal fails, the run stops with the reason. Finished effects are
// written at the end, if the journal works again.
func TestCannotWrite(t *testing.T) {
	onFile(t)
	for name, c := range map[string]struct {
		breaks func(t *testing.T, j *Journal) (mend func())
		want   string
	}{
		"full": {func(t *testing.T, j *Journal) func() {
			pragma(t, j, "max_page_count=1")
			return func() { pragma(t, j, "max_page_count=1000000") }
		}, "the disk is full"},
		"read-only": {func(t *testing.T, j *Journal) func() {
			now := func(text string) { // not within a transaction
				j.db.Writer.Turn <- struct{}{}
				if err := j.db.Writer.C.Script("PRAGMA " + text); err != nil {
					t.Error(err)
				}
				<-j.db.Writer.Turn
			}
			now("query_only=1")
			return func() { now("query_only=0") }
		}, "read-only"},
		"locked": {func(t *testing.T, j *Journal) func() {
			other, err := stores.DialFile(fileOf(j), "rw", time.Second)
			if err != nil {
				t.Fatal(err)
			}
			if err := other.Script("BEGIN IMMEDIATE"); err != nil {
				t.Fatal(err)
			}
			return func() { other.Close() }
		}, "locked by another process"},
	} {
		for _, mended := range []string{"before the end", "behind it", "behind it, and waited", "by another process"} {
			t.Run(name+", mended "+mended, func(t *testing.T) {
				file := filepath.Join(t.TempDir(), "j.db")
				j := journalAt(t, file, Options{patience: 20 * time.Millisecond})
				m := &says{answers: map[string]string{"First": "a", "Then": strings.Repeat("b", 50_000), "Last": "c"}}
				mend := func() {}
				world := runnerOver(t, j, model.Func(func(ctx context.Context, r model.Request) (model.Response, error) {
					if r.Phase == "two" && len(m.calls) == 1 {
						mend = c.breaks(t, j)
					}
					return m.Call(ctx, r)
				}))
				s := storyOf(t, "-- cascade.yaml --"+twoPhases)
				s.Input = map[string]any{"topic": "owls"}
				r := begin(t, j, s.start("run"))
				result, err := s.run(t, r, world.Host(t.Context()), false)
				var cause *engine.Error
				if !errors.As(err, &cause) || result.Status != engine.Failed || !strings.Contains(err.Error(), "journal: "+file) || !strings.Contains(err.Error(), c.want) {
					t.Fatalf("got %+v, %v", result, err)
				}
				if mended == "before the end" {
					mend()
				}
				if away := errors.Is(err, runner.ErrAway); away != (name != "read-only") {
					t.Errorf("it may be there later: %v, of %v", away, err)
				}
				if err := r.End(result, cause); (mended == "before the end") != (err == nil) {
					t.Fatalf("end: %v", err)
				}
				calls, want := len(m.calls), 1 // finished effects were written at the end or later
				switch mended {
				case "before the end":
				case "by another process":
					j.retries.stop() // the process ends before it can retry
					mend()
					j.Close()
					j = journalAt(t, file, Options{})
					want = 2
				default:
					if _, err := j.Reopen("run"); err == nil || errors.Is(err, runner.ErrRunBusy) || !strings.Contains(err.Error(), c.want) {
						t.Errorf("resumed too early: %v", err)
					}
					mend()
				}
				for waited := 0; mended == "behind it, and waited"; waited++ {
					if run, err := j.Run(t.Context(), "run"); err != nil || waited > 1000 {
						t.Fatalf("it is still %v (%v)", run, err)
					} else if run.Status == engine.Failed {
						break
					}
					time.Sleep(10 * time.Millisecond)
				}
				if result, err = runnerOver(t, j, m).Resume(t.Context(), "run"); err != nil || result.Output != "c" {
					t.Fatalf("got %+v, %v", result, err)
				}
				if made := len(m.calls) - calls; made != want {
					t.Errorf("%d calls were made then, want %d", made, want)
				}
			})
		}
	}
}

// One run that cannot be written does not stop the others.
func TestOthersGoOn(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	bad, good := make(chan error, 1), make(chan error, 1) // they are written together
	j.db.Writer.Add(func(*stores.Conn) error { return errors.New("bad") }, func(err error) { bad <- err })
	j.db.Writer.Add(func(c *stores.Conn) error {
		_, err := c.Exec("INSERT INTO start (run, data, sum) VALUES (9, 'x', 0)")
		return err
	}, func(err error) { good <- err })
	if err := j.db.Writer.Wait(good); err != nil {
		t.Error(err)
	}
	j.db.Writer.Turn <- struct{}{} // the waiting goroutine gets the result from the writing one
	if err := j.db.Writer.Wait(bad); err == nil {
		t.Error("the bad one was written")
	}
	<-j.db.Writer.Turn
}

// An unavailable store fails all waiting runs at once, and later ones wait
// less.
func TestAwayForAll(t *testing.T) {
	const many, wait = 20, time.Second
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{patience: wait})
	if onServer != nil {
		onServer.Halt()
	} else {
		other, err := stores.DialFile(fileOf(j), "rw", time.Second)
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		if err := other.Script("BEGIN IMMEDIATE"); err != nil {
			t.Fatal(err)
		}
	}
	began, reported := time.Now(), make(chan error, many)
	old := &stores.Error{Message: "the server cannot be reached", Err: errors.New("conn closed"), Unavailable: true} // of a run that failed before
	j.db.Writer.Add(func(*stores.Conn) error { return old }, func(err error) {
		if !errors.Is(err, runner.ErrAway) {
			t.Errorf("an unwritable job gets %v", err)
		}
	})
	for range many {
		j.db.Writer.Add(func(c *stores.Conn) error {
			_, err := c.Exec("INSERT INTO start (run, data, sum) VALUES (9, 'x', 0)")
			return err
		}, func(err error) { reported <- err })
	}
	for range many {
		if err := j.db.Writer.Wait(reported); !errors.Is(err, runner.ErrAway) {
			t.Errorf("got %v", err)
		}
	}
	if took := time.Since(began); took > many*wait/2 {
		t.Errorf("%d that waited were reported after %v", many, took)
	}
	if onServer == nil {
		return
	}
	began = time.Now()
	if _, err := j.Begin(runner.Start{RunID: "late"}); !errors.Is(err, runner.ErrAway) || time.Since(began) >= wait {
		t.Errorf("a later job failed after %v: %v", time.Since(began), err)
	}
	if err := onServer.Go(); err != nil {
		t.Fatal(err)
	}
	for late := time.Now().Add(many * wait); ; time.Sleep(10 * time.Millisecond) { // a connection may have been lost in the meantime
		_, err := j.Begin(runner.Start{RunID: "late"})
		if err == nil {
			break
		}
		if !errors.Is(err, runner.ErrAway) || time.Now().After(late) {
			t.Fatal(err)
		}
	}
	if s := j.db.Store.(*stores.Postgres); s.GaveUp {
		t.Error("the next outage is not waited for")
	}
}

// A real full disk: a small file system in memory.
func TestDiskFull(t *testing.T) {
	onFile(t)
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=1m", "none", dir).CombinedOutput(); err != nil {
		t.Skipf("no small disk here: %v %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("%v %s", err, out)
		}
	})
	j, err := Open(filepath.Join(dir, "j.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	r := begin(t, j, runner.Start{RunID: "run"})
	h := r.Host(quick{})
	made := 0
	for turn := range 10_000 {
		at := event.Path("p").At("model", turn)
		req := model.Request{Messages: []model.Message{{Role: model.User, Content: strings.Repeat(fmt.Sprintf("%d ", turn), 1000)}}}
		h.Emit(event.Event{Kind: event.ModelCalled, Path: at, Request: &req})
		if _, err = h.Model(at, req); err != nil {
			break
		}
		made++
	}
	if err == nil || !strings.Contains(err.Error(), "the disk is full") {
		t.Fatalf("after %d effects: %v", made, err)
	}
	if err := r.End(engine.Result{Status: engine.Failed}, nil); err == nil {
		t.Error("the end was written")
	}
	if n := len(effectsOf(t, j, "run")); n != made {
		t.Errorf("%d effects are kept of %d", n, made)
	}
}

// A file that is not a journal is rejected and unchanged.
func TestNotAJournal(t *testing.T) {
	onFile(t)
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return file
	}
	sqliteFile := filepath.Join(dir, "other.db")
	c, err := stores.DialFile(sqliteFile, "rwc", time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Script("CREATE TABLE mine (x)"); err != nil {
		t.Fatal(err)
	}
	c.Close()
	newer, older := filepath.Join(dir, "newer.db"), filepath.Join(dir, "older.db")
	for file, version := range map[string]string{newer: "8", older: "4"} {
		j := journalAt(t, file, Options{})
		pragma(t, j, "user_version="+version)
		j.Close()
	}
	for name, c := range map[string]struct{ file, want string }{
		"prose":          {write("prose.txt", strings.Repeat("This is no journal. ", 500)), "not a journal"},
		"a folder":       {dir, "not one"},
		"another":        {sqliteFile, "not a journal"},
		"newer":          {newer, "the journal was written by a newer capstan (format 8; this one has format 7)"},
		"older":          {older, "the journal was written by an older capstan (format 4; this one has format 7)"},
		"no name":        {"", "name"},
		"a device":       {"/dev/null", "not one"},
		"beneath a file": {filepath.Join(write("file", "x"), "j.db"), "not a directory"},
	} {
		before, _ := os.ReadFile(c.file)
		for _, o := range []Options{{}, {ReadOnly: true}} {
			j, err := Open(c.file, o)
			if err == nil {
				j.Close()
				t.Errorf("%s was opened", name)
				continue
			}
			if !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), filepath.Base(c.file)) && c.file != "" && name != "beneath a file" {
				t.Errorf("%s: %v", name, err)
			}
		}
		if after, _ := os.ReadFile(c.file); string(after) != string(before) {
			t.Errorf("%s was changed", name)
		}
	}
	begun := write("begun.db", "") // the state after a killed process
	if _, err := Open(begun, Options{ReadOnly: true}); !errors.Is(err, stores.ErrEmpty) {
		t.Errorf("a journal that was only begun: %v", err)
	}
	journalAt(t, begun, Options{}).Close()
	journalAt(t, begun, Options{ReadOnly: true}).Close()
	if _, err := Open(filepath.Join(dir, "none", "j.db"), Options{ReadOnly: true}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a journal that is not there: %v", err)
	}
}

// A removed or replaced file is an error, because writes would be lost and
// reads would return other runs.
func TestFileIsReplaced(t *testing.T) {
	onFile(t)
	for name, change := range map[string]func(file string) error{
		"removed":  os.Remove,
		"renamed":  func(file string) error { return os.Rename(file, file+".old") },
		"replaced": func(file string) error { return os.Rename(filepath.Join(filepath.Dir(file), "other.db"), file) },
		"":         func(file string) error { return os.Chtimes(file, time.Now(), time.Now()) },
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, "j.db")
		journalAt(t, filepath.Join(dir, "other.db"), Options{}).Close()
		j := journalAt(t, file, Options{noSync: true})
		r := begin(t, j, runner.Start{RunID: "run"})
		if err := change(file); err != nil {
			t.Fatal(err)
		}
		j.db.Store.(*stores.SQLite).CheckedAt = -2 * int64(stores.CheckInterval)
		_, wrote := r.Host(quick{"it"}).Model("p/model", model.Request{})
		_, read := j.Run(t.Context(), "run")
		for _, err := range []error{wrote, read} {
			if reported := err != nil && strings.Contains(err.Error(), "removed or replaced while it was open"); reported != (name != "") || !reported && err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// Only the owner may read the file.
func TestPermissions(t *testing.T) {
	onFile(t)
	dir := filepath.Join(t.TempDir(), "a", "b")
	j := journalAt(t, filepath.Join(dir, "j.db"), Options{})
	begin(t, j, runner.Start{RunID: "run"})
	for name, want := range map[string]fs.FileMode{dir: 0o700 | fs.ModeDir, filepath.Join(dir, "j.db"): 0o600, filepath.Join(dir, "j.db-wal"): 0o600} {
		info, err := os.Stat(name)
		if err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

// A journal can be read while another process writes it, and afterwards;
// nothing is written.
func TestReadOnly(t *testing.T) {
	onFile(t)
	file := filepath.Join(t.TempDir(), "j.db")
	j := journalAt(t, file, Options{})
	fill(t, j, 3, 2)
	look := func() {
		t.Helper()
		only := journalAt(t, file, Options{ReadOnly: true})
		defer only.Close()
		if list, err := only.Runs(t.Context(), Filter{}); err != nil || len(list) != 3 {
			t.Errorf("got %v, %v", list, err)
		}
		if _, err := only.Begin(runner.Start{RunID: "new"}); err == nil || !strings.Contains(err.Error(), "reading only") {
			t.Errorf("begin: %v", err)
		}
		if _, err := only.Reopen("run000001"); err == nil {
			t.Error("reopened")
		}
		if err := only.Answer(t.Context(), "run000001", "", engine.Answer{Value: true}); err == nil {
			t.Error("answered")
		}
	}
	look()
	j.Close()
	look()
	for _, suffix := range []string{"-wal", "-shm"} {
		if _, err := os.Stat(file + suffix); err == nil {
			t.Logf("%s is left", suffix)
		}
	}
}

// Reading a damaged file returns errors with its name, or the intact data, and
// never panics.
func TestDamaged(t *testing.T) {
	onFile(t)
	oneByOne(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "whole.db")
	j := journalAt(t, file, Options{})
	fill(t, j, 5, 10)
	s := storyOf(t, asking)
	runnerOver(t, j, &says{answers: map[string]string{"Write.": strings.Repeat("a text ", 300)}}).Run(t.Context(), s.Cascade, nil, runner.WithRunID("waits"))
	j.Close()
	wholeFile, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	refused, wrong := 0, 0
	for n := range 150 {
		random := rand.New(rand.NewPCG(uint64(n), 0))
		raw := append([]byte(nil), wholeFile...)
		for range 1 << random.IntN(8) {
			raw[random.IntN(len(raw))] = byte(random.Uint32())
		}
		if n%10 == 0 {
			raw = raw[:random.IntN(len(raw))]
		}
		broken := filepath.Join(dir, fmt.Sprintf("j%d.db", n))
		if err := os.WriteFile(broken, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		j, err := Open(broken, Options{noSync: true, patience: time.Millisecond})
		if err != nil {
			refused++
			named(t, broken, err)
			continue
		}
		for _, err := range useAll(j) {
			wrong++
			named(t, broken, err)
		}
		j.Close()
	}
	if refused == 0 || wrong == 0 {
		t.Errorf("%d files were refused, %d uses went wrong: too few to tell", refused, wrong)
	}
}

func named(t *testing.T, file string, err error) {
	t.Helper()
	if !strings.Contains(err.Error(), filepath.Base(file)) && !errors.Is(err, runner.ErrNoRun) && !errors.Is(err, runner.ErrRunBusy) &&
		!strings.Contains(err.Error(), "waits for no answer") && !strings.Contains(err.Error(), "no model was called") && !strings.Contains(err.Error(), "sql: ") &&
		!strings.Contains(err.Error(), "answer: ") {
		t.Errorf("the error does not name the file: %v", err)
	}
}

// useAll calls all methods of a journal and returns their errors.
func useAll(j *Journal) (found []error) {
	ctx := context.Background()
	note := func(err error) {
		if err != nil {
			found = append(found, err)
		}
	}
	list, err := j.Runs(ctx, Filter{Text: "r"})
	note(err)
	ids := []string{"run000000", "run000001", "waits", "last"}
	for _, s := range list {
		ids = append(ids, s.RunID)
	}
	for _, id := range ids {
		_, err := j.Run(ctx, id)
		note(err)
		_, err = j.Result(ctx, id)
		note(err)
		_, err = requestOf(ctx, j, id, "talk/attempt[1]/turn[3]/model")
		note(err)
		for _, err := range j.Events(ctx, id, 0, Whole) {
			note(err)
		}
		for _, err := range j.Effects(ctx, id) {
			note(err)
		}
	}
	_, err = j.Gates(ctx, "")
	note(err)
	_, err = j.Query(ctx, "SELECT * FROM calls, verdicts, attempts, phases, runs LIMIT 100", 10)
	note(err)
	_, err = j.Version(ctx)
	note(err)
	note(j.Answer(ctx, "waits", "", engine.Answer{Value: true}))
	for _, id := range ids {
		r, err := j.Reopen(id)
		note(err)
		if err == nil {
			r.Host(quick{}).Emit(event.Event{Kind: event.Feedback, Path: "p"})
			note(r.End(engine.Result{Status: engine.Cancelled}, nil))
		}
	}
	r, err := j.Begin(runner.Start{RunID: "new"})
	note(err)
	if err == nil {
		_, err = r.Host(quick{}).Model("p", model.Request{})
		note(err)
		note(r.End(engine.Result{Status: engine.Succeeded}, nil))
	}
	return found
}
