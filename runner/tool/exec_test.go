package tool_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/runner/tool/tooltest"
)

// play runs the programs of these tests.
func play(role string) {
	switch role {
	case "echo":
		_, _ = io.Copy(os.Stdout, os.Stdin)
	case "text":
		fmt.Println("just text")
	case "fail":
		for i := range 50 {
			fmt.Fprintln(os.Stderr, "line", i)
		}
		fmt.Println("ignored")
		os.Exit(3)
	case "forever":
		for {
			fmt.Println(strings.Repeat("x", 1000))
		}
	case "hang":
		fmt.Fprintln(os.Stderr, "waiting")
		time.Sleep(time.Hour) // the runtime without cgo reports select {} as a deadlock
	case "binary":
		os.Stdout.Write([]byte{0xff, 0xfe, 0x00})
	case "args":
		text, _ := json.Marshal(map[string]any{"args": os.Args[1:], "home": os.Getenv("HOME"), "secret": os.Getenv("CAPSTAN_SECRET")})
		os.Stdout.Write(text)
	case "deep":
		fmt.Print(strings.Repeat("[", 1<<20))
	}
}

func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func program(t *testing.T, role string, params map[string]any) tool.Tool {
	e := tool.Exec{Argv: []string{self(t), "; echo $HOME", "*"}, Env: []string{"CAPSTAN_TOOL_TEST=" + role}, Timeout: 20 * time.Second}
	return e.Tool("program", "a program", params)
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var closed = map[string]any{
	"type": "object", "required": []any{"n"}, "additionalProperties": false,
	"properties": map[string]any{"n": map[string]any{"type": "integer"}},
}

func TestExec(t *testing.T) {
	tooltest.Run(t, program(t, "echo", closed), map[string]any{"n": 3})
	r := run(t, program(t, "echo", closed), map[string]any{"n": 3})
	if got := asJSON(t, r.Value); got != `{"arguments":{"n":3},"key":"run/draft","name":"program"}` {
		t.Errorf("the program read %s", got)
	}
	if r := run(t, program(t, "text", nil), nil); r.Value != "just text" {
		t.Errorf("got %q", r.Value)
	}
	r = run(t, program(t, "args", nil), nil)
	if got := r.Value.(map[string]any)["args"]; asJSON(t, got) != `["; echo $HOME","*"]` {
		t.Errorf("the program was given %v", got)
	}
}

// A program receives only the secrets that are passed by name.
func TestExecEnvironment(t *testing.T) {
	t.Setenv("CAPSTAN_SECRET", "key")
	t.Setenv("HOME", "/home/owl")
	for _, c := range []struct {
		env  []string
		want string
	}{{nil, ""}, {[]string{"CAPSTAN_SECRET"}, "key"}, {[]string{"CAPSTAN_SECRET=<{{ env.CAPSTAN_SECRET }}>"}, "<key>"}} {
		e := tool.Exec{Argv: []string{self(t)}, Env: append(c.env, "CAPSTAN_TOOL_TEST=args"), Timeout: 20 * time.Second}
		got := run(t, e.Tool("x", "x", nil), nil).Value.(map[string]any)
		if got["secret"] != c.want || got["home"] != "/home/owl" {
			t.Errorf("%q: got %v", c.env, got)
		}
	}
	fails(t, tool.Exec{Argv: []string{self(t)}, Env: []string{"CAPSTAN_NONE"}}.Tool("x", "x", nil), nil, "not started: the environment has no CAPSTAN_NONE")
}

func TestExecFails(t *testing.T) {
	fails(t, program(t, "echo", closed), map[string]any{"n": "3"}, "arguments: $.n: must be an integer, is a string")
	fails(t, program(t, "echo", closed), map[string]any{"n": 1, "m": 2}, "'m' not allowed")
	fails(t, program(t, "echo", map[string]any{"type": "strin"}), nil, "parameters: ")
	fails(t, program(t, "binary", nil), nil, "not UTF-8")
	fails(t, program(t, "forever", nil), nil, "too much output")
	fails(t, tool.Exec{Argv: []string{"/no/such/program"}}.Tool("x", "x", nil), nil, "/no/such/program not started")
	fails(t, tool.Exec{}.Tool("x", "x", nil), nil, "not started")
	if r := run(t, program(t, "deep", nil), nil); r.Failed || len(r.Value.(string)) != 1<<20 {
		t.Error("text that looks like deep JSON is text")
	}
}

func TestExecQuotesStandardError(t *testing.T) {
	text := run(t, program(t, "fail", nil), nil).Text()
	if !strings.HasPrefix(text, "error: exit status 3: line 30\n") || !strings.HasSuffix(text, "line 49") {
		t.Errorf("got %q", text)
	}
}

func TestExecTimeout(t *testing.T) {
	e := tool.Exec{Argv: []string{self(t)}, Env: []string{"CAPSTAN_TOOL_TEST=hang"}, Timeout: 300 * time.Millisecond}
	fails(t, e.Tool("x", "x", nil), nil, "out of time")
}

func TestRunCommand(t *testing.T) {
	t.Setenv("CAPSTAN_SECRET", "key")
	t.Setenv("CAPSTAN_TOOL_TEST", "")
	dir := t.TempDir()
	allowed := tool.Options{AllowExec: true, Root: dir}
	tooltest.Run(t, builtin(t, "run_command", allowed), map[string]any{"argv": []any{"sh", "-c", "exit 2"}})

	r := run(t, builtin(t, "run_command", allowed), map[string]any{"argv": []any{"sh", "-c", `pwd; cat; echo "$CAPSTAN_SECRET$1" >&2; exit 7`, "sh", "$HOME *"}, "stdin": "in"})
	want := map[string]any{"exit_code": 7, "stdout": dir + "\nin", "stderr": "$HOME *\n"}
	if asJSON(t, r.Value) != asJSON(t, want) {
		t.Errorf("got %v, want %v", r.Value, want)
	}
	fails(t, builtin(t, "run_command", tool.Options{}), map[string]any{"argv": []any{"true"}}, "--allow-exec")
	fails(t, builtin(t, "run_command", allowed), map[string]any{"argv": []any{}}, "argv must list")
	fails(t, builtin(t, "run_command", allowed), map[string]any{"argv": []any{""}}, "argv must list")
	fails(t, builtin(t, "run_command", allowed), map[string]any{"argv": []any{"a\x00b"}}, "not started")
	fails(t, builtin(t, "run_command", allowed), map[string]any{"argv": "ls"}, "$.argv: must be null or an array, is a string")
	fails(t, builtin(t, "run_command", allowed), map[string]any{"argv": []any{"sh", "-c", "while :; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy; done"}}, "too much output")
}

func TestRunCode(t *testing.T) {
	allowed := tool.Options{AllowExec: true, Root: t.TempDir()}
	tooltest.Run(t, builtin(t, "run_code", allowed), map[string]any{"code": "exit 2", "language": "sh"})
	r := run(t, builtin(t, "run_code", allowed), map[string]any{"code": "echo \"$0\" '$HOME *'\nread line\nnot read as code\nexit 3", "language": "SH"})
	if got := r.Value.(map[string]any); got["stdout"] != "sh $HOME *\n" || fmt.Sprint(got["exit_code"]) != "3" {
		t.Errorf("got %v", got)
	}
	fails(t, builtin(t, "run_code", tool.Options{}), map[string]any{"code": "exit 0", "language": "sh"}, "--allow-exec")
	fails(t, builtin(t, "run_code", allowed), map[string]any{"code": "x", "language": "sh -c reboot"}, "has no interpreter here; there are bash")
	fails(t, builtin(t, "run_code", allowed), map[string]any{"language": "sh"}, "code")
}

func TestRunCommandOutputIsReadable(t *testing.T) {
	o := tool.Options{AllowExec: true}
	r := run(t, builtin(t, "run_command", o), map[string]any{"argv": []any{"printf", `\377\000`}})
	if r.Failed || r.Value.(map[string]any)["stdout"] != "\uFFFD\x00" {
		t.Errorf("got %q", r.Value)
	}
}
