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

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/postgres"
	"github.com/seed61713e19/capstan/runner/model"
)

var errStatement = errors.New("it is not so written")

// A breaker has one statement fail, once, of all that a journal's connections are
// told from now on.
type breaker struct {
	store
	mu   sync.Mutex
	left int
	text string   // of the one that failed
	all  []string // what the statements were
}

// breaking puts a breaker under a journal.
func breaking(j *Journal) *breaker {
	b := &breaker{store: j.store}
	if j.writer != nil {
		j.writer.c.link = &fragile{j.writer.c.link, b}
	}
	for range len(j.readers) {
		c := <-j.readers
		c.link = &fragile{c.link, b}
		j.readers <- c
	}
	j.store = b
	return b
}

// unbroken is a store without a breaker.
func unbroken(s store) store {
	if b, ok := s.(*breaker); ok {
		return b.store
	}
	return s
}

func (b *breaker) reader() (*conn, error) {
	c, err := b.store.reader()
	if err == nil {
		c.link = &fragile{c.link, b}
	}
	return c, err
}

// next has the k-th statement from now on fail; none where k is 0.
func (b *breaker) next(k int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left, b.text, b.all = k, "", nil
}

// broke is the statement that failed, "" where it was not come to.
func (b *breaker) broke() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text
}

// said are all statements since next.
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

// A fragile link is one of a breaker's.
type fragile struct {
	link
	of *breaker
}

func (f *fragile) Exec(text string, args ...any) (int64, error) {
	if err := f.of.breaks(text); err != nil {
		return 0, err
	}
	return f.link.Exec(text, args...)
}

func (f *fragile) Send(when postgres.Order, row func([]driver.Value) error, text string, args ...any) error {
	if err := f.of.breaks(text); err != nil {
		return err
	}
	return f.link.Send(when, row, text, args...)
}

func (f *fragile) Each(ctx context.Context, row func([]driver.Value) error, text string, args ...any) error {
	if err := f.of.breaks(text); err != nil {
		return err
	}
	return f.link.Each(ctx, row, text, args...)
}

const everyKind = `
cascade_id: every_kind
phases:
  - {name: draft, instructions: Write., output_schema: {type: string}, rules: {timeout: 60s}, wards: {post: [{judge: "Is it good?"}, {validator: max_length, with: {max: 9000}}]}}
  - {name: asked, instructions: "Ask.", human_input: {prompt: "Publish?", type: confirmation, expires: 10h}}
  - {name: sent, tool: send, inputs: {to: me, text: "{{ outputs.draft }}"}}
  - {name: end, compose: "{{ outputs.draft }}"}
`

// everyAnswer are the answers to everyKind, of which one is too long for a row.
func everyAnswer() *says {
	return &says{answers: map[string]string{
		"Write.": `"` + strings.Repeat("long ", 200) + `"`, "Ask.": "what", "Is it good?": `{"valid": true, "reason": "good"}`,
	}}
}

var yes = runner.WithAsk(func(context.Context, runner.Question) (runner.Answer, error) { return runner.Answer{Value: true}, nil })

