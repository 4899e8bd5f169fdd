package runner_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/runner/tool/query"
	"github.com/seed61713e19/capstan/validators/edit"
	"github.com/seed61713e19/capstan/validators/request"
	"github.com/seed61713e19/capstan/validators/schedule"
)

// TestLoadConfinesFiles checks that a cascade can only name files in its folder, in the
// root or in a folder of tackle. The cascade itself may be anywhere.
func TestLoadConfinesFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"work/cascade/p.md", "work/p.md", "root/p.md", "tackle/p.md", "out/p.md"} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("Write."), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(filepath.Join(dir, "root"))
	file := filepath.Join(dir, "work/cascade/post.yaml")
	asked := `{task_id: a, validation_type: code, worktree_path: "` + filepath.ToSlash(dir) + `", acceptance_criteria: [{id: A, description: It is there}]}`
	within := func(with string) string {
		return "phases: [{name: a, instructions: a, wards: {post: [{" + with + "}]}}]"
	}
	for _, c := range []struct{ body, want string }{
		{`phases: [{name: a, instructions: "@p.md"}]`, ""},
		{`phases: [{name: a, instructions: "@../../root/p.md"}]`, ""},
		{`phases: [{name: a, instructions: "@../../tackle/p.md"}]`, ""},
		{`phases: [{name: a, instructions: "@../p.md"}]`, "work/p.md is outside"},
		{`phases: [{name: a, instructions: "@` + filepath.ToSlash(dir) + `/out/p.md"}]`, "start Capstan with --root"},
		{`phases: [{name: a, instructions: "@../../out/none.md"}]`, "out/none.md is outside"},
		{`phases: [{name: a, instructions: "@/dev/zero"}]`, "/dev/zero is outside"},
		{`phases: [{name: a, sub_cascades: [{ref: ../other.yaml}], instructions: a}]`, "work/other.yaml is outside"},
		{"databases: {d: {url: ../d.db}}\nphases: [{name: a, instructions: a, tackle: [sql_query]}]", "work/d.db is outside"},
		{within("validator: edit_verifier, with: {active_part: text, root: ../out}"), "../out is outside"},
		{within("validator: validation_response, with: {root: ../root, request: " + asked + "}"), ""},
		{within("validator: validation_response, with: {request: " + asked + "}"), filepath.ToSlash(dir) + " is outside"},
		{within("validator: schedule_quality, with: {db: ../d.db}"), "../d.db is outside"},
		{within("validator: schedule_critic, with: {signing_key: /etc/key.pem}"), "/etc/key.pem is outside"},
	} {
		if err := os.WriteFile(file, []byte("cascade_id: post\n"+c.body+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		tools := append(tool.Builtins(tool.Options{}), query.Tool())
		gates := append(schedule.Validators(schedule.Options{}), edit.Validator, request.Validator)
		r, err := runner.New(runner.WithRoot("."), runner.WithTackle(filepath.Join(dir, "tackle")), runner.WithTools(tools...), runner.WithValidators(gates...))
		if err != nil {
			t.Fatal(err)
		}
		_, err = r.Load(file)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(filepath.ToSlash(err.Error()), c.want) {
			t.Errorf("%s\ngot %v, want %s", c.body, err, c.want)
		}
	}
}
