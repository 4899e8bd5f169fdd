package journal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/engine/enginetest"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
)

// Variables for the child processes of tests.
const (
	childVariable = "CAPSTAN_JOURNAL_CHILD" // the child's task
	fileVariable  = "CAPSTAN_JOURNAL_FILE"
	notesVariable = "CAPSTAN_JOURNAL_NOTES" // a file for the child's effects
	killVariable  = "CAPSTAN_JOURNAL_KILL"  // the effect in which it ends, from 1; 0 for none
	stopVariable  = "CAPSTAN_JOURNAL_STOP"  // it sleeps there instead until it is woken
	takeVariable  = "CAPSTAN_JOURNAL_TAKE"  // it takes over runs whose owner it cannot check
)

func TestMain(m *testing.M) {
	switch os.Getenv(childVariable) {
	case "story":
		childStory()
	case "write":
		childWrite()
	case "begin":
		childBegin()
	default:
		os.Exit(suite(m))
	}
}

const rich = `
cascade_id: rich
inputs_schema: {topic: what}
validators:
  tone: {judge: "Is it warm?"}
  right: {expr: "content contains 'owl'", reason: "no owl"}
phases:
  - name: research
    instructions: "Research {{ input.topic }}"
    tackle: [add, set_state]
  - name: draft
    instructions: "Draft with {{ state.sum }}"
    context: {from: [research]}
    rules: {max_turns: 2, loop_until: right, max_attempts: 3}
    wards:
      pre: [{validator: slow_no, with: {text: nonsense}}]
      turn: [{validator: slow_no, with: {text: never}, mode: advisory}]
      post: [{validator: tone, mode: retry, max_attempts: 2}, {validator: slow_no, with: {text: never}, mode: advisory}]
  - name: title
    instructions: "Title for {{ outputs.draft }}"
    soundings: {factor: 3, max_parallel: 1, evaluator_instructions: "Which?"}
  - {name: sum, tool: add, inputs: {a: 1, b: 2}}
  - {name: last, instructions: "Last {{ outputs.sum.sum }} {{ outputs.title }}"}
`

// mind answers depending only on the request, so that all processes get the
// same.
func mind(_ context.Context, r model.Request) (model.Response, error) {
	answer := func(text string) (model.Response, error) {
		return model.Response{Text: text, Usage: model.Usage{Calls: 1, InputTokens: len(r.Messages), OutputTokens: len(text)}}, nil
	}
	last := r.Messages[len(r.Messages)-1].Content
	switch {
	case r.Role == "evaluator":
		return answer(`{"winner": 2, "reason": "better"}`)
	case r.Validator == "tone":
		return answer(fmt.Sprintf(`{"valid": %v, "reason": "as it is"}`, !strings.Contains(last, "cold owl")))
	case r.Phase == "research" && len(r.Messages) == 1:
		resp, err := answer("")
		resp.ToolCalls = []model.ToolCall{
			{ID: "1", Name: "add", Arguments: `{"a": 2, "b": 3}`}, {ID: "2", Name: "set_state", Arguments: `{"key": "sum", "value": 5}`},
			{ID: "3", Name: "none", Arguments: "{"},
		}
		return resp, err
	case r.Phase == "draft" && r.Attempt == 1 && r.Turn == 0:
		return answer("a bird " + strings.Repeat("and a bird ", 100))
	case r.Phase == "draft" && r.Attempt == 1:
		return answer("a cold owl")
	case r.Phase == "draft":
		return answer("a warm owl " + strings.Repeat("and another ", 100))
	}
	return answer(fmt.Sprintf("%s %s", r.Key[strings.Index(r.Key, ":")+1:], last[:min(20, len(last))]))
}

// mortal is a host that records the effects that it starts, and ends the
// process in one of them.
type mortal struct {
	engine.Host
	notes *os.File
	left  *int
	j     *Journal
}

func (m mortal) begin(at event.Path, key string) {
	fmt.Fprintf(m.notes, "%s %s\n", at, key)
	if *m.left--; *m.left != 0 {
		return
	}
	if os.Getenv(stopVariable) != "" {
		m.j.db.Writer.Turn <- struct{}{} // without a lock on the file, so that it can be read
		stop()
		<-m.j.db.Writer.Turn
		return
	}
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Kill()
	}
	select {}
}

func (m mortal) Model(at event.Path, req model.Request) (model.Response, error) {
	m.begin(at, req.Key)
	return m.Host.Model(at, req)
}

func (m mortal) Tool(at event.Path, job engine.Job) (tool.Result, error) {
	m.begin(at, job.Call.Key)
	return m.Host.Tool(at, job)
}

func (m mortal) Validate(at event.Path, v engine.Validation) (engine.Finding, error) {
	if !v.Pure {
		m.begin(at, v.Subject.Key)
	}
	return m.Host.Validate(at, v)
}

func (m mortal) Each(n, _ int, body func(engine.Host, int) error) error {
	return m.Host.Each(n, 1, func(h engine.Host, i int) error { return body(mortal{h, m.notes, m.left, m.j}, i) })
}

