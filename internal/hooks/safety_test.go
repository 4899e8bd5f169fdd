package hooks_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/hooks"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/journal"
)

const guardedRules = `cascade_id: gates
protect: [labels/**]
validators:
  owls: {exec: [./check.sh], verdict: exit_status}
hooks:
- {on: write, wards: [{validator: owls}]}
- {on: write, files: [OUTSIDE/notes/**], wards: [{expr: "true"}]}
- {on: stop, wards: [{validator: owls}]}
`

// A guarded folder has a repository with a cascade, its program and labels, and a store and
// settings outside of the repository.
type guarded struct {
	*hooks.Gate
	repo, outside, rules string
}

func newGuarded(t *testing.T) *guarded {
	t.Helper()
	outside, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	g := &guarded{repo: filepath.Join(outside, "repo"), outside: outside}
	g.rules = filepath.Join(g.repo, "gates.yaml")
	for name, text := range map[string]string{
		"gates.yaml": strings.ReplaceAll(guardedRules, "OUTSIDE", filepath.ToSlash(outside)), "check.sh": "#!/bin/sh\ngrep -q owls\n",
		"labels/a.yaml": "a", ".git/config": "", ".git/HEAD": "ref: refs/heads/main", "../settings.json": `{"hooks": {"Stop": ["capstan"]}}`,
	} {
		file := filepath.Join(g.repo, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	g.open(t)
	return g
}

// open loads the cascade and opens the store, as each process of a hook does.
func (g *guarded) open(t *testing.T) {
	t.Helper()
	store := filepath.Join(g.outside, "runs.db")
	j, err := journal.Open(store, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	r, err := runner.New(runner.WithJournal(j), runner.WithRoot(g.repo))
	if err != nil {
		t.Fatal(err)
	}
	c, err := r.Load(g.rules)
	if err != nil {
		t.Fatal(err)
	}
	g.Gate = &hooks.Gate{Runner: r, Journal: j, Cascade: c, Store: store, Settings: filepath.Join(g.outside, "settings.json"), Program: filepath.Join(g.outside, "capstan")}
}

func (g *guarded) verdict(t *testing.T) string {
	t.Helper()
	records, err := hooks.Log(t.Context(), g.Journal, "s")
	if err != nil {
		t.Fatal(err)
	}
	return hooks.Verdict(records, "")
}

// TestForbiddenFiles checks which files no file tool may write, by their names, through
// links and in patches.
func TestForbiddenFiles(t *testing.T) {
	g := newGuarded(t)
	for link, target := range map[string]string{"link.yaml": "gates.yaml", "dangling": filepath.Join(g.outside, "new"), "linked": g.outside} {
		if err := os.Symlink(target, filepath.Join(g.repo, link)); err != nil {
			t.Skip(err)
		}
	}
	patch := func(lines string) object {
		return object{"session_id": "s", "cwd": g.repo, "hook_event_name": "PreToolUse", "tool_name": "apply_patch",
			"tool_input": object{"command": "*** Begin Patch\n" + lines + "\n*** End Patch\n"}}
	}
	for name, c := range map[string]struct {
		payload object
		reason  string // "" for a write that passes
	}{
		"page":                {write(g.repo, "a.md", "owls"), ""},
		"named outside":       {write(g.repo, "../notes/a.md", "owls"), ""},
		"removed page":        {patch("*** Delete File: a.md"), ""},
		"cascade":             {write(g.repo, "gates.yaml", "owls"), "the cascade is made of it"},
		"linked cascade":      {write(g.repo, "link.yaml", "owls"), "the cascade is made of it"},
		"cascade in a patch":  {patch("*** Delete File: gates.yaml"), "the cascade is made of it"},
		"cascade moved":       {patch("*** Update File: gates.yaml\n*** Move to: other.yaml\n@@\n-cascade_id: gates\n+cascade_id: owls"), "the cascade is made of it"},
		"program":             {write(g.repo, "check.sh", "owls"), "validator owls names it"},
		"new label":           {write(g.repo, "labels/b.yaml", "owls"), "protect: labels/**"},
		"git":                 {write(g.repo, ".git/config", "owls"), "**/.git/**"},
		"hooks of git":        {write(g.repo, "sub/.git/hooks/pre-commit", "owls"), "**/.git/**"},
		"settings of Claude":  {write(g.repo, ".claude/settings.local.json", "owls"), "settings*.json"},
		"other spelling":      {write(g.repo, ".Claude/Settings.json", "owls"), "settings*.json"},
		"settings of Codex":   {write(g.repo, ".codex/hooks.json", "owls"), ".codex/"},
		"own settings":        {write(g.repo, "../settings.json", "owls"), "belongs to the gate"},
		"store":               {write(g.repo, "../runs.db-wal", "owls"), "belongs to the gate"},
		"program of the gate": {write(g.repo, "../capstan", "owls"), "belongs to the gate"},
		"outside":             {write(g.repo, "../other.md", "owls"), "outside of the repository"},
		"outside by a link":   {write(g.repo, "linked/other.md", "owls"), "outside of the repository"},
		"dangling link":       {write(g.repo, "dangling", "owls"), "outside of the repository"},
		"removed outside":     {patch("*** Delete File: ../other.md"), "outside of the repository"},
	} {
		d, _ := decide(t, g.Gate, "", "", c.payload)
		if d.Refuse != (c.reason != "") || !strings.Contains(d.Reason, c.reason) || len(d.Runs) == 0 {
			t.Errorf("%s: %+v", name, d)
		}
	}
	if g.verdict(t) == hooks.Tampered {
		t.Error("a refused write counts as tampering")
	}
}

// TestTampering changes what judges a session, and the record, and checks the verdict. An
// end is refused twice, so that a session can end.
func TestTampering(t *testing.T) {
	change := func(file string, from, to string) func(*testing.T, *guarded) {
		return func(t *testing.T, g *guarded) {
			name := filepath.Join(g.repo, file)
			text, err := os.ReadFile(name)
			if err != nil || !strings.Contains(string(text), from) {
				t.Fatalf("%s: %v", text, err)
			}
			if err := os.WriteFile(name, []byte(strings.ReplaceAll(string(text), from, to)), 0o700); err != nil {
				t.Fatal(err)
			}
		}
	}
	forget := func(which string) func(*testing.T, *guarded) {
		return func(t *testing.T, g *guarded) {
			records, err := hooks.Log(t.Context(), g.Journal, "s")
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range records {
				if r.Verdict != which {
					continue
				}
				db, err := sql.Open("sqlite", "file:"+g.Store)
				if err != nil {
					t.Fatal(err)
				}
				defer db.Close()
				if _, err := db.Exec("PRAGMA foreign_keys = OFF; DELETE FROM run WHERE id = ?", r.Run); err != nil {
					t.Fatal(err)
				}
				return
			}
			t.Fatalf("no record is %s", which)
		}
	}
	for name, c := range map[string]struct {
		change  func(*testing.T, *guarded)
		refused bool // the ends that follow
		verdict string
	}{
		"nothing":          {func(*testing.T, *guarded) {}, false, hooks.Passed},
		"another setting":  {change("../settings.json", `{"hooks"`, `{"model": "x", "hooks"`), false, hooks.Passed},
		"cascade":          {change("gates.yaml", "gates", "gates2"), true, hooks.Tampered},
		"program":          {change("check.sh", "grep", "true"), true, hooks.Tampered},
		"label":            {change("labels/a.yaml", "a", "b"), true, hooks.Tampered},
		"hooks":            {change("../settings.json", "Stop", "Start"), true, hooks.Tampered},
		"all hooks":        {change("../settings.json", `{"hooks"`, `{"disableAllHooks": true, "hooks"`), true, hooks.Tampered},
		"removed settings": {func(_ *testing.T, g *guarded) { os.Remove(g.Settings) }, true, hooks.Tampered},
		"removed refusal":  {forget(hooks.Refused), false, hooks.Tampered},
		"removed pass":     {forget(hooks.Passed), false, hooks.Tampered},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGuarded(t)
			decide(t, g.Gate, "", "", write(g.repo, "b.md", "owls"))
			decide(t, g.Gate, "", "", write(g.repo, "a.md", "cats"))
			decide(t, g.Gate, "", "", write(g.repo, "a.md", "owls"))
			c.change(t, g)
			g.open(t)
			for i := range 3 {
				d, _ := decide(t, g.Gate, "claude", "", stop(g.repo, "owls"))
				if refuse := c.refused && i < 2; d.Refuse != refuse || c.refused && d.Verdict != hooks.Tampered {
					t.Errorf("end %d: %+v", i, d)
				}
			}
			if got := g.verdict(t); got != c.verdict {
				t.Errorf("the session is %s", got)
			}
		})
	}
}

// TestRulesOfVerdict checks a session against the cascade that must have judged it.
func TestRulesOfVerdict(t *testing.T) {
	g := newGuarded(t)
	decide(t, g.Gate, "", "", stop(g.repo, "owls"))
	records, err := hooks.Log(t.Context(), g.Journal, "s")
	if err != nil {
		t.Fatal(err)
	}
	deciders, err := g.Deciders()
	if err != nil {
		t.Fatal(err)
	}
	if got := hooks.Verdict(records, deciders.Digest()); got != hooks.Passed {
		t.Errorf("the same cascade: %s", got)
	}
	if got := hooks.Verdict(records, "sha256:0"); got != hooks.Tampered {
		t.Errorf("another cascade: %s", got)
	}
}

// makeRepository makes an empty repository of a folder.
func makeRepository(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".git", "HEAD"), []byte("ref: refs/heads/main\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestRepository checks that an empty folder .git, as the sandbox of Codex leaves it in
// /tmp, makes no repository.
func TestRepository(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	inner := filepath.Join(dir, "a", "b")
	for _, folder := range []string{inner, filepath.Join(dir, ".git")} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if got := hooks.Repository(inner); got != inner {
		t.Errorf("with an empty .git: %s", got)
	}
	makeRepository(t, dir)
	if got := hooks.Repository(inner); got != dir {
		t.Errorf("with a HEAD: %s", got)
	}
	if err := os.WriteFile(filepath.Join(dir, "a", ".git"), []byte("gitdir: ../.git/worktrees/a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := hooks.Repository(inner); got != filepath.Join(dir, "a") {
		t.Errorf("of a worktree: %s", got)
	}
}

// TestStoreInRepository checks that a record that the agent can write is no record.
func TestStoreInRepository(t *testing.T) {
	g := newGuarded(t)
	e := &hooks.Event{Root: g.repo}
	if err := g.Outside(e); err != nil {
		t.Error(err)
	}
	if g.Store = filepath.Join(g.repo, "sub", "runs.db"); g.Outside(e) == nil {
		t.Error("a store in the repository is allowed")
	}
	if err := os.RemoveAll(filepath.Join(g.repo, ".git")); err != nil || g.Outside(e) != nil {
		t.Errorf("a folder that is no repository: %v, %v", err, g.Outside(e))
	}
}
