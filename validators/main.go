package validators

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"

	"github.com/seed61713e19/capstan/internal/inputs"
	"github.com/seed61713e19/capstan/internal/schema"
)

// Main is the main function of a program that is one validator, so that any cascade can use it in
// the exec form:
//
//	func main() { validators.Main(mine) }
//
// Without a file it reads a subject from standard input, as [Exec] sends it. With a file, or -
// for standard input, it checks that text. The flag --with sets a parameter (k=text, k:=JSON,
// k=@file or k:=@file). As in capstan gate, the flags --input, --output and --state set the
// values that the validator reads besides the text. The verdict goes to standard output. The exit
// status is 0 for a valid text, 1 for an invalid one, 2 for wrong usage or parameters, and 3 if
// there is no verdict.
func Main(v Validator) {
	os.Exit(program{v, os.Stdin, os.Stdout, os.Stderr}.run(os.Args[1:]))
}

// A program is a validator with the streams of a command.
type program struct {
	validator      Validator
	stdin          io.Reader
	stdout, stderr io.Writer
}

// The exit statuses of a program.
const (
	exitValid = iota
	exitInvalid
	exitUsage
	exitError
)

func (p program) run(args []string) int {
	call, err := parseCall(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(p.stdout, p.help())
		return exitValid
	}
	if err != nil {
		return p.fail(exitUsage, fmt.Errorf("%w\n%s", err, p.usage()))
	}
	s, with, err := p.subject(call)
	if err != nil {
		return p.fail(exitUsage, err)
	}
	check, err := p.validator.Bind(with)
	if err != nil {
		return p.fail(exitUsage, err)
	}
	verdict, err := check(context.Background(), s)
	if err != nil {
		return p.fail(exitError, err)
	}
	e := json.NewEncoder(p.stdout)
	e.SetEscapeHTML(false)
	switch err := e.Encode(verdict); {
	case err != nil:
		return p.fail(exitError, fmt.Errorf("verdict: %w", err))
	case verdict.Valid:
		return exitValid
	}
	return exitInvalid
}

func (p program) fail(status int, err error) int {
	fmt.Fprintln(p.stderr, err)
	return status
}

func (p program) usage() string {
	return fmt.Sprintf("usage: %s [FILE|-] [--with k=text|k:=JSON|k=@file]… [--input …] [--output phase=…] [--state …]", p.validator.Name)
}

func (p program) help() string {
	params, _ := json.MarshalIndent(p.validator.Params(), "", "  ")
	return fmt.Sprintf("%s: %s\n\n%s\nWithout a file, a subject as JSON is read from standard input.\n\nparameters: %s\n",
		p.validator.Name, p.validator.Description, p.usage(), params)
}

// A call is a parsed command line.
type call struct {
	file    string // "" for a subject as JSON from standard input
	with    []string
	subject inputs.SubjectFlags
}

// parseCall parses a command line. Flags may follow the file.
func parseCall(args []string) (c call, err error) {
	set := flag.NewFlagSet("", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	add := func(list *[]string, name, text string) {
		set.Func(name, text, func(value string) error {
			*list = append(*list, value)
			return nil
		})
	}
	add(&c.with, "with", "parameter")
	c.subject.Each(add)
	for len(args) > 0 {
		if err := set.Parse(args); err != nil {
			return c, err
		}
		if set.NArg() == 0 {
			break
		}
		if c.file != "" {
			return c, errors.New("more than one file")
		}
		c.file, args = set.Arg(0), set.Args()[1:]
	}
	return c, nil
}

// subject reads the subject and the parameters of a call.
func (p program) subject(c call) (s Subject, with map[string]any, err error) {
	files := inputs.Files{Stdin: p.stdin}
	text, err := files.Bytes(cmp.Or(c.file, "-"))
	if err != nil {
		return s, nil, err
	}
	if c.file != "" {
		s, with = Subject{Content: string(text)}, map[string]any{}
	} else if s, with, err = parseQuestion(text); err != nil {
		return s, nil, err
	}
	own, err := files.Assignments(c.with)
	if err != nil {
		return s, nil, fmt.Errorf("--with %w", err)
	}
	input, outputs, state, err := c.subject.Read(files)
	if err != nil {
		return s, nil, err
	}
	maps.Copy(with, own)
	s.Input, s.Outputs, s.State = over(s.Input, input), over(s.Outputs, outputs), over(s.State, state)
	return s, with, nil
}

// over returns a copy of values in which others replace values of the same name.
func over(values, others map[string]any) map[string]any {
	if len(others) == 0 {
		return values
	}
	all := map[string]any{}
	maps.Copy(all, values)
	maps.Copy(all, others)
	return all
}

// parseQuestion parses a request of [Exec]. It ignores unknown keys.
func parseQuestion(asked []byte) (Subject, map[string]any, error) {
	with := map[string]any{}
	v, err := schema.Parse(asked)
	if err != nil {
		return Subject{}, with, fmt.Errorf("subject: %w", err)
	}
	object, _ := v.(map[string]any)
	s := Subject{Output: object["output"]}
	const text, number, mapping = "a text", "a whole number", "an object"
	errs := errors.Join(
		member(object, "content", text, &s.Content), member(object, "input", mapping, &s.Input), member(object, "state", mapping, &s.State),
		member(object, "outputs", mapping, &s.Outputs), member(object, "turn", number, &s.Turn), member(object, "attempt", number, &s.Attempt),
		member(object, "key", text, &s.Key), member(object, "with", mapping, &with))
	if _, ok := object["content"]; !ok {
		errs = errors.New(`subject: want an object with "content"`)
	}
	if with == nil {
		with = map[string]any{}
	}
	return s, with, errs
}

// member decodes one key of a request. The value null counts as missing. The kind appears in the
// error.
func member[T any](object map[string]any, key, kind string, into *T) error {
	v, ok := object[key]
	if !ok || v == nil {
		return nil
	}
	if *into, ok = v.(T); !ok {
		return fmt.Errorf("subject: %q must be %s, not %s", key, kind, schema.Kind(v))
	}
	return nil
}
