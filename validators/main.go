package validators

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"strings"

	"github.com/seed61713e19/capstan/validators/schema"
)

// Main is the main function of a program that is one validator, so that any
// cascade can use it in the exec form:
//
//	func main() { validators.Main(mine) }
//
// Without a file it reads a subject from standard input, as [Exec] sends it;
// with a file, or - for standard input, it judges that text with the parameters
// that --with gives (k=text, k:=JSON, k=@file). The verdict goes to standard
// output. It exits with 0 for a yes, 1 for a no, 2 where it was called wrongly
// (parameters included) and 3 where there is no verdict.
func Main(v Validator) {
	os.Exit(program{v, os.Stdin, os.Stdout, os.Stderr}.run(os.Args[1:]))
}

// A program is a validator with the streams of a command.
type program struct {
	validator      Validator
	stdin          io.Reader
	stdout, stderr io.Writer
}

// What a program exits with.
const (
	exitValid = iota
	exitInvalid
	exitUsage
	exitError
)

func (p program) run(args []string) int {
	call, err := parseCall(args)
	if err != nil {
		return p.fail(exitUsage, fmt.Errorf("%w\n%s", err, p.usage()))
	}
	if call.help {
		fmt.Fprint(p.stdout, p.help())
		return exitValid
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
	return fmt.Sprintf("usage: %s [--with k=text|k:=JSON|k=@file]… [FILE|-]", p.validator.Name)
}

func (p program) help() string {
	params, _ := json.MarshalIndent(p.validator.Params(), "", "  ")
	return fmt.Sprintf("%s: %s\n\n%s\nWithout a file, a subject as JSON is read from standard input.\n\nparameters: %s\n",
		p.validator.Name, p.validator.Description, p.usage(), params)
}

// A call is what the command line says.
type call struct {
	help bool
	file string // empty: JSON from standard input
	with map[string]any
}

func parseCall(args []string) (call, error) {
	c := call{with: map[string]any{}}
	for i := 0; i < len(args); i++ {
		arg := args[i]
		value, joined := strings.CutPrefix(arg, "--with=")
		switch {
		case arg == "--help" || arg == "-h":
			c.help = true
		case arg == "--with" && i+1 < len(args):
			i++
			value, joined = args[i], true
		case joined:
		case arg != "-" && strings.HasPrefix(arg, "-"):
			return c, fmt.Errorf("unknown flag %s", arg)
		case c.file != "":
			return c, errors.New("more than one file")
		default:
			c.file = arg
		}
		if joined {
			if err := assign(c.with, value); err != nil {
				return c, err
			}
		}
	}
	return c, nil
}

// assign reads one k=text, k:=JSON or k=@file.
func assign(with map[string]any, arg string) error {
	key, value, ok := strings.Cut(arg, "=")
	name, isJSON := strings.CutSuffix(key, ":")
	if !ok || name == "" {
		return fmt.Errorf("--with %s: want k=text, k:=JSON or k=@file", arg)
	}
	file, isFile := strings.CutPrefix(value, "@")
	switch {
	case isJSON:
		v, err := schema.Parse([]byte(value))
		if err != nil {
			return fmt.Errorf("--with %s: %w", arg, err)
		}
		with[name] = v
	case isFile:
		text, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("--with %s: %w", arg, err)
		}
		with[name] = string(text)
	default:
		with[name] = value
	}
	return nil
}

func (p program) subject(c call) (Subject, map[string]any, error) {
	text, err := p.read(c.file)
	if err != nil {
		return Subject{}, nil, err
	}
	if c.file != "" {
		return Subject{Content: string(text)}, c.with, nil
	}
	s, with, err := parseQuestion(text)
	maps.Copy(with, c.with)
	return s, with, err
}

func (p program) read(file string) ([]byte, error) {
	if file == "" || file == "-" {
		return io.ReadAll(p.stdin)
	}
	return os.ReadFile(file)
}

// parseQuestion reads what [Exec] sends. Keys it does not know are left alone.
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

// member reads one key of the question, of a kind; null is as good as missing.
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
