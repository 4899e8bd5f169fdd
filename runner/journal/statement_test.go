package journal

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed61713e19/capstan/internal/databases/postgres"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/internal/stores"
	"github.com/seed61713e19/capstan/runner/model"
)

var errStatement = errors.New("it is not so written")

// A breaker makes one statement of a journal's connections fail, once.
type breaker struct {
	stores.Store
	mu   sync.Mutex
	left int
	text string   // of the failed one
	all  []string // all statements
}

// breaking installs a breaker in a journal.
func breaking(j *Journal) *breaker {
	b := &breaker{Store: j.db.Store}
	if j.db.Writer != nil {
		j.db.Writer.C.Link = &fragile{j.db.Writer.C.Link, b}
	}
	for range len(j.db.Readers) {
		c := <-j.db.Readers
		c.Link = &fragile{c.Link, b}
		j.db.Readers <- c
	}
	j.db.Store = b
	return b
}

// unbroken returns a store without its breaker.
func unbroken(s stores.Store) stores.Store {
	if b, ok := s.(*breaker); ok {
		return b.Store
	}
	return s
}

func (b *breaker) Reader() (*stores.Conn, error) {
	c, err := b.Store.Reader()
	if err == nil {
		c.Link = &fragile{c.Link, b}
	}
	return c, err
}

// next makes the k-th following statement fail; 0 means none.
func (b *breaker) next(k int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left, b.text, b.all = k, "", nil
}

// broke returns the failed statement, or "" if it was not reached.
func (b *breaker) broke() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text
}

// said returns all statements since next.
func (b *breaker) said() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.all)
}

func (b *breaker) breaks(text string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all = append(b.all, text)
	if b.left--; b.left == 0 {
		b.text = text
		return errStatement
	}
	return nil
}

// A fragile link belongs to a breaker.
type fragile struct {
	stores.Link
	of *breaker
}

func (f *fragile) Exec(text string, args ...any) (int64, error) {
	if err := f.of.breaks(text); err != nil {
		return 0, err
	}
	return f.Link.Exec(text, args...)
}

func (f *fragile) Send(when postgres.Order, row func([]driver.Value) error, text string, args ...any) error {
	if err := f.of.breaks(text); err != nil {
		return err
	}
	return f.Link.Send(when, row, text, args...)
}

func (f *fragile) Each(ctx context.Context, row func([]driver.Value) error, text string, args ...any) error {
	if err := f.of.breaks(text); err != nil {
		return err
	}
	return f.Link.Each(ctx, row, text, args...)
}

const everyKind = `
cascade_id: every_kind
phases:
  - {name: draft, instructions: Write., output_schema: {type: string}, rules: {timeout: 60s}, wards: {post: [{judge: "Is it good?"}, {validator: max_length, with: {max: 9000}}]}}
  - {name: asked, instructions: "Ask.", human_input: {prompt: "Publish?", type: confirmation, expires: 10h}}
  - {name: sent, tool: send, inputs: {to: me, text: "{{ outputs.draft }}"}}
  - {name: end, compose: "{{ outputs.draft }}"}
`

// everyAnswer are the answers to everyKind, including an answer that is too long for a
// row.
func everyAnswer() *says {
	return &says{answers: map[string]string{
		"Write.": `"` + strings.Repeat("long ", 200) + `"`, "Ask.": "what", "Is it good?": `{"valid": true, "reason": "good"}`,
	}}
}

var yes = runner.WithAsk(func(context.Context, engine.Question) (engine.Answer, error) { return engine.Answer{Value: true}, nil })

