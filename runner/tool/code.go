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

// interpreters are the programs that read a text of a language from their
// standard input and run it, by the language's name.
var interpreters = map[string][]string{
	"python": {"python3", "-"}, "javascript": {"node", "-"}, "bash": {"bash", "-s"}, "sh": {"sh", "-s"}, "ruby": {"ruby", "-"}, "perl": {"perl", "-"},
}

// Interprets reports whether a program is one of those that run a text of a language,
// such as /usr/bin/python3.
func Interprets(program string) bool {
	name := strings.TrimRight(path.Base(program), "0123456789.")
	for _, argv := range interpreters {
		if strings.TrimRight(argv[0], "0123456789.") == name {
			return true
		}
	}
	return false
}

// RunCode makes run_code, which is [RunCommand] for a text that an interpreter
// runs: it is allowed where that is, and nothing else confines what it does.
func RunCode(o CommandOptions) Tool {
	names := strings.Join(slices.Sorted(maps.Keys(interpreters)), ", ")
	return New("run_code", "Run a program that you write, in one of "+names+", in the working directory. What it prints is the result.", o.runCode).That(Writes)
}

type runCode struct {
	Code     string `json:"code" jsonschema:"the whole program"`
	Language string `json:"language,omitempty" jsonschema:"what it is written in; python unless it is said"`
}

func (o CommandOptions) runCode(ctx context.Context, a runCode) (any, error) {
	a.Language = cmp.Or(a.Language, "python")
	argv, known := interpreters[strings.ToLower(a.Language)]
	if !known {
		return nil, fmt.Errorf("language %q has no interpreter here; there are %s", a.Language, strings.Join(slices.Sorted(maps.Keys(interpreters)), ", "))
	}
	return o.run(ctx, runCommand{Argv: argv, Stdin: a.Code})
}
