package journal

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/seed61713e19/capstan/runner"
)

// An era of the writer ends when another connection has written, or when it could not
// write itself, and by nothing else: SQLite counts what is written by all.
func TestEra(t *testing.T) {
	onFile(t)
	file := filepath.Join(t.TempDir(), "j.db")
	j, another := journalAt(t, file, Options{careless: true}), journalAt(t, file, Options{careless: true})
	w := j.writer
	begin(t, j, runner.Start{RunID: "run"})
	errNo := errors.New("no")
	does := func(sql string) func(*conn) error { return func(c *conn) error { _, err := c.Exec(sql); return err } }
	writes := does("UPDATE run SET file = file || 'x'")
	takesBack := func(c *conn) error { return errors.Join(writes(c), errNo) }
	uncommitted := func(c *conn) error { w.before = func() error { return errNo }; return writes(c) }
	steps := []struct {
		name  string
		of    *Journal
		write func(*conn) error // nil for what is not written in a transaction of a journal's own
		fails bool
		other func() error
	}{
		{"it writes", j, writes, false, nil},
		{"it writes nothing", j, does("SELECT 1"), false, nil},
		{"it writes much", j, does("INSERT INTO text (digest, text) SELECT randomblob(32), hex(zeroblob(100000))"), false, nil},
		{"it takes back", j, takesBack, true, nil},
		{"it cannot commit", j, uncommitted, true, nil},
		{"another writes", another, writes, false, nil},
		{"another takes back", another, takesBack, true, nil},
		{"another forgets", another, does("DELETE FROM text"), false, nil},
		{"somebody reads", nil, nil, false, func() error { _, err := another.Run(t.Context(), "run"); return err }},
		{"another copies", nil, nil, false, func() error { return another.writer.c.Script("PRAGMA wal_checkpoint(PASSIVE)") }},
		{"it copies", nil, nil, false, func() error { return w.c.Script("PRAGMA wal_checkpoint(TRUNCATE)") }},
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var said []string
	elsewhere := false // something was written elsewhere, or not at all, since it last wrote
	for range 3000 {
		s := steps[rng.IntN(len(steps))]
		said = append(said[max(0, len(said)-12):], s.name)
		if s.write == nil {
			if err := s.other(); err != nil {
				t.Fatal(said, err)
			}
			continue
		}
		before := w.era.Load()
		err := s.of.writer.do(s.write)
		w.before = nil
		if s.fails != errors.Is(err, errNo) || err != nil && !s.fails {
			t.Fatal(said, err)
		}
		if s.of == another {
			elsewhere = elsewhere || !s.fails
			continue
		}
		if ended := w.era.Load() != before; ended != (elsewhere || s.fails) {
			t.Fatalf("after %q the era has ended: %v", said, ended)
		}
		elsewhere = s.fails
	}
}
