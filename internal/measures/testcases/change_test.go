package testcases_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/seed61713e19/capstan/internal/measures/testcases"
	"github.com/seed61713e19/capstan/runner/model"
)

const post = `cascade_id: post
validators:
  tone: {judge: "Is the tone friendly?"}
phases:
  - name: draft
    instructions: "Write about {{ input.topic }}."
    rules: {max_turns: 2}
    wards:
      post:
        - {validator: min_length, with: {min: 8}, mode: retry, max_attempts: 3}
        - {validator: slow_no, with: {text: rude}, mode: blocking}
        - {validator: tone, mode: advisory}
  - {name: publish, tool: add, inputs: {a: 1, b: 2}}
`

func posted(t *testing.T) (*story, string) {
	s := newStory(t, post, "short", "tiny", "long", "long enough")
	s.input = map[string]any{"topic": "owls"}
	_, dir := s.freeze(t)
	return s, dir
}

// edit replaces a text in a file, which must contain it.
func edit(t *testing.T, dir, name, old, new string) {
	t.Helper()
	file := filepath.Join(dir, name)
	b, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(b), old) {
		t.Fatalf("%s has no %q (%v):\n%s", name, old, err, b)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(b), old, new, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestChanges changes one thing of a test case. The test reports all differences, and the update
// accepts them or returns an error.
func TestChanges(t *testing.T) {
	for _, one := range []struct {
		name, file, old, new string
		lead                 string   // the kind of the first difference
		says                 []string // parts of the report
		stuck                bool     // the update returns an error
	}{
		{"prompt", "cascade/cascade.yaml", "Write about", "Write at length about", testcases.Request,
			[]string{"draft/attempt[1]/turn[0]/model: the model is asked something else", "-Write about owls.", "+Write at length about owls."}, false},
		{"input", "input.json", "owls", "crows", testcases.Request, []string{"+Write about crows."}, false},
		{"ward", "cascade/cascade.yaml", "min: 8", "min: 20", testcases.Verdict,
			[]string{"draft/attempt[2]/post[0]: min_length: expected valid", "got not valid", "asks for something that was not recorded: draft/attempt[3]/turn[0]/model", "Answer again"}, true},
		{"laxer ward", "cascade/cascade.yaml", "min: 8", "min: 2", testcases.Verdict, []string{"draft/attempt[2]/turn[1]/model: this was recorded, and is not asked for any more", "-draft succeeded: attempts 2", "+tiny"}, false},
		{"judge", "cascade/cascade.yaml", "friendly", "warm", testcases.Request, []string{"the model (judge tone) is asked", "friendly"}, false},
		{"reply", "effects/draft.yaml", "reply: long enough", "reply: long enough now", testcases.Request,
			[]string{"validator slow_no is asked something else; the run went on with the recorded answer", "the output of draft is another", "+long enough now"}, false},
		{"removed reply", "effects/draft.yaml", "  reply: long enough\n", "", testcases.Missing,
			[]string{"asks for something that was not recorded: draft/attempt[2]/turn[1]/model"}, true},
		{"finding", "effects/draft.yaml", "valid: true", "valid: false", testcases.Verdict, []string{"slow_no: expected valid", "blocked", "-succeeded", "+blocked"}, false},
		{"tool's inputs", "cascade/cascade.yaml", "b: 2", "b: 3", testcases.Request, []string{"tool add is asked", `+  "b": 3`}, false},
		{"tool's result", "effects/publish.yaml", "sum: 3", "sum: 4", testcases.Output, []string{"the output of publish is another", `-  "sum": 3`, `+  "sum": 4`}, false},
		{"extra call", "cascade/cascade.yaml", "max_turns: 2", "max_turns: 3", testcases.Request, []string{"turn 2 of 3", "draft/attempt[1]/turn[2]/model"}, true},
		{"fewer calls", "cascade/cascade.yaml", "max_turns: 2", "max_turns: 1", testcases.Request, []string{"validator slow_no is asked", "draft/attempt[3]/turn[0]/model"}, true},
		{"model", "cascade/cascade.yaml", "cascade_id: post", "cascade_id: post\nmodel: other", testcases.Request, []string{"+model: other"}, false},
		{"expected reason", "case.yaml", "reason: warm", "reason: cold", testcases.Verdict, []string{"cold", "warm"}, false},
		{"expected status", "case.yaml", "status: succeeded\n  model", "status: failed\n  model", testcases.Status, []string{"the run is succeeded, expected failed"}, false},
		{"expected calls", "case.yaml", "model_calls: 6\n  p", "model_calls: 4\n  p", testcases.CallCount, []string{"6 model calls, expected 4"}, false},
		{"expected verdict more", "case.yaml", "path: draft/attempt[1]/post[0]", "path: draft/attempt[1]/post[9]", testcases.Verdict, []string{"post[0]: min_length was not expected", "post[9]: min_length was not asked"}, false},
		{"no longer continues", "effects/draft.yaml", "  continues: draft/attempt[1]/turn[0]/model\n", "", testcases.Request, []string{"draft/attempt[1]/turn[1]/model", "+Write about owls."}, false},
		{"end of a line", "effects/draft.yaml", "- user: Write about owls.", "- user: \"Write about owls.\\n\"", testcases.Request, []string{"draft/attempt[1]/turn[0]/model"}, false},
		{"invalid cascade", "cascade/cascade.yaml", "phases:", "phrases:", testcases.Invalid, []string{"cascade.yaml:4:1"}, true},
	} {
		t.Run(one.name, func(t *testing.T) {
			s, dir := posted(t)
			edit(t, dir, one.file, one.old, one.new)
			c, o := s.test(t, dir)
			if o.OK() {
				t.Fatal("the change is not noticed")
			}
			words := text(o)
			if o.Differences[0].About != one.lead {
				t.Errorf("%s leads, want %s", o.Differences[0].About, one.lead)
			}
			for _, want := range one.says {
				if !strings.Contains(words, want) {
					t.Errorf("it does not say %q", want)
				}
			}
			before := tree(t, dir)
			err := c.Update(o)
			if !one.stuck && err == nil {
				if _, o := s.test(t, dir); !o.OK() {
					t.Errorf("after the update:\n%s", text(o))
				}
			} else if after := tree(t, dir); one.stuck != (err != nil) || len(after) != len(before) || after["case.yaml"] != before["case.yaml"] {
				t.Errorf("update: %v", err)
			}
			if t.Failed() {
				t.Log("\n" + words)
			}
		})
	}
}

// TestLongReply checks that a change in a text file is a difference, and a missing file is an
// error.
func TestLongReply(t *testing.T) {
	long := strings.Repeat("All that an owl wants.\n", 200)
	s := newStory(t, "cascade_id: c\nphases: [{name: draft, instructions: Write}]\n", long)
	_, dir := s.freeze(t)
	reply := "texts/draft.attempt-1.turn-0.model.reply.md"
	if got := tree(t, dir)[reply]; got != long {
		t.Fatalf("%s is not the reply:\n%s", reply, got)
	}
	edit(t, dir, reply, "an owl", "a crow")
	if _, o := s.test(t, dir); o.OK() || !strings.Contains(text(o), "+All that a crow wants.") {
		t.Error(text(o))
	}
	if err := os.Remove(filepath.Join(dir, reply)); err != nil {
		t.Fatal(err)
	}
	if _, err := testcases.Load(dir); err == nil || !strings.Contains(err.Error(), "effects/draft.yaml:4: ") || !strings.Contains(err.Error(), reply) {
		t.Error(err)
	}
}

// TestOneChangeOnce checks that a changed first message is reported once, although every turn
// contains it.
func TestOneChangeOnce(t *testing.T) {
	replies := make([]string, 30)
	for i := range replies {
		replies[i] = "again"
	}
	s := newStory(t, "cascade_id: c\nphases: [{name: draft, instructions: Write, rules: {max_turns: 30}}]\n", replies...)
	_, dir := s.freeze(t)
	edit(t, dir, "cascade/cascade.yaml", "instructions: Write", "instructions: Think")
	if _, o := s.test(t, dir); len(o.Differences) != 1 {
		t.Error(text(o))
	}
}

// TestLinear checks that the size of the files grows linearly with the number of turns.
func TestLinear(t *testing.T) {
	size := func(turns string, n int) (total int) {
		replies := make([]string, n)
		for i := range replies {
			replies[i] = strings.Repeat("word ", 50)
		}
		s := newStory(t, "cascade_id: c\nphases: [{name: draft, instructions: Write, rules: {max_turns: "+turns+"}}]\n", replies...)
		_, dir := s.freeze(t)
		all := tree(t, dir)
		if !strings.Contains(all["case.yaml"], "model_calls: "+turns) {
			t.Fatal(all["case.yaml"])
		}
		for _, content := range all {
			total += len(content)
		}
		return total
	}
	if few, many := size("30", 30), size("120", 120); many > 5*few {
		t.Errorf("30 turns take %d bytes, 120 take %d", few, many)
	}
}

// TestCutShort checks that a replay does not miss interrupted checks. If a verdict no longer
// blocks, the interrupted check is missing.
func TestCutShort(t *testing.T) {
	begun := make(chan struct{})
	hangs := model.Func(func(ctx context.Context, r model.Request) (model.Response, error) {
		switch {
		case r.Validator == "hangs":
			close(begun)
			<-ctx.Done()
			return model.Response{}, ctx.Err()
		case r.Validator == "no":
			<-begun
			return model.Response{Text: `{"valid": false, "reason": "no"}`}, nil
		}
		return model.Response{Text: "a text"}, nil
	})
	s := newStory(t, `cascade_id: c
validators: {hangs: {judge: "hang"}, no: {judge: "say no"}}
phases:
  - {name: draft, instructions: Write, wards: {post: [{validator: hangs, mode: advisory}, {validator: no, mode: blocking}]}}
`)
	s.model = hangs
	_, dir := s.freeze(t)
	if page := tree(t, dir)["effects/draft.yaml"]; strings.Count(page, "- call:") != 3 {
		t.Error(page)
	}
	edit(t, dir, "cascade/cascade.yaml", "validator: no, mode: blocking", "validator: no, mode: retry, max_attempts: 1")
	if _, o := s.test(t, dir); o.OK() || o.Differences[0].About != testcases.Missing {
		t.Errorf("nothing cuts the call short any more:\n%s", text(o))
	}
}

// TestTooLate checks that a verdict after the end of the run is not part of the replay.
func TestTooLate(t *testing.T) {
	for name, source := range map[string]string{
		"items":   "phases: [{name: draft, each: {in: [late, bad, never], max_parallel: 2}, instructions: \"{{ item }}\", wards: {post: [{expr: \"content != 'bad'\"}]}}]",
		"members": "phases: [{name: both, together: [{name: draft, instructions: late, wards: {post: [{expr: \"true\"}]}}, {name: other, instructions: bad, wards: {post: [{expr: \"false\"}]}}]}]",
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t, "cascade_id: c\n"+source+"\n")
			s.model = model.Func(func(ctx context.Context, r model.Request) (model.Response, error) {
				if r.Messages[0].Content == "late" {
					<-ctx.Done()
				}
				return model.Response{Text: r.Messages[0].Content}, nil
			})
			for range 10 { // the verdict comes, or its check is interrupted
				_, dir := s.freeze(t)
				if head := tree(t, dir)["case.yaml"]; !strings.Contains(head, "status: blocked") {
					t.Error(head)
				}
				updated(t, s, dir)
			}
		})
	}
}

