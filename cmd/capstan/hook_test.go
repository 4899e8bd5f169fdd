package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner/hooks"
	"github.com/seed61713e19/capstan/runner/journal"
)

const hookRules = `cascade_id: gates
hooks:
- {on: write, wards: [{expr: "content contains 'owls'", reason: the text does not mention owls}]}
- {on: stop, wards: [{expr: "content contains 'owls'", reason: the message does not mention owls}], on_exhausted: stop}
- {on: stop, files: ["*.md"], wards: [{expr: "content contains 'owls'", reason: the file does not mention owls}], on_exhausted: stop, on_error: pass}
`

// hookFolder returns a folder with the rules and an empty repository, and the store.
func hookFolder(t testing.TB) (dir, store string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "gates.yaml"), []byte(hookRules), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("git", "init", "-q", filepath.Join(dir, "repo")).CombinedOutput(); err != nil {
		t.Skipf("git: %v: %s", err, out)
	}
	return dir, filepath.Join(dir, "runs.db")
}

// hookProcess returns a process of capstan hook with a payload.
func hookProcess(program, dir, store string, payload map[string]any) *exec.Cmd {
	text, _ := json.Marshal(payload)
	cmd := exec.Command(program, "hook", "--rules", filepath.Join(dir, "gates.yaml"), "--store", store)
	cmd.Stdin, cmd.Env = bytes.NewReader(text), append(os.Environ(), "CAPSTAN_MODEL=")
	return cmd
}

func stopPayload(dir, message string) map[string]any {
	return map[string]any{"session_id": "s", "cwd": filepath.Join(dir, "repo"), "hook_event_name": "Stop", "last_assistant_message": message}
}

// TestHookKilled kills hooks at random times and checks that the store stays readable, that
// no refusal is lost, and that no killed hook counts as a pass.
func TestHookKilled(t *testing.T) {
	if testing.Short() {
		t.Skip(elsewhere)
	}
	program, err := exec.LookPath("capstan")
	if err != nil {
		t.Fatal(err)
	}
	dir, store := hookFolder(t)
	answered := 0
	begin := time.Now()
	if err := hookProcess(program, dir, store, stopPayload(dir, "cats")).Run(); err != nil {
		t.Fatal(err)
	}
	whole := time.Since(begin)
	for range 20 {
		cmd := hookProcess(program, dir, store, stopPayload(dir, "cats"))
		var out bytes.Buffer
		cmd.Stdout = &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rand.Int64N(int64(whole))))
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if bytes.Contains(out.Bytes(), []byte("block")) {
			answered++
		}
	}
	out, err := hookProcess(program, dir, store, stopPayload(dir, "cats")).Output()
	if err != nil || !bytes.Contains(out, []byte("Refused by the gate")) {
		t.Errorf("after the kills: %s, %v", out, err)
	}
	j, err := journal.Open(store, journal.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	records, err := hooks.Log(t.Context(), j, "s")
	refusals := 0
	for _, r := range records {
		switch r.Verdict {
		case hooks.Refused, hooks.Exhausted:
			refusals++
		case hooks.Passed:
			t.Errorf("a killed hook passed: %+v", r)
		}
	}
	if refusals < answered+2 || err != nil {
		t.Errorf("%d refusals for %d answers, %v", refusals, answered+2, err)
	}
}

// TestHookVerdictStatus checks the exit statuses that CI asks for.
func TestHookVerdictStatus(t *testing.T) {
	if testing.Short() {
		t.Skip(elsewhere)
	}
	program, err := exec.LookPath("capstan")
	if err != nil {
		t.Fatal(err)
	}
	dir, store := hookFolder(t)
	verdict := func() int {
		cmd := exec.Command(program, "hook", "verdict", "s", "--store", store)
		_ = cmd.Run()
		return cmd.ProcessState.ExitCode()
	}
	if got := verdict(); got != exitBroken {
		t.Errorf("without a store: %d", got)
	}
	for _, step := range []struct {
		message string
		status  int
	}{{"cats", exitNo}, {"owls", exitOK}} {
		if out, err := hookProcess(program, dir, store, stopPayload(dir, step.message)).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if got := verdict(); got != step.status {
			t.Errorf("%s: %d", step.message, got)
		}
	}
}

