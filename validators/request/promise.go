package request

import (
	"context"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/seed61713e19/capstan/validators"
)

// A promise is what those who did the work promise: that each of its criteria
// is met, with what shows it. It is what the first of the three gates judges.
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

// parsePromise reads a promise as [ParseRequest] reads a request: JSON by
// itself or in the last fence, with at least one criterion and no id twice.
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

// unmet lists what of the promise is not met, or met without evidence.
func (m *promise) unmet() []validators.Issue {
	var list []validators.Issue
	for _, c := range m.Criteria {
		issue := validators.Issue{Check: "unmet", Severity: "error", Location: brief(c.ID)}
		switch {
		case !c.Met:
			issue.Message = "is not met: " + clean(c.Description, maxText)
		case hollow(c.Evidence), c.restated():
			issue.Message = "is met without evidence: " + clean(c.Description, maxText)
		default:
			found := contrary(Criterion{ID: c.ID, Description: c.Description}, strings.Join(texts(c.Evidence), "\n"))
			if found == "" {
				continue
			}
			issue.Message = fmt.Sprintf("is met, and its evidence tells of a failure: %s", brief(found))
		}
		list = append(list, issue)
	}
	return list
}

// restated tells whether the evidence only says the criterion again.
func (c promised) restated() bool {
	said, isText := c.Evidence.(string)
	return isText && restates(said, Criterion{ID: c.ID, Description: c.Description})
}

// texts are those of a plain value, in the order of its keys; a number has its key,
// as programs print it.
func texts(evidence any) (all []string) {
	switch v := evidence.(type) {
	case string:
		return []string{v}
	case []any:
		for _, e := range v {
			all = append(all, texts(e)...)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			switch within := v[key].(type) {
			case string, []any, map[string]any, bool, nil:
				all = append(all, texts(within)...)
			default:
				all = append(all, fmt.Sprintf("%s: %v", key, within))
			}
		}
	}
	return all
}

// hollow tells whether a plain value shows nothing.
func hollow(evidence any) bool {
	switch v := evidence.(type) {
	case nil:
		return true
	case string:
		return hollowText(v)
	case []any:
		return !slices.ContainsFunc(v, func(e any) bool { return !hollow(e) })
	case map[string]any:
		return !slices.ContainsFunc(slices.Collect(maps.Values(v)), func(e any) bool { return !hollow(e) || affirms(e) })
	default:
		return v == false
	}
}

// affirms tells whether a value says yes. By itself that shows nothing; in a
// field that says to what, it does.
func affirms(evidence any) bool {
	switch v := evidence.(type) {
	case string:
		words := plainWords(v[:min(len(v), maxHollow)])
		return len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return !yes[w] })
	case []any:
		return slices.ContainsFunc(v, affirms)
	}
	return false
}

var yes = map[string]bool{"ok": true, "okay": true, "yes": true, "true": true, "pass": true, "passed": true, "passes": true, "done": true, "works": true, "verified": true, "success": true, "succeeded": true}

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
	}, validators.Publishing(promisePlanted()...))
