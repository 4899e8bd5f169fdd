package stores_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/internal/databases"
	"github.com/seed61713e19/capstan/runner/journal/internal/codec"
	"github.com/seed61713e19/capstan/runner/journal/internal/stores"
)

// checkStore checks a store. where returns the location of a store that does not exist yet.
func checkStore(t *testing.T, where func(testing.TB) string) {
	for name, test := range map[string]func(*testing.T, string){
		"Values": values, "Atomic": atomic, "Neighbours": neighbours, "Snapshot": snapshot, "ReadOnly": readOnly, "Epochs": epochs,
		"Owners": ownersOf, "Texts": texts, "Query": query, "Changes": changes, "Space": space, "Closed": closed,
	} {
		t.Run(name, func(t *testing.T) { test(t, where(t)) })
	}
}

func open(t *testing.T, where string, o stores.Options) *stores.DB {
	t.Helper()
	o.Changed = func(string) {}
	db, err := stores.Open(where, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(func() {}); err != nil {
			t.Error(err)
		}
	})
	return db
}

const insertRun = `INSERT INTO run (id, cascade, file, parent, only_phase, started, status, epoch) VALUES (?, 'c', '', '', '', ?, 'running', 1)`

// begin inserts a run and returns its number.
func begin(t *testing.T, db *stores.DB, id string) (n int64) {
	t.Helper()
	err := db.Writer.Do(func(c *stores.Conn) (err error) {
		n, err = c.Number(insertRun+" RETURNING n", id, int64(1))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func count(t *testing.T, db *stores.DB, table string) (n int64) {
	t.Helper()
	err := db.Read(t.Context(), func(c *stores.Conn) (err error) {
		n, err = c.Number("SELECT count(*) FROM " + table)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Each type of value is read as it was written.
func values(t *testing.T, where string) {
	db := open(t, where, stores.Options{})
	n := begin(t, db, "é\n\"'")
	err := db.Writer.Do(func(c *stores.Conn) error {
		if err := c.Queue("UPDATE run SET cost_usd = ?, error = ?, finished = ? WHERE n = ?", 0.1, nil, int64(1)<<62, n); err != nil {
			return err
		}
		return c.Queue("INSERT INTO blob (digest, text) VALUES ('d', ?)", []byte{0, 1, 0xff})
	})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Read(t.Context(), func(c *stores.Conn) error {
		row, err := c.One(t.Context(), "SELECT id, cost_usd, error, finished FROM run WHERE n = ?", n)
		if err != nil {
			return err
		}
		if stores.Text(row[0]) != "é\n\"'" || stores.Real(row[1]) != 0.1 || row[2] != nil || stores.Integer(row[3]) != 1<<62 {
			t.Errorf("got %v", row)
		}
		if row, err = c.One(t.Context(), "SELECT text FROM blob"); err == nil && stores.Text(row[0]) != "\x00\x01\xff" {
			t.Errorf("got %q", row[0])
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// A write that fails leaves nothing.
func atomic(t *testing.T, where string) {
	db := open(t, where, stores.Options{})
	bad := errors.New("bad")
	err := db.Writer.Do(func(c *stores.Conn) error {
		_, err := c.Exec(insertRun, "run", int64(1))
		return errors.Join(err, bad)
	})
	if !errors.Is(err, bad) || count(t, db, "run") != 0 {
		t.Errorf("got %v, %d rows", err, count(t, db, "run"))
	}
}

// If one of the writes in a transaction fails, the others succeed.
func neighbours(t *testing.T, where string) {
	db := open(t, where, stores.Options{})
	bad, good := make(chan error, 1), make(chan error, 1)
	db.Writer.Add(func(*stores.Conn) error { return errors.New("bad") }, func(err error) { bad <- err })
	db.Writer.Add(func(c *stores.Conn) error {
		_, err := c.Exec(insertRun, "run", int64(1))
		return err
	}, func(err error) { good <- err })
	if err := db.Writer.Wait(good); err != nil || <-bad == nil || count(t, db, "run") != 1 {
		t.Errorf("got %v, %d rows", err, count(t, db, "run"))
	}
}

// A reader sees one state of the store, even if another process writes at the same time.
func snapshot(t *testing.T, where string) {
	db := open(t, where, stores.Options{})
	err := db.Read(t.Context(), func(c *stores.Conn) error {
		before, err := c.Number("SELECT count(*) FROM run")
		begin(t, db, "run")
		after, again := c.Number("SELECT count(*) FROM run")
		if before != after {
			t.Errorf("%d rows, then %d", before, after)
		}
		return errors.Join(err, again)
	})
	if err != nil || count(t, db, "run") != 1 {
		t.Errorf("got %v, %d rows", err, count(t, db, "run"))
	}
}

// A store that is opened for reading must exist and have tables. It is not written.
func readOnly(t *testing.T, where string) {
	if _, err := stores.Open(where, stores.Options{ReadOnly: true}); err == nil {
		t.Error("a missing store was opened")
	}
	begin(t, open(t, where, stores.Options{}), "run")
	db := open(t, where, stores.Options{ReadOnly: true})
	if db.Writer != nil || count(t, db, "run") != 1 {
		t.Errorf("got %d rows", count(t, db, "run"))
	}
}

// If another process raises a run's epoch, a new era begins or the check of the old epoch
// fails.
func epochs(t *testing.T, where string) {
	one, two := open(t, where, stores.Options{}), open(t, where, stores.Options{})
	n := begin(t, one, "run")
	write := func(db *stores.DB) error {
		return db.Writer.Do(func(c *stores.Conn) error {
			if err := db.Store.Hold(c, n, 1); err != nil {
				return err
			}
			return c.Queue("UPDATE run SET events = events + 1 WHERE n = ?", n)
		})
	}
	if err := write(one); err != nil {
		t.Fatal(err)
	}
	era := one.Writer.Era.Load()
	err := two.Writer.Do(func(c *stores.Conn) error { return c.Queue("UPDATE run SET epoch = 2 WHERE n = ?", n) })
	if err != nil {
		t.Fatal(err)
	}
	if err := write(one); err == nil && one.Writer.Era.Load() == era {
		t.Error("the old start still writes")
	}
}

// The owner of an open database is alive. After the database is closed, its owner is gone.
func ownersOf(t *testing.T, where string) {
	one := open(t, where, stores.Options{})
	two, err := stores.Open(where, stores.Options{Changed: func(string) {}})
	if err != nil {
		t.Fatal(err)
	}
	text := two.Owner.Text()
	bury := func() (buried bool) {
		err := one.Writer.Do(func(c *stores.Conn) (err error) {
			buried, err = one.Store.Bury(c, text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return buried
	}
	if _, alive := one.Alive(text); !alive || !one.Store.Leased(two.Owner) || !one.Store.Judges() {
		t.Error("an open database counts as gone")
	}
	if err := two.Close(func() {}); err != nil {
		t.Fatal(err)
	}
	if _, alive := one.Alive(text); alive || !bury() {
		t.Error("a closed database counts as open")
	}
}

// A text is stored once, even if two processes write it. After its removal, it is stored again.
func texts(t *testing.T, where string) {
	one, two := open(t, where, stores.Options{}), open(t, where, stores.Options{})
	text := codec.Text{Digest: codec.DigestOf([]byte("a text")), Text: "a text"}
	write := func(db *stores.DB) error {
		return db.Writer.Do(func(*stores.Conn) error { return db.Writer.Texts([]codec.Text{text, text}) })
	}
	var all sync.WaitGroup
	for _, db := range []*stores.DB{one, two} {
		all.Go(func() {
			for range 5 {
				if err := write(db); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if n := count(t, one, "text"); n != 1 {
		t.Errorf("the text is stored %d times", n)
	}
	err := two.Writer.Do(func(c *stores.Conn) error {
		return errors.Join(two.Store.Still(c), c.Queue("DELETE FROM text WHERE digest = ?", text.Digest[:]))
	})
	if err = errors.Join(err, write(one)); err != nil || count(t, two, "text") != 1 {
		t.Errorf("the text was not written again: %v", err)
	}
}

// A user's statement reads, and must not write. An error of the statement is not an error of the
// store.
func query(t *testing.T, where string) {
	db := open(t, where, stores.Options{})
	begin(t, db, "run")
	ask := func(text string) (list []any, err error) {
		err = db.Store.Query(t.Context(), databases.Statement{
			Text: text, Columns: func([]string) {}, Row: func(v []driver.Value) bool { list = append(list, stores.Text(v[0])); return true },
		})
		return list, err
	}
	if list, err := ask("SELECT run_id FROM runs;"); err != nil || !reflect.DeepEqual(list, []any{"run"}) {
		t.Errorf("got %v, %v", list, err)
	}
	for _, text := range []string{"DELETE FROM run", "SELECT 1; SELECT 2", "SELECT nothing FROM runs", "DROP TABLE run"} {
		if list, err := ask(text); err == nil || !db.Store.Wrong(err) || db.Store.Away(err) {
			t.Errorf("%s returns %v, %v", text, list, err)
		}
	}
	if n := count(t, db, "run"); n != 1 {
		t.Errorf("%d rows remain", n)
	}
}

// patience is the maximum time until a process notices a write of another process.
const patience = 10 * time.Second

// The number of changes differs after a write of another process.
func changes(t *testing.T, where string) {
	one, two := open(t, where, stores.Options{}), open(t, where, stores.Options{})
	number := func() (n int64) {
		if err := one.Watch(func(c *stores.Conn) (err error) { n, err = one.Store.Changes(c); return err }); err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := number()
	begin(t, two, "run")
	two.Store.Announce("run")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for number() == before {
		if ctx.Err() != nil {
			t.Fatal("a write of another process changes nothing")
		}
	}
}

// The size includes the data, and unused space is returned or reused.
func space(t *testing.T, where string) {
	db := open(t, where, stores.Options{})
	var size int64
	err := db.Read(t.Context(), func(c *stores.Conn) (err error) { size, err = db.Store.Size(c); return err })
	if err != nil || size <= 0 {
		t.Errorf("got %d bytes, %v", size, err)
	}
	if free, err := db.Store.Shrink(t.Context()); err != nil || free > size {
		t.Errorf("%d of %d bytes are free, %v", free, size, err)
	}
}

// A closed database refuses reads and writes, and may be closed again.
func closed(t *testing.T, where string) {
	db := open(t, where, stores.Options{})
	if err := db.Close(func() {}); err != nil {
		t.Fatal(err)
	}
	if err := db.Read(t.Context(), func(*stores.Conn) error { return nil }); !errors.Is(err, stores.ErrClosed) {
		t.Errorf("a read returns %v", err)
	}
	if err := db.Writer.Do(func(*stores.Conn) error { return nil }); !errors.Is(err, stores.ErrClosed) {
		t.Errorf("a write returns %v", err)
	}
}
