package request

import (
	"context"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/validators"
)

// A promise is the claim of the workers that each criterion is met, with
// evidence. The first of the three gates judges it.
type promise struct {
	ID       string     `json:"promise_id"`
	Summary  string     `json:"summary"`
	Criteria []promised `json:"acceptance_criteria"`
}

// A promised criterion is met, or not.
type promised struct {
	ID          string `json:"id"`
	Description string `json:"description"`
	Met         bool   `json:"met"`
	Evidence    any    `json:"evidence,omitempty"` // a text, or any plain value
}

//go:embed schemas/promise.schema.json
var promiseSchema []byte

var promiseForm = sync.OnceValue(func() form { return newForm(promiseSchema) })

// parsePromise parses a promise like [ParseRequest]: a JSON text or the last
// fence. It must have at least one criterion, and unique ids.
func parsePromise(text []byte) (*promise, error) {
	var p problems
	m := read[promise](&p, text, promiseForm())
	if m != nil {
		p.unique(len(m.Criteria), func(i int) string { return m.Criteria[i].ID })
	}
	if err := p.err("completion promise"); err != nil {
		return nil, err
	}
	return m, nil
}

// unmet lists the criteria that are not met, that have no evidence, or whose evidence
// reports a failure.
func (m *promise) unmet() []validators.Issue {
	var list []validators.Issue
	for _, c := range m.Criteria {
		message := ""
		switch contrary := failure(c.Evidence); {
		case !c.Met:
			message = "is not met: " + clean(c.Description, maxText)
		case !shows(c.Evidence):
			message = "is met without evidence: " + clean(c.Description, maxText)
		case contrary != "":
			message = "is met, and its evidence has " + contrary
		default:
			continue
		}
		list = append(list, validators.Issue{Check: "unmet", Severity: "error", Location: brief(c.ID), Message: message})
	}
	return list
}

// failure returns a field of the protocol's test results that reports a failure, or "".
func failure(evidence any) string {
	switch v := evidence.(type) {
	case []any:
		for _, e := range v {
			if found := failure(e); found != "" {
				return found
			}
		}
	case map[string]any:
		for _, field := range []string{"exit_code", "failed"} {
			if n, ok := schema.Whole(v[field]); ok && n != 0 {
				return fmt.Sprintf("%s: %d", field, n)
			}
		}
		for _, field := range slices.Sorted(maps.Keys(v)) {
			if found := failure(v[field]); found != "" {
				return found
			}
		}
	}
	return ""
}

// shows reports whether a plain value has a text, a number or true in it.
func shows(evidence any) bool {
	switch v := evidence.(type) {
	case nil:
		return false
	case string:
		return visible(v)
	case []any:
		return slices.ContainsFunc(v, shows)
	case map[string]any:
		return slices.ContainsFunc(slices.Collect(maps.Values(v)), shows)
	default:
		return v != false
	}
}

// PromiseValidator is the first gate as a validator, "completion_promise": valid
// is a promise whose criteria are all met, each with evidence.
var PromiseValidator = validators.New("completion_promise", "Validates that a promise of completion has every acceptance criterion met, with evidence",
	func(_ context.Context, _ struct{}, s validators.Subject) (validators.Verdict, error) {
		m, err := parsePromise([]byte(s.Content))
		if err != nil {
			return validators.Verdict{Reason: err.Error(), Issues: brokenIn(err)}, nil
		}
		open := m.unmet()
		if len(open) == 0 {
			return validators.Pass("promise %s: %s met, with evidence", brief(m.ID), criteria(len(m.Criteria))), nil
		}
		v := validators.FailWith(open[:min(len(open), maxIssues)]...)
		if more := len(open) - maxIssues; more > 0 {
			v.Reason += fmt.Sprintf("; and %d more", more)
		}
		return v, nil
	}, validators.WithFaults(planted("promise")...))
