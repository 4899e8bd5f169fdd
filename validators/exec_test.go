//go:build unix

package validators

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/internal/process"
)

// With AS_VALIDATOR set, the test binary is the program of [TestExecMain].
func TestMain(m *testing.M) {
	if os.Getenv("AS_VALIDATOR") != "" {
		Main(atMost)
	}
	os.Exit(m.Run())
}

func shell(script string) Exec { return Exec{Argv: []string{"/bin/sh", "-c", script}} }

func TestExec(t *testing.T) {
	for _, c := range []struct {
		name, script string
		valid        bool
		reason       string
	}{
		{"yes", `echo '{"valid": true, "reason": "fine"}'`, true, "fine"},
		{"true alone", `echo true`, true, ""},
		{"no", `echo '{"valid": false, "reason": "bad"}'`, false, "bad"},
		{"no with status 1", `echo '{"valid": false, "reason": "bad"}'; exit 1`, false, "bad"},
		{"noise on stderr", `echo noise >&2; echo '{"valid": true, "reason": ""}'`, true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, err := shell(c.script).Check(nil)(t.Context(), Subject{})
			if err != nil || v.Valid != c.valid || v.Reason != c.reason {
				t.Errorf("got %+v, %v", v, err)
			}
		})
	}
}

func TestExecIsNoVerdict(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"no output":           {"exit 0", "exit status 0 and no output"},
		"status 1, no output": {"echo trouble >&2; exit 1", "no output; it said: trouble"},
		"nonsense":            {"echo it is fine", "verdict: line 1, column 1"},
		"prose around":        {`echo 'ok: {"valid": true}'`, "verdict:"},
		"not a boolean":       {`echo '{"valid": "false"}'`, `"valid" must be true or false, not "false"`},
		"status 2":            {`echo '{"valid": true, "reason": ""}'; exit 2`, "exit status 2"},
		"status 1, a yes":     {`echo '{"valid": true, "reason": ""}'; exit 1`, "exit status 1 with a valid verdict"},
		"a test command":      {"echo '--- FAIL: TestX'; exit 1", "write verdict: exit_status"},
		"status 2, no JSON":   {"echo 'make: *** [test] Error 1'; exit 2", "write verdict: exit_status"},
		"a signal":            {`kill -9 $$`, "exit status 137"},
		"the last lines":      {"for i in 1 2 3 4 5 6 7; do echo line $i >&2; done; exit 3", "it said: line 3\nline 4\nline 5\nline 6\nline 7"},
	} {
		t.Run(name, func(t *testing.T) {
			v, err := shell(c.script).Check(nil)(t.Context(), Subject{})
			if err == nil || !strings.Contains(err.Error(), c.want) || v.Valid || v.Reason != "" {
				t.Errorf("got %+v, %v, want %s", v, err, c.want)
			}
		})
	}
}

