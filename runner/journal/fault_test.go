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
	"github.com/seed61713e19/capstan/runner/model"
)

// pragma changes the connection that writes.
func pragma(t *testing.T, j *Journal, text string) {
	t.Helper()
	if err := j.writer.do(func(c *conn) error { _, err := c.Exec("PRAGMA " + text); return err }); err != nil {
		t.Fatal(err)
	}
}

// A journal that cannot be written stops the run with an error that says why.
// What was finished is written at the end, if it can be by then.
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
				j.writer.turn <- struct{}{}
				if err := j.writer.c.Script("PRAGMA " + text); err != nil {
					t.Error(err)
				}
				<-j.writer.turn
			}
			now("query_only=1")
			return func() { now("query_only=0") }
		}, "read-only"},
		"locked": {func(t *testing.T, j *Journal) func() {
			other, err := dial(fileOf(j), "rw", time.Second)
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
				var why *engine.Error
				if !errors.As(err, &why) || result.Status != engine.Failed || !strings.Contains(err.Error(), "journal: "+file) || !strings.Contains(err.Error(), c.want) {
					t.Fatalf("got %+v, %v", result, err)
				}
				if mended == "before the end" {
					mend()
				}
				if away := errors.Is(err, runner.ErrAway); away != (name != "read-only") {
					t.Errorf("it may be there later: %v, of %v", away, err)
				}
				if err := r.End(result, why); (mended == "before the end") != (err == nil) {
					t.Fatalf("end: %v", err)
				}
				calls, want := len(m.calls), 1 // what was finished was written at the end, or behind it
				switch mended {
				case "before the end":
				case "by another process":
					j.owed.forget() // it dies before it can try again
					mend()
					j.Close()
					j = journalAt(t, file, Options{})
					want = 2
				default:
					if _, err := j.Reopen("run"); err == nil || errors.Is(err, runner.ErrRunBusy) || !strings.Contains(err.Error(), c.want) {
						t.Errorf("who goes on too early is told %v", err)
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
	j.writer.add(job{func(*conn) error { return errors.New("bad") }, func(err error) { bad <- err }})
	j.writer.add(job{func(c *conn) error { _, err := c.Exec("INSERT INTO start (run, data) VALUES (9, 'x')"); return err }, func(err error) { good <- err }})
	if err := j.writer.wait(good); err != nil {
		t.Error(err)
	}
	j.writer.turn <- struct{}{} // who waits hears it from the one who wrote
	if err := j.writer.wait(bad); err == nil {
		t.Error("the bad one was written")
	}
	<-j.writer.turn
}

// A store that is away for too long is so for all that wait for it, at once; who comes
// behind them does not wait as long.
func TestAwayForAll(t *testing.T) {
	const many, wait = 20, time.Second
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{patience: wait})
	if onServer != nil {
		onServer.Halt()
	} else {
		other, err := dial(fileOf(j), "rw", time.Second)
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		if err := other.Script("BEGIN IMMEDIATE"); err != nil {
			t.Fatal(err)
		}
	}
	began, told := time.Now(), make(chan error, many)
	old := &damage{words: "the server cannot be reached", err: errors.New("conn closed"), away: true} // of a run that heard of it before
	j.writer.add(job{func(*conn) error { return old }, func(err error) {
		if !errors.Is(err, runner.ErrAway) {
			t.Errorf("who cannot be written is told %v", err)
		}
	}})
	for range many {
		j.writer.add(job{func(c *conn) error { _, err := c.Exec("INSERT INTO start (run, data) VALUES (9, 'x')"); return err }, func(err error) { told <- err }})
	}
	for range many {
		if err := j.writer.wait(told); !errors.Is(err, runner.ErrAway) {
			t.Errorf("got %v", err)
		}
	}
	if took := time.Since(began); took > many*wait/2 {
		t.Errorf("%d that waited were told after %v", many, took)
	}
	if onServer == nil {
		return
	}
	began = time.Now()
	if _, err := j.Begin(runner.Start{RunID: "late"}); !errors.Is(err, runner.ErrAway) || time.Since(began) >= wait {
		t.Errorf("who comes later is told after %v: %v", time.Since(began), err)
	}
	if err := onServer.Go(); err != nil {
		t.Fatal(err)
	}
	for late := time.Now().Add(many * wait); ; time.Sleep(10 * time.Millisecond) { // a connection may have been lost meanwhile
		_, err := j.Begin(runner.Start{RunID: "late"})
		if err == nil {
			break
		}
		if !errors.Is(err, runner.ErrAway) || time.Now().After(late) {
			t.Fatal(err)
		}
	}
	if s := j.store.(*server); s.vain {
		t.Error("the next outage is not waited for")
	}
}

// A disk that is full, in earnest: a small one of memory.
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

// What is not a journal is refused, and left as it is.
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
	c, err := dial(sqliteFile, "rwc", time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Script("CREATE TABLE mine (x)"); err != nil {
		t.Fatal(err)
	}
	c.Close()
	newer := filepath.Join(dir, "newer.db")
	j := journalAt(t, newer, Options{})
	pragma(t, j, "user_version=7")
	j.Close()
	for name, c := range map[string]struct{ file, want string }{
		"prose":          {write("prose.txt", strings.Repeat("This is no journal. ", 500)), "not a journal"},
		"a folder":       {dir, "not one"},
		"another":        {sqliteFile, "not a journal"},
		"newer":          {newer, "the journal was written by a newer capstan (schema 7; this one knows 4)"},
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
	begun := write("begun.db", "") // as far as a process that was killed came
	if _, err := Open(begun, Options{ReadOnly: true}); !errors.Is(err, ErrEmpty) {
		t.Errorf("a journal that was only begun: %v", err)
	}
	journalAt(t, begun, Options{}).Close()
	journalAt(t, begun, Options{ReadOnly: true}).Close()
	if _, err := Open(filepath.Join(dir, "none", "j.db"), Options{ReadOnly: true}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a journal that is not there: %v", err)
	}
}

// A file that is taken away, or another put in its place, is told: nothing more would be
// kept, and what is read would be another's.
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
		j := journalAt(t, file, Options{careless: true})
		r := begin(t, j, runner.Start{RunID: "run"})
		if err := change(file); err != nil {
			t.Fatal(err)
		}
		j.store.(*fileStore).looked = -2 * int64(thereEvery)
		_, wrote := r.Host(quick{"it"}).Model("p/model", model.Request{})
		_, read := j.Run(t.Context(), "run")
		for _, err := range []error{wrote, read} {
			if told := err != nil && strings.Contains(err.Error(), "removed or replaced while it was open"); told != (name != "") || !told && err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// The file is its owner's alone.
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

// A journal is looked at while another has it, and after; nothing is written.
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
		if err := only.Answer(t.Context(), "run000001", "", runner.Answer{Value: true}); err == nil {
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

// A damaged file gives errors that name it, or what is still there; it never
// takes the process down.
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
		j, err := Open(broken, Options{careless: true, patience: time.Millisecond})
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

// useAll does all that can be done with a journal and gives what went wrong.
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
		_, err = j.Request(ctx, id, "talk/attempt[1]/turn[3]/model")
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
	note(j.Answer(ctx, "waits", "", runner.Answer{Value: true}))
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

// An older journal is brought up to date, all of it or nothing.
func TestMigrate(t *testing.T) {
	onFile(t)
	file := filepath.Join(t.TempDir(), "j.db")
	j := journalAt(t, file, Options{})
	fill(t, j, 2, 2)
	j.Close()
	c, err := dial(file, "rw", time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fifth := "ALTER TABLE run ADD COLUMN mark TEXT; UPDATE run SET mark = 'old'; SELECT broken"
	j.store.(*fileStore).statements = func(name string) ([]byte, error) {
		switch name {
		case "schema/5.sql":
			return []byte(fifth), nil
		case "schema/views.sql":
			return []byte("CREATE VIEW runs AS SELECT id AS run_id, mark FROM run"), nil
		}
		return nil, fmt.Errorf("%s is not wanted", name)
	}
	if err := j.store.(*fileStore).migrate(c, 5); err == nil {
		t.Fatal("a migration that is broken was made")
	}
	if n, err := c.number("SELECT count(*) FROM calls"); err != nil || n != 4 {
		t.Fatalf("after a migration that was broken off: %d, %v", n, err)
	}
	if n, err := c.number("PRAGMA user_version"); err != nil || n != 4 {
		t.Fatalf("version %d, %v", n, err)
	}
	fifth = strings.TrimSuffix(fifth, "; SELECT broken")
	for range 2 { // the second time there is nothing to do
		if err := j.store.(*fileStore).migrate(c, 5); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := c.number("SELECT count(*) FROM runs WHERE mark = 'old'"); err != nil || n != 2 {
		t.Errorf("%d runs are marked, %v", n, err)
	}
	if _, err := Open(at(t, file), Options{}); err == nil || !strings.Contains(err.Error(), "newer capstan (schema 5; this one knows 4)") {
		t.Errorf("got %v", err)
	}
}