// Whichever statement of a run, its resume or a sharing run fails, it is
// retried or an error is returned, and the resumed run has the same result.
func TestEveryStatement(t *testing.T) {
	c, p := load(t, everyKind), pairOf(t)
	b := breaking(p.first)
	want, tried := map[string]map[event.Path]string{}, map[string]int{}
	var all []string
	for k, broken := 0, true; broken; k++ { // none at first, and none at the end
		if onServer != nil && 0 < k && k <= len(all) { // each statement only twice if it is expensive
			if tried[all[k-1]]++; tried[all[k-1]] > 2 {
				continue
			}
		}
		emptied(t, p.first)
		m, j, received := everyAnswer(), p.first, 0
		m.fails = map[string]int{"Ask.": 1}
		b.next(k)
		goOn := func(id, parent string) (result engine.Result, err error) {
			for range 4 {
				r := runnerOver(t, j, m, yes)
				if result, err = r.Resume(t.Context(), id); errors.Is(err, runner.ErrNoRun) {
					result, err = r.Run(t.Context(), c, nil, runner.WithRunID(id), runner.WithParent(parent, ""))
				}
				if err == nil {
					break
				}
				if !strings.Contains(err.Error(), "down") { // as the model fails once
					received++
					gone(t, p.first, nil)
					j = p.second
				}
			}
			return result, err
		}
		for _, run := range [][2]string{{"run", ""}, {"child", "run"}} {
			id := run[0]
			result, err := goOn(id, run[1])
			if text, _ := result.Output.(string); err != nil || len(text) != 1000 {
				t.Errorf("statement %d, %s: run %s came to %+v, %v", k, b.broke(), id, result, err)
				continue
			}
			effects := effectsOf(t, p.second, id)
			if want[id] == nil {
				want[id] = effects
			}
			same(t, fmt.Sprintf("statement %d, %s: effects", k, b.broke()), effects, want[id])
			if stored, err := p.second.Run(t.Context(), id); err != nil || stored.Status != engine.Succeeded {
				t.Errorf("statement %d, %s: kept is %+v, %v", k, b.broke(), stored, err)
			}
			for i, e := range eventsOf(t, p.second, id, News) {
				if e.Seq != int64(i+1) {
					t.Errorf("statement %d, %s: event %d has number %d", k, b.broke(), i+1, e.Seq)
				}
			}
		}
		if k == 0 {
			all = b.said()
		}
		broken = b.broke() != "" || k == 0
		if received > 0 && b.broke() == "" || received > 1 {
			t.Errorf("statement %d, %s: it is heard of %d times", k, b.broke(), received)
		}
	}
}

// An unheard link loses the server's response to one commit.
type unheard struct {
	stores.Link
	left int
}

func (u *unheard) Exec(text string, args ...any) (int64, error) {
	n, err := u.Link.Exec(text, args...)
	if text == "COMMIT" {
		u.left--
	}
	if text == "COMMIT" && u.left == 0 {
		err = errors.Join(err, io.EOF)
	}
	return n, err
}

// Whichever commit's response is lost, the run continues over another
// connection, and no row is stored twice.
func TestUnheardCommit(t *testing.T) {
	serverOnly(t)
	c, j := load(t, everyKind), journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	var want map[event.Path]string
	for k, lost := 0, true; lost; k++ { // none at first, and none at the end
		emptied(t, j)
		u := &unheard{j.db.Writer.C.Link, k}
		j.db.Writer.C.Link = u
		m := everyAnswer()
		m.fails = map[string]int{"Ask.": 1}
		r := runnerOver(t, j, m, yes)
		_, first := r.Run(t.Context(), c, nil, runner.WithRunID("run"))
		result, err := r.Resume(t.Context(), "run")
		if text, _ := result.Output.(string); first == nil || err != nil || len(text) != 1000 || len(m.calls) != 4 {
			t.Errorf("commit %d: got %v, %+v, %v after %v", k, first, result, err, m.calls)
			continue
		}
		effects := effectsOf(t, j, "run")
		if want == nil {
			want = effects
		}
		same(t, fmt.Sprintf("commit %d: effects", k), effects, want)
		for i, e := range eventsOf(t, j, "run", Whole) {
			if e.Seq != int64(i+1) {
				t.Errorf("commit %d: event %d has number %d", k, i+1, e.Seq)
			}
		}
		lost = u.left <= 0
		j.db.Writer.Turn <- struct{}{}
		if j.db.Writer.C.Link == u {
			j.db.Writer.C.Link = u.Link
		}
		<-j.db.Writer.Turn
	}
}

