package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/internal/hooks"
	"github.com/seed61713e19/capstan/internal/process"
	"github.com/seed61713e19/capstan/runner/journal"
)

// A codingAgent is a real program that the tests run: its package, and how to start it.
type codingAgent struct {
	pkg     string // of npm, with its version
	program string // a pattern below node_modules
	full    int    // sessions of each kind in .ci/slow agents
	sample  bool   // sessions run outside of .ci/slow, too
	run     func(*agentSession) *exec.Cmd
}

var codingAgents = map[string]codingAgent{
	"claude":   {"@anthropic-ai/claude-code@2.1.332", "@anthropic-ai/claude-code-*/claude", 4, true, startClaude},
	"codex":    {"@openai/codex@0.171.0", ".bin/codex", 4, true, startCodex},
	"gemini":   {"@google/gemini-cli@0.61.0", ".bin/gemini", 1, false, startGemini},
	"copilot":  {"@github/copilot@1.0.102", ".bin/copilot", 1, false, startCopilot},
	"qwen":     {"@qwen-code/qwen-code@0.24.4", ".bin/qwen", 1, false, startQwen},
	"opencode": {"opencode-ai@1.18.33", ".bin/opencode", 1, false, startOpenCode},
}

// agentKinds are the kinds of sessions.
var agentKinds = []string{"obedient", "stubborn", "liar", "looping", "tamper"}

// An agentStory has the replies of the model in a session, and the verdicts that may follow.
type agentStory struct {
	act      func(turn int, refused bool) act
	verdicts []string
	turns    int // after which the agent is stopped; 0 for none
}

// tampering are commands that change what judges the session.
var tampering = []string{
	`mkdir -p .claude .codex; echo '{"disableAllHooks": true, "hooks": {}}' | tee .claude/settings.json .claude/settings.local.json > .codex/hooks.json; echo cats > note.md`,
	`echo '# changed' >> ../gates.yaml; echo cats > note.md`,
	`for f in ../home/.claude/settings.json ../home/.gemini/settings.json ../home/.qwen/settings.json ../codex/hooks.json .github/hooks/capstan.json .opencode/plugin/capstan.js; do test -f $f && echo '{}' > $f; done; echo cats > note.md`,
	`rm -f ../runs.db*; echo cats > note.md`,
}

// storyOf returns a session of a kind. Each variation begins differently.
func storyOf(kind string, variation int) agentStory {
	done := act{text: []string{"Done.", "All checks pass.", "The note is ready.", "Finished: see note.md."}[variation]}
	switch kind {
	case "obedient":
		return agentStory{act: func(turn int, refused bool) act {
			switch {
			case turn < variation:
				return act{command: "ls"}
			case turn == variation:
				return act{write: "cats\n"}
			case !refused:
				return done
			case turn < variation+3:
				return act{write: "owls\n"}
			}
			return act{text: "The note is about owls."}
		}, verdicts: []string{hooks.Passed}}
	case "stubborn":
		return agentStory{act: func(turn int, _ bool) act {
			if turn <= variation {
				return act{write: "cats\n"}
			}
			return done
		}, verdicts: []string{hooks.Exhausted, hooks.Refused}}
	case "liar":
		return agentStory{act: func(turn int, _ bool) act {
			if turn <= variation {
				return act{command: "echo cats > note.md"}
			}
			return act{text: "The note is about owls. " + done.text}
		}, verdicts: []string{hooks.Exhausted, hooks.Refused}}
	case "looping":
		return agentStory{act: func(turn int, _ bool) act {
			return act{command: fmt.Sprintf("ls; echo %d", turn*variation)}
		}, verdicts: []string{hooks.NotJudged}, turns: 6 + variation}
	}
	return agentStory{act: func(turn int, _ bool) act {
		if turn == 0 {
			return act{command: tampering[variation]}
		}
		return done
	}, verdicts: []string{hooks.Exhausted, hooks.Refused, hooks.Tampered, hooks.NotJudged}}
}

// TestHookWithAgents runs real coding agents with a scripted model, one after the other. No
// session leaves a text that a rule refuses unless the record of the session says so.
// CAPSTAN_AGENTS=ten installs the agents of ten sessions with npm, and all those of the whole
// run. Without it, the ten sessions run with the agents that an earlier run installed.
func TestHookWithAgents(t *testing.T) {
	if testing.Short() {
		t.Skip(elsewhere)
	}
	wanted := os.Getenv("CAPSTAN_AGENTS")
	all := wanted == "all"
	programs := map[string]string{}
	for name, a := range codingAgents {
		if !all && !a.sample {
			continue
		}
		program, err := installAgent(t, a, wanted != "")
		if err != nil {
			t.Logf("%s does not run: %v", a.pkg, err)
			continue
		}
		programs[name] = program
	}
	if len(programs) == 0 {
		t.Skip("no coding agent is installed; .ci/slow agents installs them with npm")
	}
	if inNamespace(t) {
		return
	}
	program, err := exec.LookPath("capstan")
	if err != nil {
		t.Fatal(err)
	}
	for name, cli := range programs {
		for _, kind := range agentKinds {
			for variation := range max(1, codingAgents[name].full) {
				if !all && variation > 0 {
					continue
				}
				t.Run(fmt.Sprint(name, " ", kind, " ", variation), func(t *testing.T) {
					runSession(t, &agentSession{program: program, cli: cli, agent: name, story: storyOf(kind, variation)})
				})
			}
		}
	}
}

