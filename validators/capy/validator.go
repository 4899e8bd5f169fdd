package capy

import (
	"context"
	"strings"

	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/templates/prompts"
	"github.com/seed61713e19/capstan/validators"
)

type params struct {
	Stage    string         `json:"stage" jsonschema:"stage of the output, a row of the policy: BASE_T1 to RQ_GEN"`
	Name     string         `json:"name,omitempty" jsonschema:"file name of the output. It also identifies an artifact that is a separate file"`
	Sidecars any            `json:"sidecars,omitempty" jsonschema:"JSON files of the output: a JSON text, an object, a list, or a map with file names as keys"`
	Prior    any            `json:"prior,omitempty" jsonschema:"values of earlier stages: a text, a number, or a map or list of these"`
	Schemas  map[string]any `json:"schemas,omitempty" jsonschema:"JSON Schemas that the policy names, by file name"`
	Policy   string         `json:"policy,omitempty" jsonschema:"policy: 1.0.0, 1.0.1, strict, or YAML. Default: 1.0.0"`

	gate *Gate
}

// Prepare makes the gate; an unknown stage is an error that lists them.
func (p *params) Prepare() (err error) {
	p.gate, err = New(Options{Stage: p.Stage, Name: p.Name, Sidecars: p.Sidecars, Prior: p.Prior, Policy: p.Policy, Schemas: p.Schemas})
	return err
}

// Validator is the gate as a validator, "capy": valid is proceed, the reason is
// the issues in a sentence each, details is the report.
var Validator = validators.New("capy",
	"judge a stage output of the CAPY pipeline: structure, artifacts, JSON, sanity bounds, fabrication, DR derivation",
	func(ctx context.Context, p params, s validators.Subject) (validators.Verdict, error) {
		return p.gate.judge(ctx, s.Content).Verdict()
	}, validators.WithFaultsFrom(planted))

// Claims is the judge "capy_claims". It answers the questions of the gate beside it: a
// fabricated result in a sentence, a text that breaks off, an artifact without content.
var Claims = validators.NewJudge("capy_claims",
	"Validates that no sentence of a CAPY stage output states a result of the kernel, and that the output is complete", claims())

// claims is the prompt of its name. A test checks that it is there.
func claims() string {
	criteria, _ := prompts.Source("capy_claims")
	return criteria
}

// Verdict is the report as a ward gives it; its details are the report as a
// plain value.
func (r Report) Verdict() (validators.Verdict, error) {
	details, err := schema.Plain(r)
	return validators.Verdict{
		Valid: r.Proceed, Reason: r.reason(), Status: r.Status, Details: details,
		Issues: issues(r.Issues), Warnings: issues(r.Warnings),
	}, err
}

// reason is a sentence for each issue; of a text that may proceed, for each
// warning.
func (r Report) reason() string {
	list := r.Issues
	if len(list) == 0 {
		list = r.Warnings
	}
	if len(list) == 0 {
		return r.Stage + " passes all of its checks."
	}
	sentences := make([]string, len(list))
	for i, f := range list {
		sentences[i] = strings.TrimSuffix(f.Message, ".") + " (" + f.Location + ")."
	}
	return strings.Join(sentences, " ")
}

func issues(list []Finding) []validators.Issue {
	out := make([]validators.Issue, len(list))
	for i, f := range list {
		out[i] = validators.Issue{Check: f.Check, Severity: f.Severity, Message: f.Message, Location: f.Location}
	}
	return out
}
