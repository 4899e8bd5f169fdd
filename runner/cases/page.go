package cases

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/validators/patterns"
)

// A head is case.yaml.
type head struct {
	Version int               `yaml:"version"`
	Cascade string            `yaml:"cascade"`
	Source  string            `yaml:"source,omitempty"`
	Files   map[string]string `yaml:"files,omitempty"`
	Model   string            `yaml:"model,omitempty"`
	Seed    string            `yaml:"seed,omitempty"`
	Order   int               `yaml:"order,omitempty"`
	Expect  wish              `yaml:"expect"`
}

// A wish is what the run is expected to come to.
type wish struct {
	Status   string            `yaml:"status"`
	Error    *wishedError      `yaml:"error,omitempty"`
	Calls    int               `yaml:"model_calls"`
	Phases   []wishedPhase     `yaml:"phases"`
	Outputs  map[string]*value `yaml:"outputs"`
	Degraded []wishedDegraded  `yaml:"degraded,omitempty"`
	Verdicts []wishedVerdict   `yaml:"verdicts"`
}

type wishedError struct {
	Code    string `yaml:"code"`
	Phase   string `yaml:"phase,omitempty"`
	Message text   `yaml:"message"`
}

type wishedPhase struct {
	Name     string `yaml:"name"`
	Status   string `yaml:"status"`
	Attempts int    `yaml:"attempts"`
	Turns    int    `yaml:"turns"`
	Calls    int    `yaml:"model_calls"`
	Items    int    `yaml:"items,omitempty"`

	Failures []wishedFailure `yaml:"failures,omitempty"`
}

type wishedFailure struct {
	Index   int    `yaml:"index"`
	Code    string `yaml:"code"`
	Message string `yaml:"message"`
}

type wishedDegraded struct {
	Phase  string   `yaml:"phase"`
	Checks []string `yaml:"checks,flow"`
}

type wishedVerdict struct {
	Path      string `yaml:"path"`
	Moment    string `yaml:"moment"`
	Validator string `yaml:"validator"`
	Mode      string `yaml:"mode"`
	Valid     *bool  `yaml:"valid,omitempty"`
	Reason    *text  `yaml:"reason,omitempty"`
	Error     *text  `yaml:"error,omitempty"`
}

// Pages of effects have a list of these, one of each for every kind.
type (
	calledPage struct {
		Path      string        `yaml:"call"`
		Asks      string        `yaml:"asks,omitempty"`
		Model     string        `yaml:"model,omitempty"`
		Continues string        `yaml:"continues,omitempty"`
		Tools     []string      `yaml:"tools,omitempty,flow"`
		Schema    string        `yaml:"schema,omitempty"`
		Params    string        `yaml:"params,omitempty"`
		Messages  []messagePage `yaml:"messages"`
		Reply     *text         `yaml:"reply,omitempty"`
		Calls     []wishedCall  `yaml:"tool_calls,omitempty"`
		Failure   *failurePage  `yaml:"failure,omitempty"`
		Usage     *usagePage    `yaml:"usage,omitempty,flow"`
	}
	toolPage struct {
		Path      string `yaml:"tool"`
		Name      string `yaml:"name"`
		Arguments *value `yaml:"arguments"`
		Result    *value `yaml:"result,omitempty"`
		Failed    bool   `yaml:"failed,omitempty"`
		Gone      bool   `yaml:"gone,omitempty"`
	}
	findingPage struct {
		Path    string `yaml:"validator"`
		Name    string `yaml:"name"`
		Judged  string `yaml:"judged"`
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

// A messagePage has one of the first four.
type messagePage struct {
	System    *text        `yaml:"system,omitempty"`
	User      *text        `yaml:"user,omitempty"`
	Assistant *text        `yaml:"assistant,omitempty"`
	Tool      *text        `yaml:"tool,omitempty"`
	ID        string       `yaml:"id,omitempty"` // of the tool's call
	Calls     []wishedCall `yaml:"tool_calls,omitempty"`
}

type wishedCall struct {
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
	Calls     int     `yaml:"calls"`
	Input     int     `yaml:"input_tokens"`
	Output    int     `yaml:"output_tokens"`
	Cached    int     `yaml:"cached_tokens,omitempty"`
	Written   int     `yaml:"cache_write_tokens,omitempty"`
	Thought   int     `yaml:"reasoning_tokens,omitempty"`
	Cost      float64 `yaml:"cost_usd,omitempty"`
	Estimated bool    `yaml:"estimated,omitempty"`
}

// A shared page has what many requests have in common.
type shared struct {
	Tools   map[string]sharedTool `yaml:"tools,omitempty"`
	Schemas map[string]*value     `yaml:"schemas,omitempty"`
}

type sharedTool struct {
	Name        string `yaml:"name"`
	Description text   `yaml:"description"`
	Parameters  *value `yaml:"parameters"`
}

// A lineError is a mistake in a page.
type lineError struct {
	line    int
	message string
}

func (e *lineError) Error() string { return fmt.Sprintf("line %d: %s", e.line, e.message) }

func wrong(n *yaml.Node, format string, args ...any) error {
	return &lineError{n.Line, fmt.Sprintf(format, args...)}
}

var (
	ofType   = patterns.Lazy(` into cases\.\w+$| in type \S+$`)
	yamlLine = patterns.Lazy(`^(?:yaml: )?line (\d+): (?s:(.*))$`)
)

// read decodes a page into what out points to, and takes no key that it has no
// place for. Errors begin with file and, where it is known, line.
func read(file string, source []byte, out any) (err error) {
	var n yaml.Node
	if err := yaml.Unmarshal(source, &n); err != nil {
		return placed(file, err)
	}
	if len(n.Content) == 0 {
		return fmt.Errorf("%s: it is empty", file)
	}
	return decode(file, n.Content[0], out)
}

func decode(file string, n *yaml.Node, out any) error {
	if err := known(n, reflect.TypeOf(out).Elem()); err != nil {
		return placed(file, err)
	}
	if err := n.Decode(out); err != nil {
		return placed(file, err)
	}
	return nil
}

// placed gives an error file and line in the form file:line: message.
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

// known checks that every key of n is one that the type has a place for.
func known(n *yaml.Node, t reflect.Type) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if reflect.PointerTo(t).Implements(unmarshaler) {
		if t == reflect.TypeFor[value]() && n.ShortTag() == "!!null" {
			n.Tag = nilTag // else it would be as if it were not there
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
