package testcases_test

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/measures/testcases"
	"github.com/seed61713e19/capstan/internal/storytest"
)

// TestLoadBroken checks that mistakes are reported with file and line.
func TestLoadBroken(t *testing.T) {
	for _, one := range []struct{ name, file, old, new, want string }{
		{"unknown key", "case.yaml", "model_calls: 6", "model_cals: 6", `case.yaml:6: unknown key "model_cals"`},
		{"version", "case.yaml", "version: 1", "version: 9", "case.yaml: version 9"},
		{"no YAML", "case.yaml", "expect:", "expect: [", "case.yaml:3: "},
		{"wrong type", "case.yaml", "model_calls: 6", "model_calls: six", "case.yaml:6: cannot unmarshal !!str `six` into int"},
		{"no status", "case.yaml", "  status: succeeded\n  m", "  m", "case.yaml: expect has no status"},
		{"input", "input.json", "{", "[", "input.json:"},
		{"message", "effects/draft.yaml", "- user: Write about owls.", "- usr: Write about owls.", `effects/draft.yaml:3: unknown key "usr"`},
		{"no message", "effects/draft.yaml", "- user: Write about owls.", "- id: x", "effects/draft.yaml:1: message 1: want one of"},
		{"no effect", "effects/draft.yaml", "- call: draft", "- cal: draft", `effects/draft.yaml:1: an effect begins with`},
		{"twice", "effects/draft.yaml", "draft/attempt[1]/turn[1]/model", "draft/attempt[1]/turn[0]/model", "effects/draft.yaml:7: draft/attempt[1]/turn[0]/model is there twice"},
		{"continues", "effects/draft.yaml", "continues: draft/attempt[1]/turn[0]/model", "continues: nowhere", "effects/draft.yaml:7: it continues nowhere"},
		{"schema", "effects/draft.yaml", "schema: verdict", "schema: other", `schema "other" is not in shared.yaml`},
		{"outside", "effects/draft.yaml", "reply: short", "reply: !file ../../x", "x leads out of the test's folder"},
		{"no file", "effects/draft.yaml", "reply: short", "reply: !file texts/x.md", "effects/draft.yaml:4: "},
		{"number", "effects/publish.yaml", "sum: 3", "sum: .inf", "effects/publish.yaml:"},
		{"alias", "effects/publish.yaml", "sum: 3", "sum: &a {b: 3}\n    c: *a", "anchors and aliases"},
	} {
		t.Run(one.name, func(t *testing.T) {
			s, dir := posted(t)
			edit(t, dir, one.file, one.old, one.new)
			_, err := testcases.Load(dir)
			if err == nil || !strings.Contains(err.Error(), one.want) || !strings.Contains(err.Error(), dir) {
				t.Errorf("got  %v\nwant %s", err, one.want)
			}
			all := testcases.RunAll(t.Context(), []string{dir}, s.known)
			if len(all) != 1 || all[0].OK() || all[0].Differences[0].About != testcases.Broken {
				t.Error(all)
			}
		})
	}
	for _, file := range []string{"case.yaml", "input.json"} {
		_, dir := posted(t)
		if err := os.Remove(filepath.Join(dir, file)); err != nil {
			t.Fatal(err)
		}
		if _, err := testcases.Load(dir); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), file) {
			t.Error(err)
		}
	}
}

// unhindered limits the time for minimizing, and uses a folder in memory.
func unhindered(f *testing.F) {
	f.Helper()
	if err := flag.Set("test.fuzzminimizetime", "10x"); err != nil {
		f.Fatal(err)
	}
	const memory = "/dev/shm"
	if _, err := os.Stat(memory); err == nil {
		f.Setenv("TMPDIR", memory)
	}
}