func TestOutOfTime(t *testing.T) {
	for name, source := range map[string]string{
		"attempt": "cascade_id: c\nphases: [{name: first, instructions: One}, {name: draft, instructions: hang, rules: {timeout: 60s}}]\n",
		"run":     "cascade_id: c\nbudget: {max_seconds: 60}\nphases: [{name: first, instructions: One}, {name: draft, instructions: hang}]\n",
		"between": "cascade_id: c\nbudget: {max_seconds: 60}\nphases: [{name: first, instructions: late}, {name: draft, instructions: hang}]\n",
		"judges":  "cascade_id: c\nvalidators: {a: {judge: hang}, b: {judge: fine}}\nphases: [{name: draft, instructions: One, rules: {timeout: 60s}, wards: {post: [{validator: a}, {validator: b}]}}]\n",
		"tries":   "cascade_id: c\nphases: [{name: draft, instructions: hang, rules: {timeout: 60s}, soundings: {factor: 3, evaluator_instructions: pick}}]\n",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStory(t, source)
				s.model = model.Func(func(ctx context.Context, r model.Request) (model.Response, error) {
					switch words := r.Messages[0].Content; {
					case strings.Contains(words, "hang"):
						<-ctx.Done()
						return model.Response{}, ctx.Err()
					case words == "late":
						<-ctx.Done()
					}
					return model.Response{Text: `{"valid": true, "reason": "yes"}`}, nil
				})
				_, dir := s.freeze(t)
				if pages := tree(t, dir); !strings.Contains(pages["effects/draft.yaml"]+pages["effects/max_seconds.yaml"], "- timeout: ") {
					t.Error("no time was over", pages)
				}
				updated(t, s, dir)
			})
		})
	}
}

