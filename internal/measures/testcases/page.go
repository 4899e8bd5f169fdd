package testcases

import (
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/internal/patterns"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
)

// A casePage is case.yaml.
type casePage struct {
	Version int               `json:"version"`
	Cascade string            `json:"cascade"`          // relative to the folder
	Source  string            `json:"source,omitempty"` // the folder of the file that ran, relative to the folder; "" if no program judged
	Files   map[string]string `json:"files,omitempty"`  // names in the cascade → files, relative to the folder
	Model   string            `json:"model,omitempty"`
	Seed    string            `json:"seed,omitempty"`  // decides the order of an evaluator's candidates
	Order   int               `json:"order,omitempty"` // decides the order in which branches start
	Expect  expectation       `json:"expect"`
}

// An expectation is the expected result of a run.
type expectation struct {
	Status   string               `json:"status"`
	Error    *runError            `json:"error,omitempty"`
	Calls    int                  `json:"model_calls"`
	Phases   []engine.PhaseRecord `json:"phases"`
	Outputs  map[string]any       `json:"outputs"`
	Degraded []engine.Degraded    `json:"degraded,omitempty"`
	Verdicts []verdict            `json:"verdicts"` // in the order of their events
}

type runError struct {
	Code    string `json:"code"`
	Phase   string `json:"phase,omitempty"`
	Message string `json:"message"`
}

type verdict struct {
	Path      event.Path `json:"path"`
	Moment    string     `json:"moment"`
	Validator string     `json:"validator"`
	Mode      string     `json:"mode"`
	Valid     *bool      `json:"valid,omitempty"`
	Reason    string     `json:"reason,omitempty"`
	Error     *string    `json:"error,omitempty"`
}

func newVerdict(v event.Verdict) verdict {
	return verdict{v.Path, v.Moment, v.Validator, v.Mode, v.Valid, v.Reason, v.Error}
}

// expected returns the expectation for a result.
func expected(r engine.Result, verdicts []verdict) expectation {
	e := expectation{Status: r.Status, Calls: r.Usage.Calls, Phases: r.Phases, Outputs: r.Outputs, Degraded: r.Degraded, Verdicts: verdicts}
	if r.Error != nil {
		e.Error = &runError{r.Error.Code, r.Error.Phase, r.Error.Message}
	}
	return e
}

// The entries of files of effects, one type for each kind.
type (
	callPage struct {
		Path      event.Path     `json:"call"`
		Role      string         `json:"role,omitempty"`
		Model     string         `json:"model,omitempty"`
		Continues event.Path     `json:"continues,omitempty"`
		Tools     []string       `json:"tools,omitempty"`
		Schema    string         `json:"schema,omitempty"`
		Params    string         `json:"params,omitempty"`
		Messages  []messagePage  `json:"messages"`
		Reply     *string        `json:"reply,omitempty"`
		Calls     []toolCallPage `json:"tool_calls,omitempty"`
		Failure   *model.Failure `json:"failure,omitempty"`
		Usage     usagePage      `json:"usage,omitempty" yaml:"flow"`
	}
	toolPage struct {
		Path        event.Path     `json:"tool"`
		Name        string         `json:"name"`
		Arguments   map[string]any `json:"arguments"`
		Result      *any           `json:"result,omitempty"`
		Failed      bool           `json:"failed,omitempty"`
		Unavailable bool           `json:"unavailable,omitempty"`
	}
	findingPage struct {
		Path    event.Path `json:"validator"`
		Name    string     `json:"name"`
		Digest  string     `json:"digest"` // of the text
		Program string     `json:"program,omitempty"`
		Verdict any        `json:"verdict,omitempty"`
		Failure *string    `json:"failure,omitempty"`
	}
	questionPage struct {
		Path    event.Path `json:"ask"`
		Phase   string     `json:"phase"`
		Prompt  string     `json:"question"`
		Type    string     `json:"type"`
		Options []string   `json:"options,omitempty"`
		Answer  *any       `json:"answer,omitempty"`
		By      string     `json:"by,omitempty"`
		Expired bool       `json:"expired,omitempty"` // nobody answered in time
	}
	timeoutPage struct {
		Path event.Path `json:"timeout"`
	}
)

// A messagePage has one of the first four fields.
type messagePage struct {
	System    *string        `json:"system,omitempty"`
	User      *string        `json:"user,omitempty"`
	Assistant *string        `json:"assistant,omitempty"`
	Tool      *string        `json:"tool,omitempty"`
	ID        string         `json:"id,omitempty"` // of the tool call
	Calls     []toolCallPage `json:"tool_calls,omitempty"`
}

type toolCallPage struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// A usagePage has the fields of [model.Usage].
type usagePage struct {
	Calls        int     `json:"calls"`
	InputTokens  int     `json:"input_tokens"`
	OutputTokens int     `json:"output_tokens"`
	Cached       int     `json:"cached_tokens,omitempty"`
	CacheWrite   int     `json:"cache_write_tokens,omitempty"`
	Reasoning    int     `json:"reasoning_tokens,omitempty"`
	CostUSD      float64 `json:"cost_usd,omitempty"`
	Estimated    bool    `json:"estimated,omitempty"`
}

// A sharedPage has the tools and schemas of several requests.
type sharedPage struct {
	Tools   map[string]model.Tool `json:"tools,omitempty"`
	Schemas map[string]any        `json:"schemas,omitempty"`
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

var yamlLine = patterns.Lazy(`^(?:yaml: (?:unmarshal errors:\s+)?)?line (\d+): (?s:(.*))$`)

// placed adds the file, and the line if known, to an error: file:line: message.
func placed(file string, err error) error {
	if m := yamlLine().FindStringSubmatch(err.Error()); m != nil {
		return fmt.Errorf("%s:%s: %s", file, m[1], m[2])
	}
	return fmt.Errorf("%s: %s", file, strings.TrimPrefix(err.Error(), "yaml: "))
}
