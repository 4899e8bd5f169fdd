package testcases

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/internal/patterns"
)

// A casePage is case.yaml.
type casePage struct {
	Version int               `yaml:"version"`
	Cascade string            `yaml:"cascade"`
	Source  string            `yaml:"source,omitempty"`
	Files   map[string]string `yaml:"files,omitempty"`
	Model   string            `yaml:"model,omitempty"`
	Seed    string            `yaml:"seed,omitempty"`
	Order   int               `yaml:"order,omitempty"`
	Expect  expectPage        `yaml:"expect"`
}

// An expectPage is the expected result of the run.
type expectPage struct {
	Status   string            `yaml:"status"`
	Error    *errorPage        `yaml:"error,omitempty"`
	Calls    int               `yaml:"model_calls"`
	Phases   []phasePage       `yaml:"phases"`
	Outputs  map[string]*value `yaml:"outputs"`
	Degraded []degradedPage    `yaml:"degraded,omitempty"`
	Verdicts []verdictPage     `yaml:"verdicts"`
}

type errorPage struct {
	Code    string `yaml:"code"`
	Phase   string `yaml:"phase,omitempty"`
	Message text   `yaml:"message"`
}

type phasePage struct {
	Name     string `yaml:"name"`
	Status   string `yaml:"status"`
	Attempts int    `yaml:"attempts"`
	Turns    int    `yaml:"turns"`
	Calls    int    `yaml:"model_calls"`
	Items    int    `yaml:"items,omitempty"`

	Failures []itemFailurePage `yaml:"failures,omitempty"`
}

type itemFailurePage struct {
	Index   int    `yaml:"index"`
	Code    string `yaml:"code"`
	Message string `yaml:"message"`
}

type degradedPage struct {
	Phase  string   `yaml:"phase"`
	Checks []string `yaml:"checks,flow"`
}

type verdictPage struct {
	Path      string `yaml:"path"`
	Moment    string `yaml:"moment"`
	Validator string `yaml:"validator"`
	Mode      string `yaml:"mode"`
	Valid     *bool  `yaml:"valid,omitempty"`
	Reason    *text  `yaml:"reason,omitempty"`
	Error     *text  `yaml:"error,omitempty"`
}

// The entries of files of effects, one type for each kind.
type (
	callPage struct {
		Path      string         `yaml:"call"`
		Role      string         `yaml:"role,omitempty"`
		Model     string         `yaml:"model,omitempty"`
		Continues string         `yaml:"continues,omitempty"`
		Tools     []string       `yaml:"tools,omitempty,flow"`
		Schema    string         `yaml:"schema,omitempty"`
		Params    string         `yaml:"params,omitempty"`
		Messages  []messagePage  `yaml:"messages"`
		Reply     *text          `yaml:"reply,omitempty"`
		Calls     []toolCallPage `yaml:"tool_calls,omitempty"`
		Failure   *failurePage   `yaml:"failure,omitempty"`
		Usage     *usagePage     `yaml:"usage,omitempty,flow"`
	}
	toolPage struct {
		Path        string `yaml:"tool"`
		Name        string `yaml:"name"`
		Arguments   *value `yaml:"arguments"`
		Result      *value `yaml:"result,omitempty"`
		Failed      bool   `yaml:"failed,omitempty"`
		Unavailable bool   `yaml:"unavailable,omitempty"`
	}
	findingPage struct {
		Path    string `yaml:"validator"`
		Name    string `yaml:"name"`
		Digest  string `yaml:"digest"`
		Program string `yaml:"program,omitempty"`
		Verdict *value `yaml:"verdict,omitempty"`
		Failure *text  `yaml:"failure,omitempty"`
	}
	questionPage struct {
		Path    string   `yaml:"ask"`
		Phase   string   `yaml:"phase"`
		Prompt  text     `yaml:"question"`
		Type    string   `yaml:"type"`
		Options []string `yaml:"options,omitempty,flow"`
		Answer  *value   `yaml:"answer,omitempty"`
		By      string   `yaml:"by,omitempty"`
		Expired bool     `yaml:"expired,omitempty"` // nobody answered in time
	}
	timeoutPage struct {
		Path string `yaml:"timeout"`
	}
)

// A messagePage has one of the first four fields.
type messagePage struct {
	System    *text          `yaml:"system,omitempty"`
	User      *text          `yaml:"user,omitempty"`
	Assistant *text          `yaml:"assistant,omitempty"`
	Tool      *text          `yaml:"tool,omitempty"`
	ID        string         `yaml:"id,omitempty"` // of the tool call
	Calls     []toolCallPage `yaml:"tool_calls,omitempty"`
}

