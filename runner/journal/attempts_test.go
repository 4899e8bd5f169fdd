package journal

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
)

func attemptsOf(t testing.TB, j *Journal, f Filter) (list []Attempt) {
	t.Helper()
	for a, err := range j.Attempts(t.Context(), f) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, a)
	}
	return list
}

// textName returns the name of a text.
func textName(text string) string {
	if text == "" {
		return ""
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(text)))[:TextDigits]
}

// TestAttempts compares the attempts of every story with its events.
func TestAttempts(t *testing.T) {
	oneByOne(t)
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	reported := map[string][]event.Event{}
	for _, s := range stories(t) {
		var live collector
		s.run(t, begin(t, j, s.start(s.Name)), s.world(t, &live), true)
		reported[s.Name] = live.events
	}
	attempts := map[string][]Attempt{}
	for _, a := range attemptsOf(t, j, Filter{}) {
		attempts[a.RunID] = append(attempts[a.RunID], a)
	}
	seen := 0
	for _, s := range stories(t) {
		t.Run(s.Name, func(t *testing.T) {
			ends, verdicts := map[event.Path]event.Event{}, map[event.Path]*event.Verdict{}
			for _, e := range reported[s.Name] {
				switch {
				case e.Kind == event.AttemptFinished:
					ends[e.Path] = e
				case e.Verdict != nil:
					verdicts[e.Path] = e.Verdict
				}
			}
			for _, a := range attempts[s.Name] {
				end, finished := ends[a.Path]
				if finished && (a.Outcome != end.Status || a.Text != textName(end.Text) || a.Phase != end.Phase || a.Number != end.Attempt || !a.Finished.Equal(end.Time)) {
					t.Errorf("%s: %+v, want %+v", a.Path, a, end)
				}
				delete(ends, a.Path)
				for _, g := range a.Verdicts {
					seen++
					if g.Text == ofAttempt {
						t.Errorf("%s: %s judged a text that nobody knows", a.Path, g.Path)
					}
					v := verdicts[g.Path]
					if v != nil && (g.Validator != v.Validator || g.Moment != v.CheckMoment() || g.Reason != v.Reason && g.Reason != "#text:"+textName(v.Reason) || g.Broke != (v.Error != nil) ||
						(g.Valid == nil) != (v.Valid == nil) || g.Valid != nil && *g.Valid != *v.Valid || finished && g.Path.Parent() == a.Path && g.Text != a.Text) {
						t.Errorf("%s: %+v, want %+v", a.Path, g, v)
					}
				}
			}
			for at := range ends {
				if try, within := tryOf(at); try == "" && s.Cascade.Tries != nil {
					continue // a try is not an attempt
				} else if at := within; strings.Count(string(at), "attempt[") == 1 && !strings.Contains(string(at), "/sub[") && !strings.Contains(string(at), "/pre[") && !strings.Contains(string(at), "filter/") {
					t.Errorf("%s is missing", at)
				}
			}
		})
	}
	if seen < 100 {
		t.Errorf("only %d verdicts were seen", seen)
	}
}