// BenchmarkHook compares a hook that judges a write with a hook that does nothing.
func BenchmarkHook(b *testing.B) {
	program, err := exec.LookPath("capstan")
	if err != nil {
		b.Fatal(err)
	}
	dir, store := hookFolder(b)
	payload := map[string]any{"session_id": "s", "cwd": filepath.Join(dir, "repo"), "hook_event_name": "PreToolUse", "tool_name": "Write",
		"tool_input": map[string]any{"file_path": filepath.Join(dir, "repo", "a.md"), "content": strings.Repeat("owls\n", 200)}}
	for name, make := range map[string]func() *exec.Cmd{
		"nothing": func() *exec.Cmd { return exec.Command("true") },
		"version": func() *exec.Cmd { return exec.Command(program, "version") },
		"hook":    func() *exec.Cmd { return hookProcess(program, dir, store, payload) },
	} {
		b.Run(name, func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				begin := time.Now()
				if err := make().Run(); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(begin))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
		})
	}
}

// An act is one reply of the scripted model: a call of a tool, or a text.
type act struct {
	write   string // the content of note.md
	command string
	text    string
}

// agentStory is a scripted model and what a session with it must come to.
type agentStory struct {
	act     func(turn int, refused bool) act
	verdict string
	timeout time.Duration
}

var agentStories = map[string]agentStory{
	"obedient": {func(turn int, refused bool) act {
		switch {
		case turn == 0:
			return act{write: "cats\n"}
		case turn == 1 && !refused:
			return act{text: "Done."}
		case turn < 3:
			return act{write: "owls\n"}
		}
		return act{text: "The note is about owls."}
	}, hooks.Passed, 0},
	"stubborn": {func(turn int, _ bool) act {
		if turn == 0 {
			return act{write: "cats\n"}
		}
		return act{text: "Done."}
	}, hooks.Refused, 0},
	"liar": {func(turn int, _ bool) act {
		if turn == 0 {
			return act{command: "echo cats > note.md"}
		}
		return act{text: "The note is about owls, and all checks pass."}
	}, hooks.Refused, 0},
	"looping": {func(int, bool) act { return act{command: "ls"} }, hooks.NotJudged, 12 * time.Second},
	"tampering": {func(turn int, _ bool) act {
		if turn == 0 {
			return act{command: `mkdir -p .claude .codex; echo '{"disableAllHooks": true}' | tee .claude/settings.json .claude/settings.local.json; echo '{"hooks":{}}' > .codex/hooks.json; echo cats > note.md`}
		}
		return act{text: "Done."}
	}, hooks.Refused, 0},
}

// TestHookWithAgents runs real coding agents with a scripted model. No session leaves a
// text that a rule refuses unless the record of the session says so.
func TestHookWithAgents(t *testing.T) {
	if testing.Short() {
		t.Skip(elsewhere)
	}
	program, err := exec.LookPath("capstan")
	if err != nil {
		t.Fatal(err)
	}
	rounds := 1
	if os.Getenv("CAPSTAN_AGENTS") == "all" {
		rounds = 50
	}
	var missing []string
	for agent, run := range map[string]func(t *testing.T, s *agentSession) (string, error){"claude": runClaude, "codex": runCodex} {
		cli, err := exec.LookPath(agent)
		if err != nil {
			missing = append(missing, agent)
			continue
		}
		for name, story := range agentStories {
			for range rounds {
				t.Run(agent+" "+name, func(t *testing.T) {
					s := newAgentSession(t, program, cli, agent, story)
					last, ended := run(t, s)
					s.check(t, last, ended)
				})
			}
		}
	}
	if len(missing) == 2 {
		t.Skip("claude and codex are not installed: npm install --global @anthropic-ai/claude-code@2.1.332 @openai/codex@0.171.0")
	}
}

// An agentSession is one session of an agent in a folder of its own.
type agentSession struct {
	program, cli, agent string
	dir, store, home    string
	story               agentStory
	model               *scriptedModel
}