// Whichever statement fails of those that a run needs, which breaks in the middle,
// and one that shares what it has: it is made again, or one hears of it, and the run
// comes to what it would have come to when it is gone on with.
func TestEveryStatement(t *testing.T) {
	c, p := load(t, everyKind), pairOf(t)
	b := breaking(p.first)
	want, tried := map[string]map[event.Path]string{}, map[string]int{}
	var all []string
	for k, broken := 0, true; broken; k++ { // none at first, and in the end
		if onServer != nil && 0 < k && k <= len(all) { // where it is dear, each of them twice
			if tried[all[k-1]]++; tried[all[k-1]] > 2 {
				continue
			}
		}
		emptied(t, p.first)
		m, j, heard := everyAnswer(), p.first, 0
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
				if !strings.Contains(err.Error(), "down") { // as the model says once
					heard++
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
			if kept, err := p.second.Run(t.Context(), id); err != nil || kept.Status != engine.Succeeded {
				t.Errorf("statement %d, %s: kept is %+v, %v", k, b.broke(), kept, err)
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
		if heard > 0 && b.broke() == "" || heard > 1 {
			t.Errorf("statement %d, %s: it is heard of %d times", k, b.broke(), heard)
		}
	}
}

// An unheard link loses what the server says to one commit.
type unheard struct {
	link
	left int
}

func (u *unheard) Exec(text string, args ...any) (int64, error) {
	n, err := u.link.Exec(text, args...)
	if text == "COMMIT" {
		u.left--
	}
	if text == "COMMIT" && u.left == 0 {
		err = errors.Join(err, io.EOF)
	}
	return n, err
}

// Whichever commit a server makes without saying so, a run goes on over another
// connection, and nothing is there twice.
func TestUnheardCommit(t *testing.T) {
	serverOnly(t)
	c, j := load(t, everyKind), journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	var want map[event.Path]string
	for k, lost := 0, true; lost; k++ { // none at first, and in the end
		emptied(t, j)
		u := &unheard{j.writer.c.link, k}
		j.writer.c.link = u
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
		j.writer.turn <- struct{}{}
		if j.writer.c.link == u {
			j.writer.c.link = u.link
		}
		<-j.writer.turn
	}
}

// What was taken back is not taken for written: a text that another run says too.
func TestTakenBack(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	said := strings.Repeat("long ", 200)
	first := begin(t, j, runner.Start{RunID: "first"})
	j.writer.before = func() error { return errStatement }
	_, err := first.Host(quick{said}).Model("p/model", model.Request{})
	if j.writer.before = nil; !errors.Is(err, errStatement) {
		t.Fatalf("got %v", err)
	}
	saidRun(t, j, "second", said, engine.Result{Status: engine.Succeeded}, runner.Start{})
	if got := saidBy(t, j, "second"); got != said {
		t.Errorf("got %q", got)
	}
	// An event that cannot be kept ends the run that told it.
	for id, e := range map[string]event.Event{
		"third":  {Kind: event.Feedback, Path: "p", Output: math.NaN()},
		"fourth": {Kind: event.ModelCalled, Path: "p/model", Request: &model.Request{Tools: []model.Tool{{Parameters: math.NaN()}}}},
	} {
		h := begin(t, j, runner.Start{RunID: id}).Host(quick{said})
		h.Emit(e)
		if _, err := h.Tool("p/tool", engine.Job{}); err == nil {
			t.Errorf("%s goes on without an event", id)
		}
	}
}

// A text of which a part is not written is not there.
func TestPartFails(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	huge, b := strings.Repeat("x", partSize+1), breaking(j)
	for k, broke := 1, true; broke; k++ {
		b.next(k)
		err := j.writer.do(func(*conn) error { return j.writer.texts([]text{{digestText(huge), huge}}) })
		if broke = b.broke() != ""; broke != errors.Is(err, errStatement) {
			t.Errorf("statement %d, %s: got %v", k, b.broke(), err)
		}
	}
	b.next(0)
}

// Whichever statement fails with which a run begins to wait, it waits with the
// question that it tells of, or one hears of it.
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

// An effect is to be made again, or one hears that it is not.
func TestDropFails(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	r := begin(t, j, runner.Start{RunID: "run"}).(*recording)
	if _, err := r.Host(quick{}).Tool("p/tool", engine.Job{}); err != nil {
		t.Fatal(err)
	}
	b := breaking(j)
	for k, broke := 1, true; broke; k++ {
		b.next(k)
		err := j.writer.do(func(c *conn) error { return j.dropRow(c, r.n, 1) })
		if broke = b.broke() != ""; broke && err == nil && !slices.Contains(b.said()[k:], b.broke()) {
			t.Errorf("statement %d, %s: nobody hears of it", k, b.broke())
		}
	}
	b.next(0)
}

// unclosed is a connection that does not close.
type unclosed struct{ link }

func (s unclosed) Close() error { return errors.Join(s.link.Close(), errStatement) }

// Who closes a journal hears what went wrong.
func TestCloseFails(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	j.writer.c.link = unclosed{j.writer.c.link}
	if err := j.Close(); !errors.Is(err, errStatement) {
		t.Errorf("got %v", err)
	}
}

// Whichever statement fails of those that look at runs, in an older journal too, who
// looks hears of it.
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
	if onServer != nil {
		return
	}
	if _, err := r.Run(t.Context(), load(t, everyKind), nil, runner.WithRunID("next")); err != nil {
		t.Fatal(err)
	}
	all := func() (list []any) {
		for _, id := range []string{"run", "open", "next"} {
			run, err := j.Run(t.Context(), id)
			run.Status, run.Owner, run.Error = "", "", nil // who had it is gone
			list = append(list, run, err, eventsOf(t, j, id, Whole), effectsOf(t, j, id))
		}
		return list
	}
	now := all()
	aged(t, j)
	j.Close()
	j = journalAt(t, file, Options{ReadOnly: true})
	same(t, "an older journal", all(), now)
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
			said := b.broke()
			if said == "" && err != nil || said != "" && !errors.Is(err, errStatement) {
				t.Errorf("%s, statement %d, %s: got %v", name, k, said, err)
			}
			if said == "" {
				break
			}
		}
	}
}

