package request

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/validators"
)

// A Gate judges the responses to one request.
type Gate struct {
	Request *Request
	Options Options
}

// Judge judges the text of a response. A text that is no response is a refusal.
func (g *Gate) Judge(text []byte) Judgement {
	given, err := ParseResponse(text)
	if err != nil {
		return refuse(g.Request, err)
	}
	return Judge(g.Request, given, g.Options)
}

type params struct {
	Request       any    `json:"request" jsonschema:"request that the response answers, as JSON text or an object"`
	Strict        bool   `json:"strict,omitempty" jsonschema:"true: a PASS must name entries of evidence_collected in evidence_refs, and the gate checks these entries again; a PASS without them counts as BLOCKED. Default: false"`
	AcceptPartial bool   `json:"accept_partial,omitempty" jsonschema:"true: the verdict PARTIAL passes. Default: false"`
	Root          string `json:"root,omitempty" jsonschema:"folder of the files that the evidence names. Default: worktree_path of the request, if it exists; without a folder the gate does not check files"`
	Evidence      string `json:"evidence,omitempty" jsonschema:"second folder of screenshots, the one of validate-request --evidence"`
	Check         string `json:"check,omitempty" jsonschema:"request: check only that the request can be read; protocol: check only that the text is a response to the request. Default: judge the response"`

	gate *Gate
}

// The checks that do not judge.
const (
	checkRequest  = "request"
	checkProtocol = "protocol"
)

// Prepare parses the request. Its errors are the caller's mistake.
func (p *params) Prepare() error {
	if p.Check != "" && p.Check != checkProtocol && p.Check != checkRequest {
		return fmt.Errorf("check must be request or protocol, not %q", p.Check)
	}
	text, err := p.text()
	if err != nil {
		return fmt.Errorf("request: %w", err)
	}
	r, err := ParseRequest(text)
	if err != nil {
		return err
	}
	root, err := rootOf(p.Root, r)
	if err != nil {
		return err
	}
	if p.Evidence != "" && !isDir(p.Evidence) {
		return fmt.Errorf("evidence: %s is no directory", p.Evidence)
	}
	p.gate = &Gate{r, Options{Root: root, Evidence: p.Evidence, Strict: p.Strict, AcceptPartial: p.AcceptPartial}}
	return nil
}

func (p *params) text() ([]byte, error) {
	switch v := p.Request.(type) {
	case string:
		return []byte(v), nil
	case map[string]any:
		return json.Marshal(v)
	default:
		return nil, errors.New("want an object, or its JSON as a text")
	}
}

// rootOf returns the directory of the files. A directory of the caller must
// exist. The worktree of a request may be on another machine.
func rootOf(asked string, r *Request) (string, error) {
	if asked != "" {
		if !isDir(asked) {
			return "", fmt.Errorf("root: %s is no directory", asked)
		}
		return asked, nil
	}
	if filepath.IsAbs(r.WorktreePath) && isDir(r.WorktreePath) {
		return r.WorktreePath, nil
	}
	return "", nil
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// NewGate makes a gate from the parameters of [Validator]. An error is the
// caller's mistake: a malformed request is a [*ProtocolError].
func NewGate(with map[string]any) (*Gate, error) {
	p, err := schema.NewParams[params]().Read(with)
	if err == nil {
		err = p.Prepare()
	}
	if err != nil {
		return nil, fmt.Errorf("validation_response: %w", err)
	}
	return p.gate, nil
}

// Validator is the gate as a validator, "validation_response". PASS is valid.
// FAIL and an invalid response are not. The parameter accept_partial decides
// about PARTIAL. BLOCKED is an error, because there is no verdict on the work.
var Validator = validators.New("validation_response", "Validates that a validator's response to a validation request is a PASS that its criteria and evidence bear out",
	func(ctx context.Context, p params, s validators.Subject) (validators.Verdict, error) {
		if ctx.Err() != nil {
			return validators.Verdict{}, context.Cause(ctx)
		}
		if p.Check == checkRequest {
			return p.gate.readable(), nil
		}
		j := p.gate.Judge([]byte(s.Content))
		if p.Check == checkProtocol && j.Effective != "" {
			return validators.Pass("a response to task %s that says %s", brief(j.TaskID), j.Claimed), nil
		}
		v, err := j.verdict()
		if err != nil {
			return v, err
		}
		v.Warnings = append(v.Warnings, p.gate.warnings()...)
		return v, nil
	}, validators.Impure, validators.WithFaultsFrom(responsePlanted), validators.Opens(opens))

// opens returns the folders that files are looked for in.
func opens(with map[string]any) []string {
	var names []string
	for _, key := range []string{"root", "evidence"} {
		if name, ok := with[key].(string); ok && name != "" {
			names = append(names, name)
		}
	}
	asked := params{Request: with["request"]}
	text, err := asked.text()
	if err != nil || with["root"] != nil && with["root"] != "" {
		return names
	}
	r, err := ParseRequest(text)
	if err != nil {
		return names // which Prepare reports
	}
	if root, _ := rootOf("", r); root != "" {
		names = append(names, root)
	}
	return names
}

// readable is the verdict on a request that was read.
func (g *Gate) readable() validators.Verdict {
	v := validators.Pass("request %s can be validated", brief(g.Request.TaskID))
	v.Warnings = g.warnings()
	return v
}

func (g *Gate) warnings() []validators.Issue {
	var list []validators.Issue
	for _, w := range g.Request.Warnings() {
		list = append(list, validators.Issue{Check: "request", Severity: "warning", Message: w.Message, Location: w.Field})
	}
	return list
}
