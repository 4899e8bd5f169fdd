// Package cascadestest has the tools and files that cascades in tests may name.
package cascadestest

import (
	"context"
	"sync"

	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/runner/tool/query"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/builtins"
	"github.com/seed61713e19/capstan/validators/capy"
	"github.com/seed61713e19/capstan/validators/edit"
	"github.com/seed61713e19/capstan/validators/request"
	"github.com/seed61713e19/capstan/validators/schedule"
)

// Validators are the built-in ones, judges such as a Windlass installation has, and
// the shipped gates.
var Validators = sync.OnceValue(func() validators.Set {
	return builtins.Default().With(
		validators.NewJudge("grammar_check", "Validates grammar and spelling in text", "Is the grammar right?"),
		validators.NewJudge("content_safety", "Validates that the text is safe", "Is it safe?"),
		validators.NewJudge("style_check", "Validates style", "Is the style right?"),
		validators.NewJudge("quality_check", "Validates quality", "Is it good?"),
		validators.NewJudge("question_check", "Validates a question", "Is it a question?"),
		capy.Validator, capy.Claims,
		edit.Validator,
		request.Validator, request.PromiseValidator, request.JudgeValidator,
	).With(schedule.Validators(schedule.Options{})...)
})

type readFile struct {
	Path string `json:"path"`
}

type writeFile struct {
	Path    string `json:"path"`
	Content string `json:"content,omitempty"`
}

// Tools returns the tools of the shipped gates and some tools without an
// effect. One of them is [Distant].
var Tools = sync.OnceValue(func() tool.Set {
	run := func(context.Context, readFile) (any, error) { return "", nil }
	write := func(context.Context, writeFile) (any, error) { return "", nil }
	return tool.NewSet(schedule.Tools(schedule.Options{})...).With(
		query.Tool(), tool.New("read_file", "Read a file.", run).WithEffect(tool.Reads), tool.New("list_files", "List files.", run).WithEffect(tool.Reads),
		tool.New("write_file", "Write a file.", write).WithEffect(tool.Writes), tool.New("run_code", "Run code.", run).WithEffect(tool.Writes),
		Distant("distant"))
})

// Distant is a tool of a server that is not there: it panics where it is reached,
// since loading reaches none.
func Distant(name string) tool.Tool {
	return tool.Remote(name, func(context.Context) (string, map[string]any, error) { panic("reached at load") }, nil)
}
