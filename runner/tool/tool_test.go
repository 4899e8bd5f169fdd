package tool_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/runner/tool/tooltest"
)

// TestMain lets this binary run the programs of the tests.
func TestMain(m *testing.M) {
	if role := os.Getenv("CAPSTAN_TOOL_TEST"); role != "" {
		play(role)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func run(t *testing.T, tl tool.Tool, arguments map[string]any) tool.Result {
	t.Helper()
	r, err := tl.Run(t.Context(), tool.Call{Name: tl.Name, Arguments: arguments, Key: "run/draft"})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// fails checks that a call fails, and that its text contains the reason.
func fails(t *testing.T, tl tool.Tool, arguments map[string]any, want string) {
	t.Helper()
	r := run(t, tl, arguments)
	if !r.Failed || !strings.Contains(r.Text(), want) {
		t.Errorf("%v: got %v %.300q, want a failure that says %q", arguments, r.Failed, r.Text(), want)
	}
}

func TestPanicIsAFailedResult(t *testing.T) {
	broken := tool.New("broken", "break", func(context.Context, struct{}) (any, error) { panic("oh no") })
	fails(t, broken, nil, "oh no")
}

func TestResultMustEncode(t *testing.T) {
	odd := tool.New("odd", "give a channel", func(context.Context, struct{}) (any, error) { return make(chan int), nil })
	fails(t, odd, nil, "result: ")
	worse := tool.New("worse", "give what panics", func(context.Context, struct{}) (any, error) { return []any{panics{}}, nil })
	fails(t, worse, nil, "result: panic: no")
}

// panics has no JSON form.
type panics struct{}

func (panics) MarshalJSON() ([]byte, error) { panic("no") }

func TestCallThatIsOverIsNotBegun(t *testing.T) {
	begun := false
	tl := tool.New("touch", "touch", func(context.Context, struct{}) (any, error) { begun = true; return nil, nil })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tl.Run(ctx, tool.Call{}); !errors.Is(err, context.Canceled) || begun {
		t.Errorf("got %v, begun %v", err, begun)
	}
}

func TestRemote(t *testing.T) {
	asked := 0
	away := errors.New("nobody there")
	ask := func(context.Context) (string, map[string]any, error) {
		if asked++; asked == 1 {
			return "", nil, away
		}
		return "echo the arguments", map[string]any{"type": "object", "required": []any{"x"}}, nil
	}
	tl := tool.Remote("echo", ask, func(_ context.Context, c tool.Call) (any, error) { return c.Arguments, nil })
	if asked != 0 {
		t.Error("asked before it was needed")
	}
	if _, err := tl.Described(t.Context()); !errors.Is(err, away) {
		t.Errorf("got %v", err)
	}
	described, err := tl.Described(t.Context())
	if err != nil || described.Description != "echo the arguments" || described.Params()["required"] == nil {
		t.Errorf("got %+v, %v", described, err)
	}
	if r := run(t, described, map[string]any{"x": 1}); r.Text() != `{"x":1}` {
		t.Errorf("got %s", r.Text())
	}
}

func TestValue(t *testing.T) {
	for text, want := range map[string]string{
		"hello\n":              `"hello"`,
		" two\nlines \r\n\n":   `" two\nlines "`,
		"42\n":                 `"42"`,
		"{\"a\": [1, 2.50]}\n": `{"a":[1,2.50]}`,
		" [1]\n":               `[1]`,
		"{\"a\": 1} {}":        `"{\"a\": 1} {}"`,
		"[broken":              `"[broken"`,
		"":                     `""`,
	} {
		echo := tool.Declared("v", "v", nil, func(context.Context, tool.Call) (any, error) { return tool.Value(text), nil })
		if r := run(t, echo, nil); asJSON(t, r.Value) != want {
			t.Errorf("%q: got %s, want %s", text, asJSON(t, r.Value), want)
		}
	}
}

func TestBuiltins(t *testing.T) {
	root := t.TempDir()
	good := map[string]map[string]any{
		"read_file":  {"path": "a.txt"},
		"write_file": {"path": "b/c.txt", "content": "new"},
		"list_files": {"path": "."},
	}
	if err := os.WriteFile(root+"/a.txt", []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tl := range tool.Builtins(tool.Options{Root: root}) {
		names = append(names, tl.Name)
		t.Run(tl.Name, func(t *testing.T) { tooltest.Run(t, tl, good[tl.Name]) })
	}
	if got := strings.Join(names, " "); got != "read_file write_file list_files http_get run_command run_code" {
		t.Errorf("got %s", got)
	}
}

// builtin returns the built-in tool with the name.
func builtin(t testing.TB, name string, o tool.Options) tool.Tool {
	t.Helper()
	found, err := tool.NewSet(tool.Builtins(o)...).Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return found
}
