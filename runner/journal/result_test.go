package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/engine/enginetest"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/internal/stores"
)

// subs is a story of nested sub-cascades with and without outputs, with skipped
// ends and repeated visits. It also releases rejected texts in all possible
// ways.
const subs = `
-- cascade.yaml --
cascade_id: parent
validators: {never: {expr: "false", reason: never}}
phases:
  - name: write
    instructions: Write.
    sub_cascades: [{ref: research.yaml}, {ref: quiet.yaml, context_out: false}, {ref: none.yaml}]
    wards: {post: [{judge: "Well?", name: well, mode: advisory}]}
    handoffs: [{target: write, when: "content == 'again'"}, turns]
  - name: turns
    instructions: Turn.
    sub_cascades: [{ref: turns.yaml}]
    rules: {max_turns: 2, loop_until: never, max_attempts: 1, on_exhausted: last}
    wards: {turn: [{validator: contains, with: {text: x}, mode: retry, max_attempts: 2}], post: [{validator: contains, with: {text: z}, mode: advisory}]}
  - {name: gate, tool: contains, inputs: {text: q}, handoffs: [{target: best, when: "true"}]}
  - name: best
    instructions: Best.
    soundings: {factor: 2, validator: {expr: "content != 'a'"}}
    rules: {on_exhausted: best}
    wards: {post: [{validator: contains, with: {text: d}, mode: retry, max_attempts: 2}, {validator: contains, with: {text: c}, mode: retry, max_attempts: 2}]}
-- research.yaml --
cascade_id: research
phases:
  - {name: look, instructions: Look., sub_cascades: [{ref: quiet.yaml}], wards: {post: [{validator: contains, with: {text: fact}, mode: retry, max_attempts: 2}]}, rules: {on_exhausted: last}}
  - {name: sum, instructions: Sum.}
  - {name: never, instructions: Never., when: "false"}
-- quiet.yaml --
cascade_id: quiet
phases: [{name: hush, instructions: Hush., rules: {on_exhausted: last}, wards: {post: [{validator: contains, with: {text: o}, mode: retry, max_attempts: 1}]}}]
-- none.yaml --
cascade_id: none
phases: [{name: never, instructions: Never., when: "false"}]
-- turns.yaml --
cascade_id: turns
phases: [{name: first, instructions: First.}]
-- script.yaml --
- {phase: hush, reply: one}
- {phase: look, reply: nothing}
- {phase: look, reply: a rumour}
- {phase: sum, reply: a guess}
- {phase: hush, reply: two}
- {phase: write, reply: again}
- {validator: well, reply: '{"valid": false, "reason": "no"}'}
- {phase: hush, reply: three}
- {phase: look, reply: a fact}
- {phase: sum, reply: a summary}
- {phase: hush, reply: four}
- {phase: write, reply: done}
- {validator: well, reply: 'true'}
- {phase: first, reply: first}
- {phase: turns, reply: y}
- {phase: turns, reply: x}
- {phase: turns, reply: xx}
- {phase: best, reply: a}
- {phase: best, reply: c}
- {phase: best, attempt: 2, reply: b}
`

// TestResultSoFar compares the result of an interrupted run with that of the
// engine at the same event, for every event, and the last one with the final
// result.
func TestResultSoFar(t *testing.T) {
	onFile(t)
	list := append(stories(t), &story{enginetest.Read(t, "subs", []byte(subs))})
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	for i, s := range list {
		if testing.Short() && !among(i, s) && s.Name != "subs" {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			for k := int64(1); ; k++ {
				id := fmt.Sprint(s.Name, " gone ", k)
				r := begin(t, j, s.start(id))
				had, broken := s.run(t, r, enginetest.NewFault(s.world(t, &heard{}), k), false)
				if err := r.(*recording).commit(); err != nil {
					t.Fatal(err)
				}
				reported, err := j.Result(t.Context(), id)
				if err != nil {
					t.Fatal(err)
				}
				same(t, fmt.Sprintf("gone at effect %d", k), soFar(reported), soFar(had))
				if errors.Is(broken, enginetest.ErrFault) {
					continue
				}
				if n := len(effectsOf(t, j, id)); int64(n) >= k {
					t.Errorf("it was broken off at %d of %d effects", k-1, n)
				}
				if s.Name == "subs" && len(had.Degraded) != 4 {
					t.Fatalf("got %+v %+v", had.Error, had.Degraded)
				}
				return
			}
		})
	}
}