type toolCallPage struct {
	ID        string `yaml:"id"`
	Name      string `yaml:"name"`
	Arguments text   `yaml:"arguments"`
}

type failurePage struct {
	Class   string `yaml:"class"`
	Status  int    `yaml:"status,omitempty"`
	Message text   `yaml:"message"`
}

type usagePage struct {
	Calls      int     `yaml:"calls"`
	Input      int     `yaml:"input_tokens"`
	Output     int     `yaml:"output_tokens"`
	Cached     int     `yaml:"cached_tokens,omitempty"`
	CacheWrite int     `yaml:"cache_write_tokens,omitempty"`
	Reasoning  int     `yaml:"reasoning_tokens,omitempty"`
	Cost       float64 `yaml:"cost_usd,omitempty"`
	Estimated  bool    `yaml:"estimated,omitempty"`
}

// A sharedPage has the tools and schemas of several requests.
type sharedPage struct {
	Tools   map[string]sharedToolPage `yaml:"tools,omitempty"`
	Schemas map[string]*value         `yaml:"schemas,omitempty"`
}

type sharedToolPage struct {
	Name        string `yaml:"name"`
	Description text   `yaml:"description"`
	Parameters  *value `yaml:"parameters"`
}

// A lineError is a mistake at a line of a file.
type lineError struct {
	line    int
	message string
}

func (e *lineError) Error() string { return fmt.Sprintf("line %d: %s", e.line, e.message) }

func wrong(n *yaml.Node, format string, args ...any) error {
	return &lineError{n.Line, fmt.Sprintf(format, args...)}
}

var (
	ofType   = patterns.Lazy(` into testcases\.\w+$| in type \S+$`)
	yamlLine = patterns.Lazy(`^(?:yaml: )?line (\d+): (?s:(.*))$`)
)

// decode decodes a node into out. Unknown keys are errors.
func decode(file string, n *yaml.Node, out any) error {
	if err := known(n, reflect.TypeOf(out).Elem()); err != nil {
		return placed(file, err)
	}
	if err := n.Decode(out); err != nil {
		return placed(file, err)
	}
	return nil
}

// placed adds the file, and the line if known, to an error: file:line: message.
func placed(file string, err error) error {
	lines := []string{err.Error()}
	if many, ok := err.(*yaml.TypeError); ok {
		lines = many.Errors
	}
	for i, line := range lines {
		line = ofType().ReplaceAllString(line, "")
		if m := yamlLine().FindStringSubmatch(line); m != nil {
			lines[i] = fmt.Sprintf("%s:%s: %s", file, m[1], m[2])
		} else {
			lines[i] = file + ": " + strings.TrimPrefix(line, "yaml: ")
		}
	}
	return fmt.Errorf("%s", strings.Join(lines, "\n"))
}

var unmarshaler = reflect.TypeFor[yaml.Unmarshaler]()

// known returns an error if n has a key without a field in the type.
func known(n *yaml.Node, t reflect.Type) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if reflect.PointerTo(t).Implements(unmarshaler) {
		if t == reflect.TypeFor[value]() && n.ShortTag() == "!!null" {
			n.Tag = nilTag // yaml.v3 does not decode null
		}
		return nil
	}
	switch {
	case n.Kind == yaml.AliasNode:
		return wrong(n, "anchors and aliases have no place here")
	case t.Kind() == reflect.Struct && n.Kind == yaml.MappingNode:
		return knownFields(n, t)
	case t.Kind() == reflect.Struct && n.ShortTag() != "!!null":
		return wrong(n, "want keys and values")
	case t.Kind() == reflect.Slice, t.Kind() == reflect.Map:
		for i, child := range n.Content {
			if t.Kind() == reflect.Map && i%2 == 0 {
				continue
			}
			if err := known(child, t.Elem()); err != nil {
				return err
			}
		}
	}
	return nil
}

func knownFields(n *yaml.Node, t reflect.Type) error {
	fields := map[string]reflect.Type{}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		fields[name] = f.Type
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		field, ok := fields[key.Value]
		if !ok {
			return wrong(key, "unknown key %q; there are %s", key.Value, strings.Join(slices.Sorted(maps.Keys(fields)), ", "))
		}
		if err := known(n.Content[i+1], field); err != nil {
			return err
		}
	}
	return nil
}
