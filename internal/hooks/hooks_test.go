package hooks_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed61713e19/capstan/internal/hooks"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/journal"
)

const rules = `cascade_id: gates
validators:
  owls: {expr: "content contains 'owls'", reason: the text does not mention owls}
hooks:
- {on: write, files: ["**.md", "*.md"], wards: [{validator: owls}], max_attempts: 2, on_exhausted: HOW}
- {on: command, match: "rm ", wards: [{expr: "false", reason: do not remove files}]}
- {on: stop, wards: [{validator: owls}], max_attempts: 3, on_exhausted: HOW}
- {on: subagent, wards: [{validator: owls}]}
- {on: prompt, match: secret, wards: [{expr: "false", reason: no secrets}]}
`

// newGate returns a gate with the rules and a journal of its own.
func newGate(t testing.TB, source, how string) *hooks.Gate {
	t.Helper()
	j, err := journal.Open(filepath.Join(t.TempDir(), "runs.db"), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return gateOf(t, j, strings.ReplaceAll(source, "HOW", how))
}

func gateOf(t testing.TB, j *journal.Journal, source string) *hooks.Gate {
	t.Helper()
	r, err := runner.New(runner.WithJournal(j))
	if err != nil {
		t.Fatal(err)
	}
	c, err := r.Parse("gates.yaml", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	return &hooks.Gate{Runner: r, Journal: j, Cascade: c}
}

// decide applies the gate to a payload.
func decide(t testing.TB, g *hooks.Gate, agent, event string, payload any) (hooks.Decision, hooks.Answer) {
	t.Helper()
	text, ok := payload.([]byte)
	if !ok {
		var err error
		if text, err = json.Marshal(payload); err != nil {
			t.Fatal(err)
		}
	}
	e, err := hooks.Decode(agent, event, text)
	var d hooks.Decision
	if err != nil {
		d = g.Refuse(t.Context(), e, err)
	} else {
		d = g.Decide(t.Context(), e)
	}
	return d, e.Answer(d)
}

type object = map[string]any

func write(dir, file, content string) object {
	return object{"session_id": "s", "cwd": dir, "hook_event_name": "PreToolUse", "tool_name": "Write", "tool_input": object{"file_path": filepath.Join(dir, file), "content": content}}
}

func stop(dir, message string) object {
	return object{"session_id": "s", "cwd": dir, "hook_event_name": "Stop", "last_assistant_message": message}
}

// TestDecisions checks the decision on each kind of event.
func TestDecisions(t *testing.T) {
	dir := t.TempDir()
	pre := func(tool string, input object) object {
		return object{"session_id": "s", "cwd": dir, "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input}
	}
	if err := os.WriteFile(filepath.Join(dir, "old.md"), []byte("owls\ncats\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	book := `{"cells": [{"id": "c1", "cell_type": "code", "source": "cats"}]}`
	if err := os.WriteFile(filepath.Join(dir, "nb.md"), []byte(book), 0o600); err != nil {
		t.Fatal(err)
	}
	patch := func(lines ...string) object {
		return pre("apply_patch", object{"command": "*** Begin Patch\n" + strings.Join(lines, "\n") + "\n*** End Patch\n"})
	}
	for name, c := range map[string]struct {
		payload object
		verdict string
		refuse  bool
		reason  string
	}{
		"write":               {write(dir, "a.md", "owls"), hooks.Passed, false, ""},
		"bad write":           {write(dir, "b.md", "cats"), hooks.Refused, true, "does not mention owls"},
		"another file":        {write(dir, "a.go", "cats"), hooks.NotJudged, false, ""},
		"edit":                {pre("Edit", object{"file_path": dir + "/old.md", "old_string": "cats", "new_string": "dogs"}), hooks.Passed, false, ""},
		"bad edit":            {pre("Edit", object{"file_path": dir + "/old.md", "old_string": "owls", "new_string": "dogs"}), hooks.Refused, true, "does not mention owls"},
		"edit without text":   {pre("Edit", object{"file_path": dir + "/old.md", "old_string": "birds", "new_string": "owls"}), hooks.Refused, true, "does not contain the text"},
		"edits":               {pre("MultiEdit", object{"file_path": dir + "/old.md", "edits": []any{object{"old_string": "cats", "new_string": "x"}, object{"old_string": "owls", "new_string": "y"}}}), hooks.Refused, true, "mention owls"},
		"notebook":            {pre("NotebookEdit", object{"notebook_path": dir + "/nb.md", "cell_id": "c1", "new_source": "owls"}), hooks.Passed, false, ""},
		"bad notebook":        {pre("NotebookEdit", object{"notebook_path": dir + "/nb.md", "cell_id": "c1", "new_source": "dogs"}), hooks.Refused, true, "mention owls"},
		"patch":               {patch("*** Add File: c.md", "+owls", "*** Update File: old.md", "@@", "-cats", "+dogs"), hooks.Passed, false, ""},
		"bad patch":           {patch("*** Add File: c.md", "+owls", "*** Update File: old.md", "@@", "-owls", "+dogs"), hooks.Refused, true, "old.md"},
		"patch without place": {patch("*** Update File: old.md", "@@", "-birds", "+owls"), hooks.Refused, true, "part 1 of the patch"},
		"moved by a patch":    {patch("*** Update File: old.md", "*** Move to: new.go", "@@", "-owls", "+dogs"), hooks.NotJudged, false, ""},
		"command":             {pre("Bash", object{"command": "ls"}), hooks.NotJudged, false, ""},
		"bad command":         {pre("Bash", object{"command": "rm -rf x"}), hooks.Refused, true, "do not remove"},
		"reading":             {pre("Read", object{"file_path": dir + "/old.md"}), hooks.NotJudged, false, ""},
		"prompt":              {object{"session_id": "s", "cwd": dir, "hook_event_name": "UserPromptSubmit", "prompt": "the secret"}, hooks.Refused, true, "no secrets"},
		"subagent":            {object{"session_id": "s", "cwd": dir, "hook_event_name": "SubagentStop", "agent_id": "x", "last_assistant_message": "cats"}, hooks.Refused, true, "owls"},
		"after":               {object{"session_id": "s", "cwd": dir, "hook_event_name": "PostToolUse"}, hooks.NotJudged, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d, a := decide(t, newGate(t, rules, "hold"), "", "", c.payload)
			if d.Verdict != c.verdict || d.Refuse != c.refuse || !strings.Contains(d.Reason, c.reason) || len(d.Runs) == 0 {
				t.Errorf("decision %+v", d)
			}
			if answered := len(a.Stdout) > 0; answered != c.refuse || a.Status != 0 {
				t.Errorf("answer %+v: %s", a, a.Stdout)
			}
		})
	}
}

// TestAttempts checks the count of attempts, and each value of on_exhausted.
func TestAttempts(t *testing.T) {
	for how, want := range map[string]string{"hold": "refused", "pass_marked": "passed", "stop": "ended"} {
		g, dir := newGate(t, rules, how), t.TempDir()
		for i, message := range []string{"cats", "cats", "owls", "cats", "cats", "cats"} {
			d, a := decide(t, g, "claude", "", stop(dir, message))
			switch {
			case message == "owls":
				if d.Refuse || d.Verdict != hooks.Passed {
					t.Errorf("%s %d: %+v", how, i, d)
				}
			case i < 5:
				if !d.Refuse || d.Verdict != hooks.Refused || !strings.Contains(string(a.Stdout), `"block"`) {
					t.Errorf("%s %d: %+v %s", how, i, d, a.Stdout)
				}
			default:
				got := "refused"
				if !d.Refuse {
					got = "passed"
				} else if strings.Contains(string(a.Stdout), `"continue":false`) {
					got = "ended"
				}
				if got != want || d.Verdict != hooks.Exhausted {
					t.Errorf("%s at last: %s %+v", how, got, d)
				}
			}
		}
		records, err := hooks.Log(t.Context(), g.Journal, "s")
		if err != nil || len(records) != 7 || hooks.Verdict(records, "") != hooks.Exhausted || hooks.Verdict(records[:4], "") != hooks.Passed || hooks.Verdict(nil, "") != hooks.NotJudged {
			t.Errorf("%s: %d records, %v, %s", how, len(records), err, hooks.Verdict(records, ""))
		}
	}
}

// TestHookInputs checks what a check can read of an event, the mode advisory, and several
// rules for one event.
func TestHookInputs(t *testing.T) {
	const source = `cascade_id: x
hooks:
- on: write
  wards:
  - expr: input.agent == "claude" && input.session == "s" && input.subagent == "sub" && input.event == "PreToolUse" && input.tool == "Write" && input.file == "a.md"
  - {expr: content contains "owls", mode: advisory}
- {on: write, files: [a.md], wards: [{expr: not (content contains "dogs"), reason: no dogs}]}
`
	g, dir := newGate(t, source, ""), t.TempDir()
	for content, refused := range map[string]bool{"cats": false, "dogs": true} {
		payload := write(dir, "a.md", content)
		payload["agent_id"] = "sub"
		if d, _ := decide(t, g, "", "", payload); d.Refuse != refused || len(d.Runs) != 2 || refused && !strings.Contains(d.Reason, "write-2") {
			t.Errorf("%s: %+v", content, d)
		}
	}
}

// TestBrokenCheck checks the decision if a check has no verdict: on_error, and the end of
// a session, which a broken check does not hold for ever.
func TestBrokenCheck(t *testing.T) {
	const source = `cascade_id: x
validators: {broken: {exec: [/no/such/program]}}
hooks:
- {on: write, wards: [{validator: broken}], on_error: HOW}
- {on: stop, wards: [{validator: broken}], on_error: HOW}
`
	for how, want := range map[string][]bool{"refuse": {true, true, true, true, false, false}, "pass": {false, false, false, false, false, false}} {
		g, dir := newGate(t, source, how), t.TempDir()
		for i, payload := range []object{write(dir, "a", ""), write(dir, "a", ""), stop(dir, ""), stop(dir, ""), stop(dir, ""), stop(dir, "")} {
			if d, _ := decide(t, g, "", "", payload); d.Verdict != hooks.Broken || d.Refuse != want[i] {
				t.Errorf("%s %d: %+v", how, i, d)
			}
		}
		records, _ := hooks.Log(t.Context(), g.Journal, "s")
		if hooks.Verdict(records, "") != hooks.Broken {
			t.Errorf("%s: the session is %s", how, hooks.Verdict(records, ""))
		}
	}
}

// TestChangedFiles checks the files that a session changed, also those that it committed.
func TestChangedFiles(t *testing.T) {
	dir := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("git: %v: %s", err, out)
		}
	}
	put := func(file, content string) {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const source = `{cascade_id: x, validators: {owls: {expr: "content contains 'owls'"}}, hooks: [{on: stop, files: ["*.txt"], wards: [{validator: owls}], on_error: pass}]}`
	g := newGate(t, source, "")
	if d, _ := decide(t, g, "", "", stop(dir, "done")); d.Verdict != hooks.Broken || d.Refuse {
		t.Errorf("outside of a repository: %+v", d)
	}
	git("init", "-q")
	put("old.txt", "cats")
	git("add", ".")
	git("commit", "-qm", "a")
	g = newGate(t, source, "")
	decide(t, g, "", "", object{"session_id": "s", "cwd": dir, "hook_event_name": "SessionStart"})
	odd := "a ü.md"
	if runtime.GOOS != "windows" {
		odd = "a \"b\"\n\\c.md"
	}
	for i, step := range []struct {
		do     func()
		reason string
	}{
		{func() {}, ""},
		{func() { put("new.txt", "cats") }, "new.txt"},
		{func() { git("add", "."); git("commit", "-qm", "b") }, "new.txt"},
		{func() { put("new.txt", "owls"); put("other.md", "cats"); put(odd, "cats") }, ""},
		{func() { git("mv", "old.txt", "moved.txt") }, "moved.txt"},
		{func() { put("moved.txt", "owls") }, ""},
	} {
		step.do()
		if d, _ := decide(t, g, "", "", stop(dir, "done")); d.Refuse != (step.reason != "") || !strings.Contains(d.Reason, step.reason) {
			t.Errorf("step %d: %+v", i, d)
		}
	}
	records, err := hooks.Log(t.Context(), g.Journal, "s")
	if err != nil {
		t.Fatal(err)
	}
	git("add", ".")
	want, err := exec.Command("git", "-C", dir, "write-tree").Output()
	if got := hooks.Tree(records); err != nil || got != strings.TrimSpace(string(want)) {
		t.Errorf("the tree is %q, not %q: %v", got, want, err)
	}
}

// TestRefusedAgain checks that an unchanged refused file counts as a further attempt. Only
// programs judge it again.
func TestRefusedAgain(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the program of the check is a shell script")
	}
	for _, c := range []struct {
		check  string
		judged []string // the cascade of each run of the file
	}{
		{`expr: "content contains 'owls'"`, []string{"x.stop-1", "hooks.record", "hooks.record", "x.stop-1"}},
		{`exec: [grep, -q, owls], verdict: exit_status`, []string{"x.stop-1", "x.stop-1", "x.stop-1", "x.stop-1"}},
	} {
		dir := t.TempDir()
		if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
			t.Skipf("git: %v: %s", err, out)
		}
		put := func(content string) {
			if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		g := newGate(t, `{cascade_id: x, validators: {v: {`+c.check+`}}, hooks: [{on: stop, files: ["*.txt"], wards: [{validator: v}], max_attempts: 3, on_exhausted: stop}]}`, "")
		put("cats")
		first, _ := decide(t, g, "", "", stop(dir, "done"))
		second, _ := decide(t, g, "", "", stop(dir, "done"))
		if want := strings.Replace(first.Reason, "refusal 1", "refusal 2", 1); !first.Refuse || !second.Refuse || second.Reason != want {
			t.Errorf("%s: %+v, then %+v", c.check, first, second)
		}
		if third, _ := decide(t, g, "", "", stop(dir, "done")); third.Verdict != hooks.Exhausted || !third.Ends {
			t.Errorf("%s: the third refusal: %+v", c.check, third)
		}
		put("owls")
		if fourth, _ := decide(t, g, "", "", stop(dir, "done")); fourth.Verdict != hooks.Passed {
			t.Errorf("%s: after the change: %+v", c.check, fourth)
		}
		records, err := hooks.Log(t.Context(), g.Journal, "s")
		if err != nil {
			t.Fatal(err)
		}
		var judged []string
		for i, r := range slices.DeleteFunc(records, func(r hooks.Record) bool { return r.File == "" }) {
			run, err := g.Journal.Run(t.Context(), r.Run)
			if err != nil {
				t.Fatal(err)
			}
			if judged = append(judged, run.CascadeID); r.Attempt != i+1 || i < 3 && r.Reason != records[1].Reason {
				t.Errorf("%s: record %d: %+v", c.check, i, r)
			}
		}
		if !slices.Equal(judged, c.judged) {
			t.Errorf("%s: %q judged the file, not %q", c.check, judged, c.judged)
		}
	}
}

// TestParallelHooks checks that hooks of one session that run at the same time lose no
// attempt.
func TestParallelHooks(t *testing.T) {
	file, dir := filepath.Join(t.TempDir(), "runs.db"), t.TempDir()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			j, err := journal.Open(file, journal.Options{})
			if err != nil {
				t.Error(err)
				return
			}
			defer j.Close()
			if d, _ := decide(t, gateOf(t, j, strings.ReplaceAll(rules, "HOW", "hold")), "", "", stop(dir, "cats")); !d.Refuse {
				t.Errorf("%+v", d)
			}
		})
	}
	all.Wait()
	j, err := journal.Open(file, journal.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	records, err := hooks.Log(t.Context(), j, "s")
	var names []string
	for _, r := range records {
		if r.Rule != "" {
			names = append(names, r.Run[len(r.Run)-1:])
		}
	}
	slices.Sort(names)
	if strings.Join(names, "") != "12345678" || err != nil {
		t.Errorf("%d runs %q, %v", len(records), names, err)
	}
}

// TestLinks checks that a name of a file is compared after links, and that a file outside
// the repository has its absolute name.
func TestLinks(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	makeRepository(t, dir)
	if err := os.Symlink(outside, filepath.Join(dir, "out")); err != nil {
		t.Skip(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	real, err := filepath.EvalSymlinks(outside)
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{"out/a.md": filepath.ToSlash(real) + "/a.md", "sub/../b.md": "b.md", "sub/new/c.md": "sub/new/c.md"} {
		payload := write(filepath.Join(dir, "sub"), "x", "")
		payload["tool_input"].(object)["file_path"] = dir + "/" + file
		text, _ := json.Marshal(payload)
		e, err := hooks.Decode("", "", text)
		if err != nil || len(e.Texts) != 1 || e.Texts[0].File != want {
			t.Errorf("%s: %+v, %v", file, e.Texts, err)
		}
	}
}