// TestSubSoFar checks that a sub-cascade's output is present as soon as it may
// have ended.
func TestSubSoFar(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	s := &story{enginetest.Read(t, "subs", []byte(subs))}
	r := begin(t, j, s.start("run"))
	h := r.Host(s.world(t, &heard{}))
	for _, e := range []struct {
		event.Event
		want string
	}{
		{event.Event{Kind: event.PhaseStarted, Path: "write", Phase: "write"}, "{}"},
		{event.Event{Kind: event.PhaseFinished, Path: "write/sub[0]/research/look/sub[0]/quiet/hush", CascadeID: "quiet", Status: "succeeded", Output: "one"}, "{}"},
		{event.Event{Kind: event.PhaseFinished, Path: "write/sub[0]/research/look", CascadeID: "research", Status: "succeeded", Output: "two"}, `{"research":"two"}`},
		{event.Event{Kind: event.Route, Path: "write/sub[0]/research/look", To: "sum"}, "{}"},
		{event.Event{Kind: event.PhaseFinished, Path: "write/sub[0]/research/sum", CascadeID: "research", Status: "exhausted"}, "{}"},
		{event.Event{Kind: event.AttemptStarted, Path: "write/attempt[1]", Attempt: 1}, "{}"},
	} {
		h.Emit(e.Event)
		if err := r.(*recording).commit(); err != nil {
			t.Fatal(err)
		}
		reported, err := j.Result(t.Context(), "run")
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := json.Marshal(reported.Outputs); string(got) != e.want {
			t.Errorf("after %s of %s: got %s, want %s", e.Kind, e.Path, got, e.want)
		}
	}
}

// TestTriesSoFar checks that a run has the result of its winner after the choice. If
// the tries are repeated, the result is dropped.
func TestTriesSoFar(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	s := &story{enginetest.Read(t, "subs", []byte(subs))}
	r := begin(t, j, s.start("run"))
	h := r.Host(s.world(t, &heard{}))
	const second = "soundings/sounding[1]/attempt[1]"
	for _, e := range []struct {
		event.Event
		outputs, phases string
	}{
		{event.Event{Kind: event.PhaseStarted, Path: "soundings", Phase: "soundings"}, "{}", "soundings running"},
		{event.Event{Kind: event.PhaseFinished, Path: "soundings/sounding[0]/attempt[1]/tool/whole/write", Phase: "write", Status: "succeeded", Output: "one"}, "{}", "soundings running"},
		{event.Event{Kind: event.PhaseFinished, Path: second + "/tool/whole/write", Phase: "write", Status: "degraded", Output: "two"}, "{}", "soundings running"},
		{event.Event{Kind: event.PhaseFinished, Path: "soundings", Phase: "soundings", Status: "succeeded", Output: "two", Released: second}, `{"write":"two"}`, "write degraded"},
		{event.Event{Kind: event.PhaseStarted, Path: "soundings", Phase: "soundings"}, "{}", "soundings running"},
	} {
		h.Emit(e.Event)
		if err := r.(*recording).commit(); err != nil {
			t.Fatal(err)
		}
		reported, err := j.Result(t.Context(), "run")
		if err != nil {
			t.Fatal(err)
		}
		outputs, _ := json.Marshal(reported.Outputs)
		phases := ""
		for _, p := range reported.Phases {
			phases += p.Name + " " + p.Status
		}
		if string(outputs) != e.outputs || phases != e.phases {
			t.Errorf("after %s of %s: got %s and %s", e.Kind, e.Path, outputs, phases)
		}
	}
}

// soFar returns the parts of a result that an unfinished run has too.
func soFar(r engine.Result) any {
	return struct{ Outputs, Phases, Verdicts, Degraded any }{r.Outputs, r.Phases, r.Verdicts, r.Degraded}
}

// A result refers to the rows of its verdicts and does not repeat them.
func TestVerdictsStandOnce(t *testing.T) {
	j := judgedRun(t)
	err := j.db.Read(t.Context(), func(c *stores.Conn) error {
		row, err := c.One(t.Context(), "SELECT data FROM result")
		if data := stores.Text(row[0]); !strings.Contains(data, "verdict_rows") || strings.Contains(data, "it is cold") {
			t.Errorf("got %s", data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
