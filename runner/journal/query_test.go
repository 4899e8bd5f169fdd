package journal

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/internal/encodings"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/internal/stores"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/validators"
)

const judged = `
-- cascade.yaml --
cascade_id: judged
validators: {tone: {judge: "Is it warm?"}}
phases:
  - name: draft
    instructions: Write.
    wards:
      post:
        - {validator: tone, mode: retry, max_attempts: 2}
        - {validator: slow_no, with: {text: cold}, mode: advisory}
        - {validator: non_empty}
-- script.yaml --
- {phase: draft, attempt: 1, reply: "a cold text"}
- {validator: tone, reply: '{"valid": false, "reason": "it is cold"}'}
- {phase: draft, attempt: 2, reply: "a warm text"}
- {validator: tone, reply: '{"valid": true, "reason": "it is warm"}'}
`

func judgedRun(t *testing.T) *Journal {
	t.Helper()
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	s := storyOf(t, judged)
	if result, err := s.run(t, begin(t, j, s.start("run")), s.world(t, &heard{}), true); err != nil {
		t.Fatalf("%+v, %v", result, err)
	}
	return j
}

func TestQuery(t *testing.T) {
	j := judgedRun(t)
	for sql, want := range map[string][][]any{
		"SELECT run_id, cascade_id, status, phases, model_calls, error FROM runs":                         {{"run", "judged", "succeeded", int64(1), int64(4), nil}},
		"SELECT phase, path, status, output FROM phases":                                                  {{"draft", "draft", "succeeded", "a warm text"}},
		"SELECT attempt, status, text FROM attempts ORDER BY 1;":                                          {{int64(1), "retry", "a cold text"}, {int64(2), "succeeded", "a warm text"}},
		"SELECT attempt, valid, reason FROM verdicts WHERE validator = 'tone' ORDER BY 1 -- the judge's":  {{int64(1), int64(0), "it is cold"}, {int64(2), int64(1), "it is warm"}},
		"WITH c AS (SELECT * FROM calls) SELECT count(*), count(validator), sum(input_tokens) > 0 FROM c": {{int64(4), int64(2), int64(1)}},
		"VALUES (1, 2.5, 'x;y', NULL) ; -- nothing more":                                                  {{int64(1), 2.5, "x;y", nil}},
		"SELECT '--', \";\", [a] FROM (SELECT 1 AS \";\", 2 AS a) /* ; */":                                {{"--", int64(1), int64(2)}},
	} {
		if onServer != nil && strings.Contains(sql, "[") {
			continue // quotes of SQLite
		}
		got, err := j.Query(t.Context(), sql, 0)
		if err != nil || !reflect.DeepEqual(got.Rows, want) {
			t.Errorf("%s\ngot  %v, %v\nwant %v", sql, got, err, want)
		}
	}
	got, err := j.Query(t.Context(), "SELECT path FROM verdicts", 2)
	if err != nil || len(got.Rows) != 2 || !slices.Equal(got.Columns, []string{"path"}) {
		t.Errorf("got %v, %v", got, err)
	}
}

// A long text is shown, also within JSON.
func TestQueryLongTexts(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	long := strings.Repeat("a \"long\" text\n", 100)
	r := begin(t, j, runner.Start{RunID: "run", CascadeID: "c"})
	h := r.Host(quick{})
	h.Emit(event.Event{Kind: event.AttemptFinished, Path: "a/attempt[1]", Phase: "a", Attempt: 1, Status: "succeeded", Text: long})
	h.Emit(event.Event{Kind: event.PhaseFinished, Path: "a", Phase: "a", Status: "succeeded", Output: long})
	h.Emit(event.Event{Kind: event.PhaseFinished, Path: "b", Phase: "b", Status: "succeeded", Output: map[string]any{"essay": long}})
	h.Emit(event.Event{Kind: event.PhaseFinished, Path: "c", Phase: "c", Status: "succeeded", Output: "#text:no"})
	if err := r.End(engine.Result{Status: engine.Succeeded}, nil); err != nil {
		t.Fatal(err)
	}
	inJSON, _ := encodings.Of(map[string]any{"essay": long})
	essay := "json_extract(output, '$.essay')"
	if onServer != nil {
		essay = "output::json ->> 'essay'"
	}
	for sql, want := range map[string]any{
		"SELECT text FROM attempts":                             long,
		"SELECT output FROM phases WHERE phase = 'a'":           long,
		"SELECT output FROM phases WHERE phase = 'b'":           string(inJSON),
		"SELECT " + essay + " FROM phases WHERE phase = 'b'":    long,
		"SELECT output FROM phases WHERE phase = 'c'":           "#text:no",
		"SELECT '#text:' || '" + strings.Repeat("00", 20) + "'": "#text:" + strings.Repeat("00", 20),
	} {
		got, err := j.Query(t.Context(), sql, 0)
		if err != nil || len(got.Rows) != 1 || got.Rows[0][0] != want {
			t.Errorf("%s: got %.200v, %v", sql, got, err)
		}
	}
}