// TestAttemptsOfTurns: a verdict in a turn is on the reply of that turn and has
// the cost of its judge.
func TestAttemptsOfTurns(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	calls := 0
	m := model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
		calls++
		u := model.Usage{Calls: 1, InputTokens: 10, OutputTokens: 5, CostUSD: 0.01}
		switch {
		case r.Validator != "":
			return model.Response{Text: fmt.Sprintf(`{"valid": %v, "reason": "vote"}`, calls != 4), Model: "judge", Finish: "stop", Usage: u}, nil
		default:
			return model.Response{Text: fmt.Sprintf("reply %d%s", calls, strings.Repeat(" long", 200*(calls%2))), Model: "author", Finish: "stop", Usage: u}, nil
		}
	})
	r := runnerOver(t, j, m, runner.WithModelName("small"))
	c := load(t, `cascade_id: t
phases:
  - name: draft
    instructions: Write.
    model: [small, big]
    rules: {max_turns: 2}
    wards:
      pre: [{validator: non_empty}]
      turn: [{expr: "len(content) > 3"}]
      post: [{judge: "Is it good?", name: tone, votes: 3, mode: retry}]
  - {name: note, compose: "done", each: {in: "{{ input.list }}"}}
`)
	if _, err := r.Run(t.Context(), c, map[string]any{"list": []any{1, 2}}, runner.WithRunID("one")); err != nil {
		t.Fatal(err)
	}
	list := attemptsOf(t, j, Filter{Cascade: "t"})
	var reported []string
	for _, a := range list {
		line := fmt.Sprintf("%s %d %s %s %d calls, %d verdicts", a.Path, a.Number, a.Outcome, a.Model, a.Usage.Calls, len(a.Verdicts))
		reported = append(reported, line)
	}
	slices.Sort(reported)
	want := []string{
		"draft 0   0 calls, 1 verdicts", "draft/attempt[1] 1 succeeded small 5 calls, 3 verdicts",
		"note/item[0]/attempt[1] 1 succeeded  0 calls, 0 verdicts", "note/item[1]/attempt[1] 1 succeeded  0 calls, 0 verdicts",
	}
	if !slices.Equal(reported, want) {
		t.Fatalf("got\n%s", strings.Join(reported, "\n"))
	}
	v := list[1].Verdicts
	if v[0].Text != textName("reply 1"+strings.Repeat(" long", 200)) || v[1].Text != textName("reply 2") || v[2].Text != list[1].Text || list[1].Text != v[1].Text {
		t.Errorf("texts: %+v of %+v", v, list[1])
	}
	if v[2].Usage.Calls != 3 || v[2].Score == nil || *v[2].Score < 0.6 || v[2].Usage.CostUSD < 0.029 {
		t.Errorf("the judge: %+v", v[2])
	}
	if got := attemptsOf(t, j, Filter{Cascade: "other"}); len(got) != 0 {
		t.Errorf("of another cascade: %v", got)
	}
	if list[0].Version != list[1].Version || len(list[0].Version) != TextDigits {
		t.Errorf("versions %q, %q", list[0].Version, list[1].Version)
	}
}

// TestAttemptsGoOn: verdicts on an attempt that waited or was interrupted are
// on the text at its end after the resume.
func TestAttemptsGoOn(t *testing.T) {
	for _, breaks := range []bool{false, true} {
		t.Run(fmt.Sprintf("breaks=%v", breaks), func(t *testing.T) {
			j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
			broken := breaks
			m := model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
				reply := model.Response{Text: "a fine text", Finish: "stop"}
				switch last := r.Messages[len(r.Messages)-1]; {
				case r.Validator != "" && broken:
					broken = false
					return model.Response{}, errors.New("down")
				case r.Validator != "":
					reply.Text = `{"valid": false, "reason": "vague"}`
				case !breaks && last.Role == model.User:
					reply = model.Response{Finish: "tool_calls", ToolCalls: []model.ToolCall{{ID: "1", Name: "ask_human", Arguments: `{"question": "How?"}`}}}
				}
				return reply, nil
			})
			r := runnerOver(t, j, m)
			c := load(t, `cascade_id: t
phases:
  - name: draft
    instructions: Write.
    tackle: [ask_human]
    wards: {post: [{expr: "len(content) > 0", mode: advisory}, {judge: "Is it good?", name: tone}]}
`)
			if res, _ := r.Run(t.Context(), c, nil, runner.WithRunID("run")); res.Status != "failed" && res.Status != "waiting" {
				t.Fatalf("%+v", res)
			}
			if !breaks {
				if err := j.Answer(t.Context(), "run", "", engine.Answer{Value: "well"}); err != nil {
					t.Fatal(err)
				}
			}
			if res, err := r.Resume(t.Context(), "run"); res.Status != "blocked" {
				t.Fatal(res.Status, err)
			}
			list := attemptsOf(t, j, Filter{})
			if len(list) != 1 || list[0].Text != textName("a fine text") || len(list[0].Verdicts) != 2 {
				t.Fatalf("%+v", list)
			}
			for _, g := range list[0].Verdicts {
				if g.Text != list[0].Text {
					t.Errorf("%s is of the text %q", g.Path, g.Text)
				}
			}
		})
	}
}