// FuzzLoad reads any bytes as files of a test case.
func FuzzLoad(f *testing.F) {
	unhindered(f)
	for _, name := range []string{"soundings", "tools", "human_yes", "judge_left_over", "error_advisory"} {
		_, dir := transcript(f, storytest.Embedded(f, name)).freeze(f)
		all := tree(f, dir)
		for file, content := range all {
			if strings.HasPrefix(file, "effects/") {
				f.Add(all["case.yaml"], content, all["shared.yaml"])
			}
		}
	}
	f.Add("version: 1\ncascade: c.yaml\nexpect: {status: x, outputs: {a: null}}", "- timeout: a\n", "tools: {a: null}")
	f.Add("version: 1\ncascade: c.yaml\nexpect: {status: x, verdicts: [null], degraded: [~]}", "- call: a\n  messages: [null]\n  tools: [a]\n", "a: &a [*a]")
	f.Fuzz(func(t *testing.T, head, effects, shared string) {
		dir := t.TempDir()
		for name, content := range map[string]string{"case.yaml": head, "effects/a.yaml": effects, "shared.yaml": shared, "input.json": "{}", "c.yaml": "cascade_id: c\nphases: [{name: a, instructions: b}]\n"} {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		c, err := testcases.Load(dir)
		if err != nil {
			return
		}
		o := c.Run(t.Context(), storytest.Known())
		if err := c.Update(o); err != nil {
			return
		}
		again, err := testcases.Load(dir)
		if err != nil {
			t.Fatalf("what was written is not read: %v\n%v", err, tree(t, dir))
		}
		if o := again.Run(t.Context(), storytest.Known()); !o.OK() {
			t.Fatalf("after an update:\n%s\n%v", text(o), tree(t, dir))
		}
	})
}

// FuzzText records any reply.
func FuzzText(f *testing.F) {
	unhindered(f)
	for _, s := range []string{"", " ", "\n", "a\nb", "a \nb", " a\nb", "\ta\n\tb", "a\n\n\n", "\n\na", "a: b", "- a\n- b", "# no\n---\n...", "1", "null", "~", "yes", "2026-01-02", "!file x", "\u2028\n", "🦉\nowl", "\ufeffa\nb", "a\r\nb", "a\x00\nb", "\xff\n", "'\"\n`", "a\n  b\n c", "%a\nb", strings.Repeat("x\n", 3000)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		s := newStory(t, "cascade_id: c\nphases: [{name: a, instructions: Write, handoffs: [b]}, {name: b, instructions: '{{ outputs.a }}'}]\n", reply, reply)
		s.input = map[string]any{"x": reply}
		run := s.record(t)
		dir := filepath.Join(t.TempDir(), "c")
		c, err := testcases.Record(t.Context(), run, testcases.Options{Dir: dir, Known: s.known})
		if err != nil {
			t.Fatal(err)
		}
		if o := c.Run(t.Context(), s.known); !o.OK() {
			t.Fatal(text(o))
		}
	})
}

// TestFiles checks that the files of a cascade are stored below one folder, and that their
// relative names stay valid.
func TestFiles(t *testing.T) {
	const root = "cascade_id: c\nphases:\n  - {name: a, instructions: '@prompt.md'}\n  - {name: b, instructions: '@../shared/prompt.md'}\n  - {name: c, instructions: '@%s'}\n"
	for name, files := range map[string][]string{
		"relative": {"flows/post.yaml", "flows/prompt.md", "shared/prompt.md", "other.md"},
		"here":     {"post.yaml", "prompt.md", "../shared/prompt.md", "../../far/other.md"},
		"above":    {"../a/post.yaml", "../a/prompt.md", "../shared/prompt.md", "../other.md"},
		"absolute": {"/home/me/a/post.yaml", "/home/me/a/prompt.md", "/home/me/shared/prompt.md", "/home/me/other.md"},
		"mixed":    {"a/post.yaml", "a/prompt.md", "shared/prompt.md", "/etc/other.md"},
	} {
		t.Run(name, func(t *testing.T) {
			third := map[string]string{"relative": "../other.md", "here": "../../far/other.md", "above": "../other.md", "absolute": "/home/me/other.md", "mixed": "/etc/other.md"}[name]
			s := newStory(t, "", "x", "y", "z")
			s.files = []cascades.File{{Name: files[0], Text: []byte(strings.Replace(root, "%s", third, 1))}}
			for _, f := range files[1:] {
				s.files = append(s.files, cascades.File{Name: f, Text: []byte("in " + f)})
			}
			c, dir := s.freeze(t)
			if o := c.Run(t.Context(), s.known); !o.OK() {
				t.Error(text(o))
			}
			edit(t, dir, "effects/c.yaml", "in "+files[3], "in another")
			if _, o := s.test(t, dir); len(o.Differences) != 1 {
				t.Error(text(o))
			}
			if entries, _ := os.ReadDir(filepath.Dir(dir)); len(entries) != 1 {
				t.Error("files outside of the case")
			}
		})
	}
}