func TestQueryRefuses(t *testing.T) {
	j := judgedRun(t)
	other := filepath.Join(t.TempDir(), "other.db")
	for _, sql := range []string{
		"", " ; ", "-- nothing", "SELECT 1; SELECT 2", "SELECT 1; DELETE FROM run", "DELETE FROM run", "UPDATE run SET status = 'x'", "DROP TABLE run",
		"INSERT INTO run (id) VALUES ('x')", "ATTACH '" + other + "' AS o", "PRAGMA query_only=0", "PRAGMA journal_mode=DELETE", "VACUUM INTO '" + other + "'",
		"BEGIN", "CREATE TEMP TABLE x (y)", "SELECT load_extension('x')", "SELECT nothing", "SELECT * FROM none", "SELECT 'open", "SELECT 1 \x00; DELETE FROM run",
		"WITH x AS (SELECT 1) DELETE FROM run", "REINDEX", "ANALYZE", "SELECT * FROM pragma_user_version()",
	} {
		if got, err := j.Query(t.Context(), sql, 0); err == nil {
			t.Errorf("%q gave %v", sql, got)
		} else if !strings.Contains(err.Error(), "sql: ") {
			t.Errorf("%q: %v", sql, err)
		}
	}
	if list, err := j.Runs(t.Context(), Filter{}); err != nil || len(list) != 1 || list[0].Status != engine.Succeeded {
		t.Errorf("got %v, %v", list, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := j.Query(ctx, "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n", 0)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestGates(t *testing.T) {
	j := judgedRun(t)
	for _, cascade := range []string{"", "judged"} {
		gates, err := j.Gates(t.Context(), cascade)
		if err != nil || len(gates) != 3 {
			t.Fatalf("got %+v, %v", gates, err)
		}
		for i := range gates {
			if gates[i].Validator != "non_empty" && gates[i].Seconds <= 0 {
				t.Errorf("%s took no time", gates[i].Validator)
			}
			gates[i].Seconds = 0
		}
		want := []Gate{
			{Validator: "non_empty", Moment: "post", Verdicts: 2, Passed: 2, Attempts: 1.5},
			{Validator: "slow_no", Moment: "post", Verdicts: 2, Passed: 1, Rejected: 1, Attempts: 2},
			{Validator: "tone", Moment: "post", Verdicts: 2, Passed: 1, Rejected: 1, Attempts: 2, Calls: 2},
		}
		if !reflect.DeepEqual(gates, want) {
			t.Errorf("got %+v", gates)
		}
	}
	if gates, err := j.Gates(t.Context(), "another"); err != nil || len(gates) != 0 {
		t.Errorf("got %+v, %v", gates, err)
	}
}

// The cost of judges of tools counts for their verdicts, not for those of a
// turn, and all votes count for their verdict.
func TestGatesAroundTools(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	s := storyOf(t, `
-- cascade.yaml --
cascade_id: around
validators: {fine: {judge: "Is it fine?"}, sure: {judge: "Is it so?", votes: 3}}
phases:
  - name: work
    instructions: Work.
    tackle: [set_state]
    rules: {max_turns: 1}
    wards:
      turn: [{validator: fine}]
      tool: [{validator: fine}]
      result: [{validator: sure}]
-- script.yaml --
- {phase: work, tool_calls: [{name: set_state, arguments: {key: a, value: 1}}]}
- {phase: work, reply: done}
- {validator: fine, reply: '{"valid": true, "reason": "so"}', times: always}
- {validator: sure, reply: '{"valid": true, "reason": "so"}', times: always}
`)
	if result, err := s.run(t, begin(t, j, s.start("run")), s.world(t, &heard{}), true); err != nil {
		t.Fatalf("%+v, %v", result, err)
	}
	gates, err := j.Gates(t.Context(), "")
	if err != nil || len(gates) != 3 {
		t.Fatalf("got %+v, %v", gates, err)
	}
	for i, want := range []Gate{{Moment: "tool", Calls: 1}, {Moment: "turn", Calls: 1}, {Moment: "result", Calls: 3}} {
		if g := gates[i]; g.Moment != want.Moment || g.Verdicts != 1 || g.Calls != want.Calls {
			t.Errorf("got %+v, want %+v", g, want)
		}
	}
}

func TestRuns(t *testing.T) {
	at := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{Now: func() time.Time { return at }})
	for i := range 6 {
		at = at.Add(time.Hour)
		id := fmt.Sprintf("r%d-%c", i, 'a'+i)
		r := begin(t, j, runner.Start{RunID: id, CascadeID: []string{"odd", "Even"}[i%2]})
		r.Host(quick{}).Emit(event.Event{Kind: event.PhaseFinished, Path: "p", Phase: "p"})
		if _, err := r.Host(quick{}).Model("p/model", model.Request{}); err != nil {
			t.Fatal(err)
		}
		if i < 5 {
			status := []string{engine.Succeeded, engine.Failed, engine.Waiting}[i%3]
			if err := r.End(engine.Result{Status: status, Usage: model.Usage{Calls: 1}}, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, c := range map[string]struct {
		f    Filter
		want string
	}{
		"all":          {Filter{}, "r5-f r4-e r3-d r2-c r1-b r0-a"},
		"limit":        {Filter{Limit: 2}, "r5-f r4-e"},
		"before":       {Filter{Before: "r4-e", Limit: 2}, "r3-d r2-c"},
		"status":       {Filter{Status: engine.Failed}, "r4-e r1-b"},
		"status, some": {Filter{Status: engine.Failed, Limit: 1}, "r4-e"},
		"running":      {Filter{Status: Running}, "r5-f"},
		"waiting":      {Filter{Status: engine.Waiting}, "r2-c"},
		"cascade":      {Filter{Cascade: "odd"}, "r4-e r2-c r0-a"},
		"text":         {Filter{Text: "EVEN"}, "r5-f r3-d r1-b"},
		"text of name": {Filter{Text: "-C"}, "r2-c"},
		"since":        {Filter{Since: time.Date(2030, 1, 1, 5, 0, 0, 0, time.UTC)}, "r5-f r4-e"},
		"until":        {Filter{Until: time.Date(2030, 1, 1, 2, 0, 0, 0, time.UTC)}, "r0-a"},
		"none":         {Filter{Text: "%"}, ""},
	} {
		list, err := j.Runs(t.Context(), c.f)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got []string
		for _, s := range list {
			got = append(got, s.RunID)
			if s.Usage.Calls != 1 || s.Phases != 1 || s.Events != 1 {
				t.Errorf("got %+v", s)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: got %v, want %s", name, got, c.want)
		}
	}
	for id, want := range map[string]string{"last": "r5-f", "r3": "r3-d", "r0-a": "r0-a"} {
		if r, err := j.Run(t.Context(), id); err != nil || r.RunID != want {
			t.Errorf("%s: got %+v, %v", id, r, err)
		}
	}
	for _, id := range []string{"r", "none", "", "r0-a "} {
		if r, err := j.Run(t.Context(), id); !errors.Is(err, runner.ErrNoRun) {
			t.Errorf("%q: got %+v, %v", id, r, err)
		}
	}
	if _, err := j.Runs(t.Context(), Filter{Before: "none"}); !errors.Is(err, runner.ErrNoRun) {
		t.Errorf("before none: %v", err)
	}
}

func TestEventsAfter(t *testing.T) {
	j := judgedRun(t)
	all := eventsOf(t, j, "run", Whole)
	for after := range int64(len(all) + 2) {
		var got []event.Event
		for e, err := range j.Events(t.Context(), "run", after, Whole) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, e)
		}
		if want := all[min(after, int64(len(all))):]; asJSON(t, append([]event.Event{}, got...)) != asJSON(t, append([]event.Event{}, want...)) {
			t.Fatalf("after %d: %s", after, asJSON(t, got))
		}
	}
	for _, e := range eventsOf(t, j, "run", Brief) {
		if e.Request != nil && (e.Request.Messages != nil || e.Request.Phase != "draft") {
			t.Errorf("got %+v", e.Request)
		}
	}
	for _, err := range j.Events(t.Context(), "none", 0, Whole) {
		if !errors.Is(err, runner.ErrNoRun) {
			t.Errorf("got %v", err)
		}
	}
	if _, err := requestOf(t.Context(), j, "run", "nowhere"); err == nil {
		t.Error("a request nowhere")
	}
	if _, err := j.Requests(t.Context(), "none"); !errors.Is(err, runner.ErrNoRun) {
		t.Errorf("got %v", err)
	}
}

func TestVersion(t *testing.T) {
	onFile(t) // a server sends notifications: TestNews
	file := filepath.Join(t.TempDir(), "j.db")
	a, b := journalAt(t, file, Options{}), journalAt(t, file, Options{})
	last := map[*Journal]int64{}
	changed := func() (list []bool) {
		for _, j := range []*Journal{a, b} {
			v, err := j.Version(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, v != last[j])
			last[j] = v
		}
		return list
	}
	changed()
	if got := changed(); got[0] || got[1] {
		t.Errorf("changed without a reason: %v", got)
	}
	r := begin(t, a, runner.Start{RunID: "run"})
	if got := changed(); !got[0] || !got[1] {
		t.Errorf("a run began: %v", got)
	}
	if _, err := r.Host(quick{}).Model("p", model.Request{}); err != nil {
		t.Fatal(err)
	}
	if got := changed(); !got[0] || !got[1] {
		t.Errorf("an effect was made: %v", got)
	}
	if got := changed(); got[0] || got[1] {
		t.Errorf("changed without a reason: %v", got)
	}
}

// A relative name stays the same file after a change of the working directory,
// also for later connections.
func TestRelativeName(t *testing.T) {
	onFile(t)
	t.Chdir(t.TempDir())
	j := journalAt(t, "runs.db", Options{})
	begin(t, j, runner.Start{RunID: "run"}).Host(quick{}).Emit(event.Event{Kind: event.RunStarted, RunID: "run"})
	if list, err := j.Runs(t.Context(), Filter{}); err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	t.Chdir(t.TempDir())
	var reads func(n int) error
	reads = func(n int) error { // n concurrent connections
		if n == 0 {
			return nil
		}
		return j.db.Read(t.Context(), func(*stores.Conn) error { return reads(n - 1) })
	}
	if err := reads(stores.MaxReaders); err != nil {
		t.Error(err)
	}
}

// The number of open files never exceeds the number of concurrent readers.
func TestReadersAreBounded(t *testing.T) {
	onFile(t)
	const fds = "/proc/self/fd"
	if _, err := os.ReadDir(fds); err != nil {
		t.Skipf("the system does not tell of open files: %v", err)
	}
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{noSync: true})
	fill(t, j, 2, 10)
	opened := func() (n int) {
		list, _ := os.ReadDir(fds)
		for _, e := range list {
			if to, err := os.Readlink(filepath.Join(fds, e.Name())); err == nil && strings.HasPrefix(to, fileOf(j)) {
				n++
			}
		}
		return n
	}
	before := opened()
	var all sync.WaitGroup
	for i := range 300 {
		all.Go(func() {
			if i%10 == 0 {
				if _, err := j.Query(t.Context(), "SELECT count(*) FROM calls", 0); err != nil {
					t.Error(err)
				}
			}
			if r, err := j.Result(t.Context(), "last"); err != nil || len(r.Verdicts) != 10 {
				t.Errorf("got %+v, %v", r, err)
			}
		})
	}
	all.Wait()
	if n := opened(); n > before+3*stores.MaxReaders {
		t.Errorf("%d files are open, %d were before", n, before)
	}
	// Waiting for a connection ends with the context.
	for range stores.MaxReaders {
		j.db.ReadSlots <- struct{}{}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := j.Result(ctx, "last"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	for range stores.MaxReaders {
		<-j.db.ReadSlots
	}
}

// A judge's call has the moment of its check.
func TestMomentOf(t *testing.T) {
	for at, want := range map[event.Path]string{
		"p/attempt[1]/post[0]": "post", "p/attempt[1]/post[0]/model": "post", "p/attempt[1]/post[0]/rung[1]/model": "post",
		"p/attempt[1]/turn[0]/ward[2]": "turn", "p/attempt[1]/turn[0]/tool[1]/ward[0]": "tool",
		"p/attempt[1]/post[0]/vote[1]/model": "post", "p/attempt[1]/post[0]/confirm/vote[2]/model": "post", "p/attempt[1]/turn[0]/ward[0]/confirm/model/rung[1]": "turn",
		"p/attempt[1]/turn[0]/tool[1]/result_ward[0]/model": "result", "ward[0]": "turn", "tool[1]/ward[0]": "tool", "model": "",
	} {
		if got := momentOf(at, "tone"); got != want {
			t.Errorf("%s: %s, want %s", at, got, want)
		}
	}
}

// warns is a host whose validators warn.
type warns struct{ quick }

func (warns) Validate(event.Path, engine.Validation) (engine.Finding, error) {
	return engine.Finding{Verdict: validators.Verdict{Valid: true, Warnings: []validators.Issue{{Message: "long"}}}}, nil
}

// The finding of a judge is stored with its validator, for queries about gates;
// that of a computed check is not.
func TestRowsOfFindings(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	r := begin(t, j, runner.Start{RunID: "run"})
	h := r.Host(warns{})
	for at, pure := range map[event.Path]bool{"p/post[0]": true, "p/post[1]": false} {
		if _, err := h.Validate(at, engine.Validation{Validator: "tone", Pure: pure}); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.End(engine.Result{RunID: "run", Status: engine.Succeeded}, nil); err != nil {
		t.Fatal(err)
	}
	reported := map[event.Path]bool{}
	for _, l := range storedRows(t, j, 1) {
		reported[l.Path] = strings.Contains(string(l.JSON()), `"validator":"tone"`)
	}
	if reported["p/post[0]"] || !reported["p/post[1]"] {
		t.Errorf("got %v", reported)
	}
}

// A query about one run reads only that run in every view.
func TestQueryOfOneRun(t *testing.T) {
	onFile(t)
	file := filepath.Join(t.TempDir(), "j.db")
	j := journalAt(t, file, Options{})
	fill(t, j, 3, 2)
	const id = "run000001"
	c, err := j.db.Store.Reader()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, view := range []string{"runs", "phases", "attempts", "verdicts", "calls"} {
		for _, asked := range []string{"FROM " + view + " WHERE run_id = '" + id + "'", "FROM " + view + " v JOIN runs r ON r.run_id = v.run_id WHERE r.run_id = '" + id + "'"} {
			err := c.Each(t.Context(), func(v []driver.Value) error {
				if does := stores.Text(v[3]); strings.HasPrefix(does, "SCAN run") || strings.HasPrefix(does, "SCAN pack") {
					t.Errorf("%s: %s", asked, does)
				}
				return nil
			}, "EXPLAIN QUERY PLAN SELECT * "+asked)
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if n, err := c.Number("SELECT count(*) FROM calls WHERE run_id = ?", id); err != nil || n != 2 {
		t.Errorf("%d calls, %v", n, err)
	}
}
