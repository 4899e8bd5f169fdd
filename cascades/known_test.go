package cascades

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/runner/tool/query"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/builtins"
	"github.com/seed61713e19/capstan/validators/capy"
	"github.com/seed61713e19/capstan/validators/edit"
	"github.com/seed61713e19/capstan/validators/request"
	"github.com/seed61713e19/capstan/validators/schedule"
)

type readFile struct {
	Path string `json:"path"`
}

type writeFile struct {
	Path    string `json:"path"`
	Content string `json:"content,omitempty"`
}

// known is what the test cascades may name: the built-in validators, judges
// such as a Windlass installation has, the shipped gates, two tools.
func known() Known {
	judges := []validators.Validator{
		validators.NewJudge("grammar_check", "Validates grammar and spelling in text", "Is the grammar right?"),
		validators.NewJudge("content_safety", "Validates that the text is safe", "Is it safe?"),
		validators.NewJudge("style_check", "Validates style", "Is the style right?"),
		validators.NewJudge("quality_check", "Validates quality", "Is it good?"),
		validators.NewJudge("question_check", "Validates a question", "Is it a question?"),
		capy.Validator,
		edit.Validator,
		request.Validator, request.PromiseValidator, request.JudgeValidator,
	}
	run := func(context.Context, readFile) (any, error) { return "", nil }
	write := func(context.Context, writeFile) (any, error) { return "", nil }
	return Known{
		Validators: builtins.Default().With(judges...).With(schedule.Validators(schedule.Options{})...),
		Tools:      tool.NewSet(schedule.Tools(schedule.Options{})...).With(query.Tool(), tool.New("read_file", "Read a file.", run).That(tool.Reads), tool.New("list_files", "List files.", run).That(tool.Reads), tool.New("write_file", "Write a file.", write).That(tool.Writes), tool.New("run_code", "Run code.", run).That(tool.Writes), nowhere{}.Tool(Server{}, "distant")),
		Remote:     nowhere{},
	}
}

// nowhere makes what it is asked for of servers that are not there: loading
// reaches none.
type nowhere struct{}

func (nowhere) Validator(Server, string) validators.Validator {
	return validators.New("mcp", "", func(context.Context, map[string]any, validators.Subject) (validators.Verdict, error) {
		return validators.Verdict{}, os.ErrNotExist
	}, validators.Impure)
}

func (nowhere) Tool(_ Server, name string) tool.Tool {
	return tool.Remote(name, func(context.Context) (string, map[string]any, error) { panic("reached at load") }, nil)
}

// folder opens files beside the test data.
func folder(dir string) Opener {
	return func(name string) ([]byte, error) { return os.ReadFile(path.Join(dir, name)) }
}

// files opens files that are written out in the test.
func files(texts map[string]string) Opener {
	return func(name string) ([]byte, error) {
		text, ok := texts[name]
		if !ok {
			return nil, os.ErrNotExist
		}
		return []byte(text), nil
	}
}

// parsed is a cascade that has nothing wrong with it.
func parsed(t testing.TB, source string, texts map[string]string) *Cascade {
	t.Helper()
	c, err := Parse("test.yaml", []byte(source), files(texts), known())
	if err != nil {
		t.Fatalf("%v\nin\n%s", err, source)
	}
	return c
}

// found is what is wrong with a text.
func found(t testing.TB, name, source string) Diagnostics {
	t.Helper()
	_, err := Parse(name, []byte(source), files(nil), known())
	if err == nil {
		return nil
	}
	return err.(Diagnostics)
}

func glob(t testing.TB, patterns ...string) []string {
	t.Helper()
	var names []string
	for _, p := range patterns {
		matches, err := filepath.Glob(p)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, matches...)
	}
	if len(names) == 0 {
		t.Fatalf("no file matches %s", strings.Join(patterns, ", "))
	}
	return names
}