// A rolled back text does not count as written, even if another run uses it
// too.
func TestTakenBack(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	words := strings.Repeat("long ", 200)
	first := begin(t, j, runner.Start{RunID: "first"})
	j.db.Writer.Before = func() error { return errStatement }
	_, err := first.Host(quick{words}).Model("p/model", model.Request{})
	if j.db.Writer.Before = nil; !errors.Is(err, errStatement) {
		t.Fatalf("got %v", err)
	}
	saidRun(t, j, "second", words, engine.Result{Status: engine.Succeeded}, runner.Start{})
	if got := saidBy(t, j, "second"); got != words {
		t.Errorf("got %q", got)
	}
	// An event that cannot be stored ends its run.
	for id, e := range map[string]event.Event{
		"third":  {Kind: event.Feedback, Path: "p", Output: math.NaN()},
		"fourth": {Kind: event.ModelCalled, Path: "p/model", Request: &model.Request{Tools: []model.Tool{{Parameters: math.NaN()}}}},
	} {
		h := begin(t, j, runner.Start{RunID: id}).Host(quick{words})
		h.Emit(e)
		if _, err := h.Tool("p/tool", engine.Job{}); err == nil {
			t.Errorf("%s goes on without an event", id)
		}
	}
}

// Whichever statement fails when a run begins to wait, it waits with its
// question or returns an error.
func TestEveryStatementOfWaiting(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	b := breaking(j)
	for k, broke := 1, true; broke; k++ {
		id := fmt.Sprint("run-", k)
		r := begin(t, j, runner.Start{RunID: id})
		for _, at := range []event.Path{"a", "b"} {
			if _, err := r.Host(quick{}).Ask(at, engine.Question{Prompt: "Go?"}); !errors.Is(err, engine.ErrSuspended) {
				t.Fatal(err)
			}
		}
		b.next(k)
		err := r.End(engine.Result{RunID: id, Status: engine.Waiting}, &engine.Error{Code: engine.Waiting, Path: "a"})
		text := b.broke()
		broke = text != ""
		b.next(0)
		if run, e := j.Run(t.Context(), id); broke != (err != nil) || err == nil && (e != nil || run.Status != engine.Waiting || !slices.Equal(keys(run), []string{"a", "b"})) {
			t.Errorf("statement %d, %s: %v, it waits as %+v, %v", k, text, err, run, e)
		}
	}
}

// An effect is marked for a repetition, or an error is returned.
func TestDropFails(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	r := begin(t, j, runner.Start{RunID: "run"}).(*recording)
	if _, err := r.Host(quick{}).Tool("p/tool", engine.Job{}); err != nil {
		t.Fatal(err)
	}
	b := breaking(j)
	for k, broke := 1, true; broke; k++ {
		b.next(k)
		err := j.db.Writer.Do(func(c *stores.Conn) error { return j.dropRow(c, r.n, 1) })
		if broke = b.broke() != ""; broke && err == nil && !slices.Contains(b.said()[k:], b.broke()) {
			t.Errorf("statement %d, %s: nobody hears of it", k, b.broke())
		}
	}
	b.next(0)
}

// unclosed is a connection that cannot be closed.
type unclosed struct{ stores.Link }

func (s unclosed) Close() error { return errors.Join(s.Link.Close(), errStatement) }

// Close returns errors.
func TestCloseFails(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	j.db.Writer.C.Link = unclosed{j.db.Writer.C.Link}
	if err := j.Close(); !errors.Is(err, errStatement) {
		t.Errorf("got %v", err)
	}
}