func newAgentSession(t *testing.T, program, cli, agent string, story agentStory) *agentSession {
	s := &agentSession{program: program, cli: cli, agent: agent, story: story}
	s.dir, s.store = hookFolder(t)
	s.home = filepath.Join(s.dir, "home")
	for _, dir := range []string{s.home, filepath.Join(s.dir, "codex")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s.model = newScriptedModel(t, filepath.Join(s.dir, "repo", "note.md"), story.act)
	cmd := exec.Command(program, "hook", "install", agent, filepath.Join(s.dir, "gates.yaml"), "--store", s.store)
	cmd.Env = s.env()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return s
}

// env is an environment without keys. The proxy does not exist, so that an agent with a
// wrong address does not call its maker.
func (s *agentSession) env(more ...string) []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.home, "CODEX_HOME=" + filepath.Join(s.dir, "codex"), "HTTPS_PROXY=http://127.0.0.1:9",
		"NO_PROXY=127.0.0.1", "DISABLE_TELEMETRY=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "IS_SANDBOX=1"}, more...)
}

// run runs the agent and returns its standard output.
func (s *agentSession) run(t *testing.T, env []string, args ...string) ([]byte, error) {
	limit := s.story.timeout
	if limit == 0 {
		limit = 2 * time.Minute
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.cli, args...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.WaitDelay = filepath.Join(s.dir, "repo"), env, strings.NewReader("Write note.md about owls."), time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = ctx.Err()
	} else if err != nil {
		err = fmt.Errorf("%w: %s", err, errs.String())
	}
	return out.Bytes(), err
}

func runClaude(t *testing.T, s *agentSession) (string, error) {
	out, err := s.run(t, s.env("ANTHROPIC_BASE_URL="+s.model.URL, "ANTHROPIC_API_KEY=k"),
		"-p", "--model", "fake", "--output-format", "json", "--setting-sources", "user", "--permission-mode", "acceptEdits", "--allowedTools", "Bash")
	var result struct{ Result string }
	if err == nil {
		err = json.Unmarshal(out, &result)
	}
	return result.Result, err
}

func runCodex(t *testing.T, s *agentSession) (string, error) {
	config := fmt.Sprintf("model = \"fake\"\nmodel_provider = \"fake\"\napproval_policy = \"never\"\n[model_providers.fake]\nname = \"fake\"\nbase_url = \"%s/v1\"\n"+
		"wire_api = \"responses\"\nenv_key = \"FAKE_KEY\"\n[analytics]\nenabled = false\n", s.model.URL)
	if err := os.WriteFile(filepath.Join(s.dir, "codex", "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	last := filepath.Join(s.dir, "last")
	_, err := s.run(t, s.env("FAKE_KEY=k"), "exec", "--json", "-c", `sandbox_mode="workspace-write"`, "--dangerously-bypass-hook-trust", "-o", last, "-")
	text, _ := os.ReadFile(last)
	return string(text), err
}

// check compares the record with the expected verdict, and with the texts of the session.
func (s *agentSession) check(t *testing.T, last string, ended error) {
	t.Helper()
	if looped := errors.Is(ended, context.DeadlineExceeded); looped != (s.story.timeout > 0) || ended != nil && !looped {
		t.Fatalf("the agent: %v", ended)
	}
	j, err := journal.Open(s.store, journal.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	table, err := j.Query(t.Context(), "SELECT run_id FROM runs WHERE run_id LIKE 'hook.%' LIMIT 1", 1)
	if err != nil || len(table.Rows) == 0 {
		t.Fatalf("no decision, %v", err)
	}
	run, err := j.Run(t.Context(), fmt.Sprint(table.Rows[0][0]))
	if err != nil {
		t.Fatal(err)
	}
	records, err := hooks.Log(t.Context(), j, run.Start.Settings["hook_session"])
	if err != nil {
		t.Fatal(err)
	}
	verdict := hooks.Verdict(records, "")
	if verdict != s.story.verdict {
		for _, r := range records {
			t.Logf("%s %s %s %s %s", r.Event, r.Verdict, r.Rule, r.File, r.Reason)
		}
		t.Errorf("the session is %s, last message %q", verdict, last)
	}
	note, err := os.ReadFile(filepath.Join(s.dir, "repo", "note.md"))
	bad := err == nil && !strings.Contains(string(note), "owls") || !strings.Contains(last, "owls")
	if verdict == hooks.Passed && bad {
		t.Errorf("it passed with the note %q and the message %q", note, last)
	}
}
