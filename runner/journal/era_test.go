package journal

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/journal/internal/stores"
)

// An era of the writer ends after a failed write or a write of another connection, and
// at no other time. SQLite's counter covers all connections.
func TestEra(t *testing.T) {
	onFile(t)
	file := filepath.Join(t.TempDir(), "j.db")
	j, another := journalAt(t, file, Options{noSync: true}), journalAt(t, file, Options{noSync: true})
	w := j.db.Writer
	begin(t, j, runner.Start{RunID: "run"})
	errNo := errors.New("no")
	does := func(sql string) func(*stores.Conn) error {
		return func(c *stores.Conn) error { _, err := c.Exec(sql); return err }
	}
	writes := does("UPDATE run SET file = file || 'x'")
	takesBack := func(c *stores.Conn) error { return errors.Join(writes(c), errNo) }
	uncommitted := func(c *stores.Conn) error { w.Before = func() error { return errNo }; return writes(c) }
	steps := []struct {
		name  string
		of    *Journal
		write func(*stores.Conn) error // nil if it is not written in a transaction of a journal
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
		{"another copies", nil, nil, false, func() error { return another.db.Writer.C.Script("PRAGMA wal_checkpoint(PASSIVE)") }},
		{"it copies", nil, nil, false, func() error { return w.C.Script("PRAGMA wal_checkpoint(TRUNCATE)") }},
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var words []string
	elsewhere := false // another connection wrote, or a write failed, since the last write
	for range 3000 {
		s := steps[rng.IntN(len(steps))]
		words = append(words[max(0, len(words)-12):], s.name)
		if s.write == nil {
			if err := s.other(); err != nil {
				t.Fatal(words, err)
			}
			continue
		}
		before := w.Era.Load()
		err := s.of.db.Writer.Do(s.write)
		w.Before = nil
		if s.fails != errors.Is(err, errNo) || err != nil && !s.fails {
			t.Fatal(words, err)
		}
		if s.of == another {
			elsewhere = elsewhere || !s.fails
			continue
		}
		if ended := w.Era.Load() != before; ended != (elsewhere || s.fails) {
			t.Fatalf("after %q the era has ended: %v", words, ended)
		}
		elsewhere = s.fails
	}
}