// Whichever statement of a read fails, the reader gets an error. A read-only journal
// behaves in the same way.
func TestEveryLook(t *testing.T) {
	file := filepath.Join(t.TempDir(), "j.db")
	j := journalAt(t, file, Options{})
	m := everyAnswer()
	m.fails = map[string]int{"Ask.": 1}
	r := runnerOver(t, j, m, yes)
	if _, err := r.Run(t.Context(), load(t, everyKind), nil, runner.WithRunID("run")); err == nil {
		t.Fatal("it did not fail")
	}
	if _, err := r.Resume(t.Context(), "run"); err != nil {
		t.Fatal(err)
	}
	open := begin(t, j, runner.Start{RunID: "open"})
	open.Host(quick{}).Emit(event.Event{Kind: event.Feedback, Path: "p"})
	if err := open.(*recording).commit(); err != nil {
		t.Fatal(err)
	}
	looksHear(t, j)
}

func looksHear(t *testing.T, j *Journal) {
	t.Helper()
	b := breaking(j)
	defer b.next(0)
	for name, look := range looks(t.Context(), j) {
		for k := 1; ; k++ {
			b.next(k)
			err := look()
			words := b.broke()
			if words == "" && err != nil || words != "" && !errors.Is(err, errStatement) {
				t.Errorf("%s, statement %d, %s: got %v", name, k, words, err)
			}
			if words == "" {
				break
			}
		}
	}
}

// looks are the reads of [TestEveryLook].
func looks(ctx context.Context, j *Journal) map[string]func() error {
	return map[string]func() error{
		"runs": func() error { _, err := j.Runs(ctx, Filter{}); return err },
		"words": func() error {
			if list, err := j.Runs(ctx, Filter{Words: "long long"}); err != nil || len(list) > 0 {
				return err
			}
			return errors.New("the run is not found")
		},
		"run":      func() error { _, err := j.Run(ctx, "run"); return err },
		"open":     func() error { _, err := j.Run(ctx, "open"); return err },
		"so far":   func() error { _, err := j.Result(ctx, "open"); return err },
		"result":   func() error { _, err := j.Result(ctx, "run"); return err },
		"request":  func() error { _, err := requestOf(ctx, j, "run", "asked/attempt[1]/turn[0]/model"); return err },
		"gates":    func() error { _, err := j.Gates(ctx, ""); return err },
		"version":  func() error { _, err := j.Version(ctx); return err },
		"replay":   func() error { _, err := j.Replay(ctx, "run"); return err },
		"events":   func() error { return failed(j.Events(ctx, "run", 0, Whole)) },
		"news":     func() error { return failed(j.Events(ctx, "run", 0, News)) },
		"effects":  func() error { return failed(j.Effects(ctx, "run")) },
		"attempts": func() error { return failed(j.Attempts(ctx, Filter{})) },
	}
}

// Reading an invalid pack returns an error about damage.
func TestDamagedPack(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	if _, err := runnerOver(t, j, everyAnswer(), yes).Run(t.Context(), load(t, everyKind), nil, runner.WithRunID("run")); err != nil {
		t.Fatal(err)
	}
	open := begin(t, j, runner.Start{RunID: "open"}).(*recording)
	if err := open.commit(); err != nil {
		t.Fatal(err)
	}
	if err := j.db.Writer.Do(func(c *stores.Conn) error { _, err := c.Exec("UPDATE pack SET data = ?", []byte("[]")); return err }); err != nil {
		t.Fatal(err)
	}
	all := looks(t.Context(), j)
	for _, name := range []string{"version", "words", "run"} { // these read no pack
		delete(all, name)
	}
	all["row"] = func() error {
		return j.db.Read(t.Context(), func(c *stores.Conn) error { _, _, err := j.rowAt(t.Context(), c, open.n, 1); return err })
	}
	all["drop"] = func() error { return j.db.Writer.Do(func(c *stores.Conn) error { return j.dropRow(c, open.n, 1) }) }
	all["gone on with"] = func() error { gone(t, j, open); _, err := j.Reopen("open"); return err }
	for name, look := range all {
		if err := look(); err == nil || !badRows.MatchString(err.Error()) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

var badRows = regexp.MustCompile(`damaged: rows 1 to \d+ of run number [1-9]`)

// failed returns the error at the end of a sequence.
func failed[T any](all iter.Seq2[T, error]) (last error) {
	for _, err := range all {
		last = err
	}
	return last
}
