package hooks_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/hooks"
)

// TestSettings checks that an agent's settings keep everything else, and that the hooks of
// Capstan are there once.
func TestSettings(t *testing.T) {
	const other = `{"model": "x", "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "other"}]}]}}`
	for _, agent := range hooks.Agents() {
		s := setupOf(t, agent, "/opt/a b/capstan", "hook", "--rules", "/x/gates.yaml")
		if file, err := s.File("project", func(string) string { return "" }); err != nil || !strings.HasPrefix(filepath.ToSlash(file), "project/.") {
			t.Errorf("%s: %s, %v", agent, file, err)
		}
		once, err := s.Merge([]byte(other))
		again, err2 := s.Merge(once)
		if err != nil || err2 != nil || agent != "opencode" && !hooks.SameSettings(once, again) {
			t.Errorf("%s: %v, %v\n%s\n%s", agent, err, err2, once, again)
		}
		if len(s.Open()) == 0 || !strings.Contains(string(once), "/opt/a b/capstan") || agent != "opencode" && !hooks.Installed(once) {
			t.Errorf("%s:\n%s", agent, once)
		}
		if without, err := s.Remove(once); agent != "opencode" && agent != "copilot" && (err != nil || !hooks.SameSettings(without, []byte(other))) {
			t.Errorf("%s: %v\n%s", agent, err, without)
		}
		if without, err := s.Remove(mustMerge(t, s)); err != nil || without != nil {
			t.Errorf("%s: %v\n%s", agent, err, without)
		}
	}
	if _, err := hooks.NewSetup("nobody"); err == nil || !strings.Contains(err.Error(), "claude, codex") {
		t.Errorf("an unknown agent: %v", err)
	}
}

func setupOf(t *testing.T, agent string, command ...string) hooks.Setup {
	t.Helper()
	s, err := hooks.NewSetup(agent)
	if err != nil {
		t.Fatal(err)
	}
	s.Command, s.Seconds = command, 60
	return s
}

func mustMerge(t *testing.T, s hooks.Setup) []byte {
	t.Helper()
	text, err := s.Merge(nil)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestPlugin checks that the plugin for Claude Code has the hooks that install writes, and
// that its version is that of the other packages.
func TestPlugin(t *testing.T) {
	const dir = "../../packaging/claude-plugin/"
	text, err := os.ReadFile(dir + "hooks/hooks.json")
	if err != nil {
		t.Fatal(err)
	}
	s := setupOf(t, "claude", "capstan", "hook", "--rules", "GATES")
	want := strings.Replace(string(mustMerge(t, s)), `"disableAllHooks": false,`, "", 1) // a key of settings
	want = strings.ReplaceAll(want, "GATES", `\"${CLAUDE_PLUGIN_ROOT}/gates.yaml\"`)
	if !hooks.SameSettings(text, []byte(want)) {
		t.Errorf("hooks.json is not\n%s", want)
	}
	names, err := os.ReadFile("../../packaging/names.yaml")
	manifest, err2 := os.ReadFile(dir + ".claude-plugin/plugin.json")
	version := regexp.MustCompile(`"version": "(.*)"`).FindSubmatch(manifest)
	if err != nil || err2 != nil || version == nil || !strings.Contains(string(names), "\nversion: "+string(version[1])+"\n") {
		t.Errorf("version %q, %v, %v", version, err, err2)
	}
	rules, err := os.ReadFile(dir + "gates.yaml")
	if err != nil || len(newGate(t, string(rules), "").Cascade.Hooks) != 3 {
		t.Errorf("the rules of the plugin: %v", err)
	}
}

// TestOpenDoors checks that the page of each agent lists what its hooks cannot refuse.
func TestOpenDoors(t *testing.T) {
	for _, agent := range hooks.Agents() {
		page, err := os.ReadFile("../../docs/reference/agents/" + agent + ".md")
		if err != nil {
			t.Fatal(err)
		}
		_, doors, _ := strings.Cut(string(page), "## Open doors\n")
		for _, open := range setupOf(t, agent).Open() {
			if !strings.Contains(doors, "- "+open+"\n") {
				t.Errorf("%s: the page does not list %q", agent, open)
			}
		}
	}
}

// TestSkill checks that the skill of the plugin is short, and that its cascade is right.
func TestSkill(t *testing.T) {
	text, err := os.ReadFile("../../packaging/claude-plugin/skills/gates/SKILL.md")
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(string(text), "\n"); lines > 150 {
		t.Errorf("the skill has %d lines", lines)
	}
	_, rest, _ := strings.Cut(string(text), "```yaml\n")
	source, _, _ := strings.Cut(rest, "```")
	if g := newGate(t, source, ""); len(g.Cascade.Hooks) != 4 {
		t.Errorf("the cascade has %d hooks", len(g.Cascade.Hooks))
	}
}