// TestOverBudgetTogether checks that a replay repeats the order of branches that compete for the
// rest of a budget.
func TestOverBudgetTogether(t *testing.T) {
	for name, source := range map[string]string{
		"soundings": "cascade_id: c\nbudget: {max_calls: 2}\nphases: [{name: a, instructions: b, soundings: {factor: 3, evaluator_instructions: pick}}]\n",
		"judges":    "cascade_id: c\nbudget: {max_calls: 2}\nvalidators: {x: {judge: a}, y: {judge: b}}\nphases: [{name: a, instructions: b, wards: {post: [{validator: x}, {validator: y}]}}]\n",
	} {
		t.Run(name, func(t *testing.T) {
			for range 10 {
				s := newStory(t, source, "one", "two", "three")
				_, dir := s.freeze(t)
				if head := tree(t, dir)["case.yaml"]; !strings.Contains(head, "status: over_budget") {
					t.Error(head)
				}
				updated(t, s, dir)
			}
		})
	}
}

// TestNumbers checks that a number keeps its decimal point, also after updates.
func TestNumbers(t *testing.T) {
	s := newStory(t, "cascade_id: c\nphases: [{name: a, tool: add, inputs: {a: 1, b: 2}}, {name: b, instructions: 'It is {{ outputs.a.sum }}.'}]\n", "x")
	s.input = map[string]any{"x": json.Number("2.0"), "y": []any{1, json.Number("4.0")}}
	_, dir := s.freeze(t)
	if got := tree(t, dir)["input.json"]; !strings.Contains(got, `"x": 2.0`) || !strings.Contains(got, "1,\n    4.0") {
		t.Error(got)
	}
	edit(t, dir, "effects/a.yaml", "sum: 3", "sum: 3.0")
	if _, o := s.test(t, dir); o.OK() || !strings.Contains(text(o), "+It is 3.0.") {
		t.Error(text(o))
	}
	updated(t, s, dir)
	if page := tree(t, dir)["effects/a.yaml"]; !strings.Contains(page, "sum: 3.0\n") {
		t.Error(page)
	}
}