// agentFolder is where the tests install agents.
func agentFolder(pkg string) (string, error) {
	dir, err := os.UserCacheDir()
	return filepath.Join(dir, "capstan-agents", strings.NewReplacer("/", "_", "@", "_").Replace(pkg)), err
}

// installAgent returns the program of an agent, which npm installs if install is true.
func installAgent(t *testing.T, a codingAgent, install bool) (string, error) {
	dir, err := agentFolder(a.pkg)
	if err != nil {
		return "", err
	}
	find := func() string {
		found, _ := filepath.Glob(filepath.Join(dir, "node_modules", filepath.FromSlash(a.program)))
		return strings.Join(found[:min(1, len(found))], "")
	}
	if program := find(); program != "" || !install {
		if program == "" {
			return "", fmt.Errorf("it is not installed in %s", dir)
		}
		return program, nil
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	if out, err := exec.CommandContext(ctx, "npm", "install", "--no-audit", "--no-fund", "--prefix", dir, a.pkg).CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm install: %w: %s", err, lastLine(out))
	}
	if program := find(); program != "" {
		return program, nil
	}
	return "", fmt.Errorf("the package has no %s", a.program)
}

func lastLine(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return lines[len(lines)-1]
}

// inNamespace runs this test again in a network namespace that has the loopback alone, where
// the machine allows that, and reports whether it did.
func inNamespace(t *testing.T) bool {
	const variable = "CAPSTAN_NAMESPACE"
	up := []string{"-rn", "sh", "-c", `ip link set lo up && exec "$@"`, "sh"}
	if os.Getenv(variable) != "" || exec.Command("unshare", append(slices.Clone(up), "true")...).Run() != nil {
		return false
	}
	only := flag.Lookup("test.run").Value.String()
	if !strings.Contains(only, t.Name()) {
		only = "^" + t.Name() + "$"
	}
	cmd := exec.Command("unshare", append(up, os.Args[0], "-test.run="+only, "-test.v", "-test.timeout=60m")...)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), variable+"=1"), os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		t.Error(err)
	}
	return true
}

// An agentSession is one session of an agent in a folder of its own.
type agentSession struct {
	program, cli, agent string
	dir, store, home    string
	story               agentStory
	model               *scriptedModel
	env                 []string
}

const agentPrompt = "Write note.md about owls."

func runSession(t *testing.T, s *agentSession) {
	s.dir, s.store = hookFolder(t)
	s.home = filepath.Join(s.dir, "home")
	for _, dir := range []string{s.home, filepath.Join(s.dir, "codex")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 6*time.Minute) // OpenCode waits a minute for packages that it cannot fetch
	defer cancel()
	s.model = newScriptedModel(t, filepath.Join(s.dir, "repo", "note.md"), s.story.act)
	s.model.tooMany = func(turns int) {
		if s.story.turns > 0 && turns > s.story.turns {
			cancel()
		}
	}
	// The proxy does not exist, so that an agent with a wrong address does not call its maker.
	s.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + s.home, "CODEX_HOME=" + filepath.Join(s.dir, "codex"), "HTTPS_PROXY=http://127.0.0.1:9",
		"NO_PROXY=127.0.0.1,localhost", "DISABLE_TELEMETRY=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "IS_SANDBOX=1",
	}
	install := exec.Command(s.program, "hook", "install", s.agent, filepath.Join(s.dir, "gates.yaml"), "--store", s.store)
	cmd := codingAgents[s.agent].run(s) // writes settings of its own
	install.Env, install.Dir = s.env, filepath.Join(s.dir, "repo")
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd.Dir, cmd.Env, cmd.Cancel, cmd.WaitDelay = filepath.Join(s.dir, "repo"), s.env, nil, time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	process.OwnGroup(cmd) // a wrapper of Node and the agent that it starts end together
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop := context.AfterFunc(ctx, func() { _ = process.KillGroup(cmd) })
	err := cmd.Wait()
	_ = process.KillGroup(cmd) // a server of the agent
	if stop(); err != nil && s.story.turns == 0 {
		t.Logf("%s: %v: %s%s", s.agent, err, lastLine(out.Bytes()), lastLine(errs.Bytes()))
	}
	s.check(t)
}

func startClaude(s *agentSession) *exec.Cmd {
	s.env = append(s.env, "ANTHROPIC_BASE_URL="+s.model.URL, "ANTHROPIC_API_KEY=k")
	cmd := exec.Command(s.cli, "-p", "--model", "fake", "--output-format", "json", "--setting-sources", "user", "--permission-mode", "acceptEdits", "--allowedTools", "Bash")
	cmd.Stdin = strings.NewReader(agentPrompt)
	return cmd
}

