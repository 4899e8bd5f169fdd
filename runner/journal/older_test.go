package journal

import (
	"path/filepath"
	"testing"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/engine/enginetest"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
)

// aged makes the file one of a capstan that kept each row by itself.
func aged(t *testing.T, j *Journal) {
	t.Helper()
	rows := map[int64][]logged{}
	err := j.reading(t.Context(), func(c *conn) error {
		last, err := c.number("SELECT max(n) FROM run")
		for n := int64(1); err == nil && n <= last; n++ {
			rows[n], err = j.readRows(t.Context(), c, n)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	err = j.writer.do(func(c *conn) error {
		if err := dropViews(c); err != nil {
			return err
		}
		if err := c.Script("DROP TABLE pack; DROP TABLE mark; ALTER TABLE start DROP COLUMN sum; ALTER TABLE result DROP COLUMN sum; ALTER TABLE line RENAME TO log; PRAGMA user_version = 2"); err != nil {
			return err
		}
		for n, list := range rows {
			for _, l := range list {
				var seq, print, data any
				if l.seq > 0 {
					seq = l.seq
				}
				if l.print != nil {
					print = []byte(l.print)
				}
				if raw := l.json(); raw != nil {
					data = string(raw)
				}
				if _, err := c.Exec("INSERT INTO log VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1)", n<<rowBits|l.row, seq, l.time, l.kind, string(l.path), l.took, print, data); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// What an older capstan kept is told as it was: looked at as it is, brought up
// to date, and gone on with at any of its effects.
func TestOlderRows(t *testing.T) {
	onFile(t)
	oneByOne(t)
	r, err := runner.New(runner.WithModel(model.Func(mind)), runner.WithTools(enginetest.Tools()...), runner.WithValidators(enginetest.Validators()...))
	if err != nil {
		t.Fatal(err)
	}
	c, err := r.Parse("rich.yaml", []byte(rich))
	if err != nil {
		t.Fatal(err)
	}
	s := &story{&enginetest.Story{Cascade: c, Input: map[string]any{"topic": "owls"}}}
	want := wholeOver(t, s, r.Host(t.Context()))
	for k := 1; ; k++ {
		file := filepath.Join(t.TempDir(), "j.db")
		j := journalAt(t, file, Options{careless: true})
		left, made := k, 0
		recording := begin(t, j, s.start("run"))
		strike := func() { elsewhereNow(j, "run") }
		_, err := s.run(t, recording, hijacker{r.Host(t.Context()), &left, true, &made, strike}, false)
		if left > 0 {
			if k < 12 {
				t.Errorf("only %d effects", k)
			}
			break
		}
		if err == nil {
			t.Fatalf("effect %d: it was not cut", k)
		}
		told := func(j *Journal) []string {
			result, err := j.Result(t.Context(), "run")
			if err != nil {
				t.Fatal(err)
			}
			gates, err := j.Gates(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			run, err := j.Run(t.Context(), "run")
			if err != nil {
				t.Fatal(err)
			}
			var asked []any
			for _, e := range eventsOf(t, j, "run", Whole) {
				if e.Kind == event.ModelCalled {
					req, err := j.Request(t.Context(), "run", e.Path)
					if err != nil {
						t.Fatal(err)
					}
					asked = append(asked, req)
				}
			}
			run.Status, run.Owner, run.Error, result.Error, result.Status = "", "", nil, nil, "" // who had it is gone
			return []string{asJSON(t, eventsOf(t, j, "run", Whole)), asJSON(t, effectsOf(t, j, "run")), asJSON(t, result), asJSON(t, gates), asJSON(t, run), asJSON(t, asked)}
		}
		now := told(j)
		aged(t, j)
		j.Close()
		for _, o := range []Options{{ReadOnly: true}, {TakeOver: true, careless: true}} {
			j = journalAt(t, file, o)
			for i, was := range told(j) {
				enginetest.Same(t, "what was kept", was, now[i])
			}
			if o.ReadOnly {
				j.Close()
			}
		}
		result, err := s.run(t, reopen(t, j, "run"), r.Host(t.Context()), true)
		if err != nil || asJSON(t, result) != want {
			t.Fatalf("effect %d: got %s, %v", k, asJSON(t, result), err)
		}
		if kept, err := j.Result(t.Context(), "run"); err != nil || kept.Status != engine.Succeeded {
			t.Fatalf("effect %d: kept is %+v, %v", k, kept, err)
		}
		j.Close()
	}
}