func TestExecBreaks(t *testing.T) {
	e := shell("sleep 100")
	e.Timeout = 100 * time.Millisecond
	if _, err := e.Check(nil)(t.Context(), Subject{}); !errors.Is(err, process.ErrTimeout) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := shell("true").Check(nil)(ctx, Subject{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := (Exec{Argv: []string{"no-such-program"}}).Check(nil)(t.Context(), Subject{}); !errors.Is(err, process.ErrNotStarted) {
		t.Errorf("got %v", err)
	}
	if _, err := shell("yes").Check(nil)(t.Context(), Subject{}); !errors.Is(err, process.ErrTooMuchOutput) {
		t.Errorf("got %v", err)
	}
}

// The program must read every part of the subject, and no map may be null.
func TestExecQuestion(t *testing.T) {
	echo := shell(`printf '{"valid": true, "reason": "", "details": '; cat; printf '}'`)
	v, err := echo.Check(map[string]any{"max": 3})(t.Context(), Subject{
		Content: "Größe\n\"x\"", Output: []any{1}, Input: map[string]any{"a": "b"}, Turn: 1, Attempt: 2, Key: "run/draft",
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"content": "Größe\n\"x\"", "output": [1], "input": {"a": "b"}, "state": {}, "outputs": {}, "turn": 1, "attempt": 2, "tool": "", "with": {"max": 3}, "key": "run/draft"}`
	var expected any
	if err := json.Unmarshal([]byte(want), &expected); err != nil {
		t.Fatal(err)
	}
	got, _ := json.Marshal(v.Details)
	var found any
	json.Unmarshal(got, &found)
	if !reflect.DeepEqual(found, expected) {
		t.Errorf("got %s", got)
	}
}

// A program sees only the secrets that are passed to it by name.
func TestExecEnvironment(t *testing.T) {
	t.Setenv("MY_KEY", "secret")
	for _, c := range []struct {
		env  []string
		want string
	}{{nil, "none"}, {[]string{"MY_KEY"}, "secret"}} {
		e := shell(`printf '{"valid": true, "reason": "%s"}' "${MY_KEY-none}"`)
		e.Env = c.env
		if v, err := e.Check(nil)(t.Context(), Subject{}); err != nil || v.Reason != c.want {
			t.Errorf("%q: got %+v, %v", c.env, v, err)
		}
	}
	e := shell("true")
	e.Env = []string{"NO_SUCH_KEY"}
	if _, err := e.Check(nil)(t.Context(), Subject{}); !errors.Is(err, process.ErrNotStarted) || !strings.Contains(err.Error(), "NO_SUCH_KEY") {
		t.Errorf("got %v", err)
	}
}

// A program made with Main must read the requests that Exec sends.
func TestExecMain(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	check := Exec{Argv: []string{self}, Env: []string{"AS_VALIDATOR=1"}}.Check(map[string]any{"max": 4})
	for content, valid := range map[string]bool{"four": true, "fiver": false, "日本語だ": true} {
		if v, err := check(t.Context(), Subject{Content: content}); err != nil || v.Valid != valid {
			t.Errorf("%s: got %+v, %v", content, v, err)
		}
	}
	wrong := Exec{Argv: []string{self}, Env: []string{"AS_VALIDATOR=1"}}.Check(map[string]any{"mx": 4})
	if _, err := wrong(t.Context(), Subject{}); err == nil || !strings.Contains(err.Error(), "exit status 2") {
		t.Errorf("got %v", err)
	}
}

// With Status, the exit status of a program is the verdict.
func TestExecByStatus(t *testing.T) {
	for _, c := range []struct {
		name, script string
		valid        bool
		reason, err  string
	}{
		{"yes", "exit 0", true, "exit status 0", ""},
		{"yes, whatever it prints", `echo '{"valid": false, "reason": "bad"}'`, true, "exit status 0", ""},
		{"no", "echo broken; exit 1", false, "broken", ""},
		{"no, whatever it prints", `echo '{"valid": true}'; exit 3`, false, `{"valid": true}`, ""},
		{"no without a word", "exit 255", false, "exit status 255 without output", ""},
		{"both streams in order", "echo a; echo b >&2; echo c; echo d >&2; exit 2", false, "a\nb\nc\nd", ""},
		{"a status like a signal's", "echo no; exit 137", false, "no", ""},
		{"bytes that are no text", `printf 'a\377b'; exit 1`, false, "a\uFFFDb", ""},
		{"killed", "echo half; kill -9 $$", false, "", "killed by signal 9; it said: half"},
		{"a missing command", "no-such-command", false, "", "exit status 127: a command is missing or cannot be started; it said: "},
		{"a file that is no program", "/dev/null", false, "", "exit status 126: a command is missing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := shell(c.script)
			e.Status = true
			v, err := e.Check(nil)(t.Context(), Subject{Content: strings.Repeat("x", 1<<20)})
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("got %+v, %v", v, err)
				}
				return
			}
			if err != nil || v.Valid != c.valid || v.Reason != c.reason {
				t.Errorf("got %+v, %v", v, err)
			}
		})
	}
	for name, e := range map[string]Exec{
		"not started": {Argv: []string{"/no/such/program"}, Status: true},
		"out of time": {Argv: []string{"sleep", "100"}, Status: true, Timeout: 100 * time.Millisecond},
	} {
		if v, err := e.Check(nil)(t.Context(), Subject{}); err == nil || v.Valid || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %+v, %v", name, v, err)
		}
	}
}

// Long output is not an error. The reason is its end: at most 4 KB, whole
// characters, and no part of a secret.
func TestExecByStatusEnd(t *testing.T) {
	t.Setenv("MY_KEY", strings.Repeat("secret", 100))
	e := shell(`i=0; while [ $i -lt 9000 ]; do echo "é line $i of some length, to be more than a pipe and a tail hold"; i=$((i+1)); done
printf '%s' "$MY_KEY"; head -c 3800 /dev/zero | tr '\0' x; echo; echo last >&2; exit 1`)
	e.Status, e.Env, e.Timeout = true, []string{"MY_KEY"}, time.Minute
	v, err := e.Check(nil)(t.Context(), Subject{})
	if err != nil || v.Valid || len(v.Reason) > 4096 || len(v.Reason) < 4000 || !utf8.ValidString(v.Reason) ||
		!strings.HasPrefix(v.Reason, "…") || !strings.HasSuffix(v.Reason, "xx\nlast") {
		t.Errorf("got %d bytes, %v: %.40s … %s", len(v.Reason), err, v.Reason, v.Reason[max(0, len(v.Reason)-20):])
	}
	if strings.Contains(v.Reason, "secret") || !strings.Contains(v.Reason, "[redacted MY_KEY]") {
		t.Errorf("got %s", v.Reason)
	}
}