// looks are the ways to look at the runs of [TestEveryLook].
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
		"request":  func() error { _, err := j.Request(ctx, "run", "asked/attempt[1]/turn[0]/model"); return err },
		"gates":    func() error { _, err := j.Gates(ctx, ""); return err },
		"version":  func() error { _, err := j.Version(ctx); return err },
		"replay":   func() error { _, err := j.Replay(ctx, "run"); return err },
		"events":   func() error { return failed(j.Events(ctx, "run", 0, Whole)) },
		"news":     func() error { return failed(j.Events(ctx, "run", 0, News)) },
		"effects":  func() error { return failed(j.Effects(ctx, "run")) },
		"attempts": func() error { return failed(j.Attempts(ctx, Filter{})) },
	}
}

// Where a pack does not read, who looks at it is told that it is damaged.
func TestDamagedPack(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	if _, err := runnerOver(t, j, everyAnswer(), yes).Run(t.Context(), load(t, everyKind), nil, runner.WithRunID("run")); err != nil {
		t.Fatal(err)
	}
	open := begin(t, j, runner.Start{RunID: "open"}).(*recording)
	if err := open.commit(); err != nil {
		t.Fatal(err)
	}
	if err := j.writer.do(func(c *conn) error { _, err := c.Exec("UPDATE pack SET data = ?", []byte("[]")); return err }); err != nil {
		t.Fatal(err)
	}
	all := looks(t.Context(), j)
	for _, name := range []string{"version", "words", "run"} { // which look at none
		delete(all, name)
	}
	all["row"] = func() error {
		return j.reading(t.Context(), func(c *conn) error { _, _, err := j.rowAt(t.Context(), c, open.n, 1); return err })
	}
	all["drop"] = func() error { return j.writer.do(func(c *conn) error { return j.dropRow(c, open.n, 1) }) }
	all["gone on with"] = func() error { gone(t, j, open); _, err := j.Reopen("open"); return err }
	for name, look := range all {
		if err := look(); err == nil || !badRows.MatchString(err.Error()) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

var badRows = regexp.MustCompile(`damaged: rows 1 to \d+ of run number [1-9]`)

// failed is the error that a walk ends with.
func failed[T any](all iter.Seq2[T, error]) (last error) {
	for _, err := range all {
		last = err
	}
	return last
}