// childStory starts or resumes the story in the file and prints the result.
func childStory() {
	check := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
	}
	file := os.Getenv(fileVariable)
	left, err := strconv.Atoi(os.Getenv(killVariable))
	check(err)
	notes, err := os.OpenFile(os.Getenv(notesVariable), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	check(err)
	j, err := Open(file, Options{TakeOver: os.Getenv(takeVariable) != "", Lease: time.Second})
	check(err)
	r, err := runner.New(runner.WithModel(model.Func(mind)), runner.WithTools(enginetest.Tools()...), runner.WithValidators(enginetest.Validators()...))
	check(err)
	c, err := r.Parse("rich.yaml", []byte(rich))
	check(err)
	input := map[string]any{"topic": "owls"}
	recording, err := j.Reopen("run")
	if errors.Is(err, runner.ErrNoRun) {
		recording, err = j.Begin(runner.Start{RunID: "run", CascadeID: c.ID, Files: c.Files, Input: input})
	}
	check(err)
	start := recording.Start()
	result, err := engine.Run(recording.Host(mortal{r.Host(context.Background()), notes, &left, j}), c, engine.State{RunID: "run", Input: start.Input, Elapsed: start.Elapsed})
	check(err)
	check(recording.End(result, nil))
	check(j.Close())
	check(json.NewEncoder(os.Stdout).Encode(result))
	os.Exit(0)
}

func child(t *testing.T, does, file string, kill int) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), childVariable+"="+does, fileVariable+"="+at(t, file), notesVariable+"="+file+".notes", killVariable+"="+strconv.Itoa(kill))
	c.Stderr = os.Stderr
	return c
}

func lines(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// Another process resumes a run whose process was killed in any effect, with
// the same result. It repeats only the interrupted effect, with the same key.
func TestKilled(t *testing.T) {
	oneByOne(t)
	dir := t.TempDir()
	wholeFile := filepath.Join(dir, "whole.db")
	want, err := child(t, "story", wholeFile, 0).Output()
	if err != nil {
		t.Fatal(err)
	}
	all := lines(t, wholeFile+".notes")
	if len(all) < 16 {
		t.Fatalf("the story has only %d effects", len(all))
	}
	effects := asJSON(t, effectsOf(t, journalAt(t, wholeFile, Options{ReadOnly: true}), "run"))
	step := 1
	if onServer != nil {
		step = 5 // a process that connects costs ten times as much
	}
	for k := 1; k <= len(all); k += step {
		file := filepath.Join(dir, fmt.Sprintf("killed%d.db", k))
		if err := os.WriteFile(file, empty(), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := child(t, "story", file, k).Output(); err == nil {
			t.Fatalf("effect %d: it was not killed: %s", k, out)
		}
		got, err := child(t, "story", file, 0).Output()
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("effect %d: %v: got %s\nwant %s", k, err, got, want)
		}
		twice := slices.Insert(slices.Clone(all), k, all[k-1]) // the interrupted effect
		if notes := lines(t, file+".notes"); !slices.Equal(notes, twice) {
			t.Fatalf("effect %d: the effects were\n%s", k, strings.Join(notes, "\n"))
		}
		j := journalAt(t, file, Options{ReadOnly: true})
		enginetest.Same(t, fmt.Sprintf("effect %d: effects", k), asJSON(t, effectsOf(t, j, "run")), effects)
		j.Close()
	}
}

// childWrite writes its own runs.
func childWrite() {
	j, err := Open(os.Getenv(fileVariable), Options{})
	if err == nil {
		err = writeRuns(j, "child")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	os.Exit(0)
}

func writeRuns(j *Journal, who string) error {
	for i := range 20 {
		id := fmt.Sprintf("%s%d", who, i)
		r, err := j.Begin(runner.Start{RunID: id, CascadeID: "c"})
		if err != nil {
			return err
		}
		h := r.Host(quick{strings.Repeat("the same long text ", 100)})
		for turn := range 20 {
			at := event.Path("p").At("model", turn)
			req := model.Request{Messages: []model.Message{{Role: model.User, Content: fmt.Sprint(turn)}}}
			h.Emit(event.Event{Kind: event.ModelCalled, Path: at, Request: &req})
			resp, err := h.Model(at, req)
			if err != nil {
				return err
			}
			h.Emit(event.Event{Kind: event.ModelReplied, Path: at, Response: &resp})
		}
		if err := r.End(engine.Result{RunID: id, Status: engine.Succeeded}, nil); err != nil {
			return err
		}
	}
	return nil
}

// Two processes write one file at the same time.
func TestTwoProcesses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "j.db")
	c := child(t, "write", file, 0)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	j := journalAt(t, file, Options{})
	if err := writeRuns(j, "parent"); err != nil {
		t.Error(err)
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
	list, err := j.Runs(t.Context(), Filter{})
	if err != nil || len(list) != 40 {
		t.Fatalf("%d runs, %v", len(list), err)
	}
	for _, s := range list {
		if s.Events != 40 || len(eventsOf(t, j, s.RunID, Whole)) != 40 {
			t.Errorf("%+v", s)
		}
	}
	if got, err := j.Query(t.Context(), "SELECT count(*) FROM text", 0); err != nil || got.Rows[0][0] != int64(1) {
		t.Errorf("texts: %v, %v", got, err)
	}
}