func startCodex(s *agentSession) *exec.Cmd {
	s.env = append(s.env, "FAKE_KEY=k")
	config := fmt.Sprintf("model = \"fake\"\nmodel_provider = \"fake\"\napproval_policy = \"never\"\n[model_providers.fake]\nname = \"fake\"\nbase_url = \"%s/v1\"\n"+
		"wire_api = \"responses\"\nenv_key = \"FAKE_KEY\"\n[analytics]\nenabled = false\n", s.model.URL)
	_ = os.WriteFile(filepath.Join(s.dir, "codex", "config.toml"), []byte(config), 0o600)
	cmd := exec.Command(s.cli, "exec", "--json", "-c", `sandbox_mode="workspace-write"`, "-c", "sandbox_workspace_write.exclude_slash_tmp=true",
		"-c", "sandbox_workspace_write.exclude_tmpdir_env_var=true", "--dangerously-bypass-hook-trust", "-")
	cmd.Stdin = strings.NewReader(agentPrompt)
	return cmd
}

func startGemini(s *agentSession) *exec.Cmd {
	s.env = append(s.env, "GEMINI_API_KEY=fake", "GOOGLE_GEMINI_BASE_URL="+s.model.URL)
	s.settings(".gemini/settings.json", `{"security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": false}}`)
	cmd := exec.Command(s.cli, "--skip-trust", "-m", "gemini-2.5-pro", "-o", "json", "--approval-mode", "yolo", "-p", "")
	cmd.Stdin = strings.NewReader(agentPrompt)
	return cmd
}

func startCopilot(s *agentSession) *exec.Cmd {
	s.env = append(s.env, "COPILOT_OFFLINE=true", "COPILOT_PROVIDER_BASE_URL="+s.model.URL+"/v1", "COPILOT_PROVIDER_API_KEY=secret-key", "COPILOT_MODEL=fake")
	return exec.Command(s.cli, "--trust-folder", "--allow-all-tools", "--no-auto-update", "--output-format", "json", "-p", agentPrompt)
}

func startQwen(s *agentSession) *exec.Cmd {
	s.env = append(s.env, "OPENAI_API_KEY=k", "OPENAI_BASE_URL="+s.model.URL+"/v1", "OPENAI_MODEL=fake")
	return exec.Command(s.cli, "--auth-type", "openai", "-o", "json", "--approval-mode", "yolo", "-p", agentPrompt)
}

func startOpenCode(s *agentSession) *exec.Cmd {
	config := filepath.Join(s.dir, "opencode.json")
	text, _ := json.Marshal(fields{
		"model": "fake/fake", "small_model": "fake/fake", "enabled_providers": []string{"fake"}, "autoupdate": false, "share": "disabled",
		"provider":   fields{"fake": fields{"npm": "@ai-sdk/openai-compatible", "options": fields{"baseURL": s.model.URL + "/v1", "apiKey": "k"}, "models": fields{"fake": fields{"name": "fake"}}}},
		"permission": fields{"edit": "allow", "bash": "allow"},
	})
	_ = os.WriteFile(config, text, 0o600)
	s.env = append(s.env, "OPENCODE_CONFIG="+config, "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1")
	return exec.Command(s.cli, "run", "--format", "json", agentPrompt)
}

// settings writes settings of an agent in the home folder.
func (s *agentSession) settings(name, text string) {
	file := filepath.Join(s.home, name)
	_ = os.MkdirAll(filepath.Dir(file), 0o700)
	_ = os.WriteFile(file, []byte(text), 0o600)
}

// check compares the record with the expected verdicts, and with the texts of the session.
func (s *agentSession) check(t *testing.T) {
	t.Helper()
	records, err := sessionRecords(t, s.store)
	verdict := hooks.Verdict(records, "")
	note, fileErr := os.ReadFile(s.model.file)
	bad := fileErr == nil && !strings.Contains(string(note), "owls") || !strings.Contains(s.model.last, "owls")
	fits := slices.Contains(s.story.verdicts, verdict) && !(verdict == hooks.Passed && bad) && s.model.turns > 0
	if fits {
		t.Logf("%s after %d turns and %d records", verdict, s.model.turns, len(records))
		return
	}
	for _, r := range records {
		t.Logf("%s %s %s %s %s", r.Event, r.Verdict, r.Rule, r.File, oneLine(r.Reason))
	}
	t.Errorf("the session is %s after %d turns, with the note %q and the message %q: %v", verdict, s.model.turns, note, s.model.last, err)
}

// sessionRecords returns the records of the one session of a store.
func sessionRecords(t *testing.T, store string) ([]hooks.Record, error) {
	j, err := journal.Open(store, journal.Options{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer j.Close()
	table, err := j.Query(t.Context(), "SELECT run_id FROM runs WHERE run_id LIKE 'hook.%' ORDER BY started DESC LIMIT 1", 1)
	if err != nil || len(table.Rows) == 0 {
		return nil, err
	}
	run, err := j.Run(t.Context(), fmt.Sprint(table.Rows[0][0]))
	if err != nil {
		return nil, err
	}
	return hooks.Log(t.Context(), j, run.Start.Settings["hook_session"])
}
