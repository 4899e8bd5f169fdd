package tool

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// interpreters are the commands that run a program from their standard input,
// by language.
var interpreters = map[string][]string{
	"python": {"python3", "-"}, "javascript": {"node", "-"}, "bash": {"bash", "-s"}, "sh": {"sh", "-s"}, "ruby": {"ruby", "-"}, "perl": {"perl", "-"},
}

// IsInterpreter reports whether the program is an interpreter, such as
// /usr/bin/python3.
func IsInterpreter(program string) bool {
	name := strings.TrimRight(path.Base(program), "0123456789.")
	for _, argv := range interpreters {
		if strings.TrimRight(argv[0], "0123456789.") == name {
			return true
		}
	}
	return false
}

// runCodeTool returns run_code, which runs a program with an interpreter.
func runCodeTool(o Options) Tool {
	names := strings.Join(slices.Sorted(maps.Keys(interpreters)), ", ")
	return New("run_code", "Run a program that you write, in one of "+names+", in the working directory. What it prints is the result.", o.runCode).WithEffect(Writes)
}

type runCode struct {
	Code     string `json:"code" jsonschema:"source text of the program"`
	Language string `json:"language,omitempty" jsonschema:"language of the code. Default: python"`
}

func (o Options) runCode(ctx context.Context, a runCode) (any, error) {
	a.Language = cmp.Or(a.Language, "python")
	argv, known := interpreters[strings.ToLower(a.Language)]
	if !known {
		return nil, fmt.Errorf("language %q has no interpreter here; there are %s", a.Language, strings.Join(slices.Sorted(maps.Keys(interpreters)), ", "))
	}
	return o.runCommand(ctx, runCommand{Argv: argv, Stdin: a.Code})
}
