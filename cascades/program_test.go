package cascades

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators"
)

// TestPrograms checks that a validator runs its program, next to the file or in
// the root, with its arguments and environment variables. The output or the
// exit status is the verdict.
func TestPrograms(t *testing.T) {
	dir := t.TempDir()
	k := known()
	k.Root = filepath.Join(dir, "root")
	for _, name := range []string{"beside", "root"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	const says = `exec: [sh, -c, 'printf "{\"valid\": false, \"reason\": \"%s\"}" "${PWD##*/} $WORD"'], env: {WORD: said}`
	c, err := Parse(filepath.Join(dir, "beside", "x.yaml"), []byte("cascade_id: x\nphases: [{name: a, compose: x}]\nvalidators:\n  beside: {"+says+"}\n  root: {"+says+", cwd: root}\n  ends: {exec: [sh, -c, exit 1], verdict: exit_status}\ntools: {say: {exec: [sh, -c, 'printf \"%s\" \"${PWD##*/} $WORD\"'], env: {WORD: said}}}\n"), files(nil), k)
	if err != nil {
		t.Fatal(err)
	}
	say := c.Tools["say"].Tool
	if result, err := say.Run(context.Background(), tool.Call{}); err != nil || result.Value != "beside said" || say.Idempotent {
		t.Errorf("the tool said %+v, %v, idempotent %t", result, err, say.Idempotent)
	}
	for name, want := range map[string]string{"beside": "beside said", "root": "root said", "ends": "exit status 1 without output"} {
		verdict, err := c.Validators[name].Check(context.Background(), validators.Subject{Content: "x"})
		if err != nil || verdict.Valid || verdict.Reason != want {
			t.Errorf("%s: got %+v, %v, want %s", name, verdict, err, want)
		}
	}
}
