// Package validatorstest contains the test suite for validators, both the built-in
// ones and those of other modules. Begin with [Run]. It takes a validator and its
// cases, and reports failures to the test:
//
//	func TestHouseStyle(t *testing.T) {
//		validatorstest.Run(t, house.Style,
//			validatorstest.Case{Name: "plain", Content: "Good morning.", Valid: true},
//			validatorstest.Case{Name: "shouting", Content: "GOOD MORNING!", Reason: "capitals"})
//	}
package validatorstest

import (
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/validators"
)

// A Case is a subject and the verdict that a validator must give on it. Parameters and
// the values of the subject are converted to plain values, as runner.Run converts inputs:
// they may be everything that encodes as JSON, such as []string.
type Case struct {
	Name    string
	With    map[string]any
	Content string             // a short way to set Subject.Content
	Subject validators.Subject // the other fields
	Valid   bool
	Reason  string // what the reason must contain
	Warning string // what a warning must contain
}

// A check of a text of a megabyte or two must end within both limits: timeout is
// elapsed time, and work is processor time. A busy machine does not make a check slow.
// With the race detector the texts are shorter and the limits are higher.
const (
	timeout = 20 * time.Second * slowdown
	work    = 5 * time.Second * slowdown
)

// Run tests a validator. Use it with -race. It checks that:
//   - the validator has a name and a description;
//   - its parameters have a valid schema, and an unknown parameter is an error;
//   - it returns the verdicts of the cases, and does not change its subject;
//   - a pure validator returns equal verdicts again, also to parallel calls;
//   - a rejection has a reason, and [validators.ParseVerdict] reads every verdict;
//   - it handles hostile texts in time and without a panic;
//   - it returns if its context is cancelled.
//
// The last two checks use the first two sets of parameters. A judge needs a model, so
// the suite tests its description and its parameters only.
func Run(t *testing.T, v validators.Validator, cases ...Case) {
	t.Helper()
	t.Run("description", func(t *testing.T) { checkDescription(t, v) })
	t.Run("parameters", func(t *testing.T) { checkParams(t, v, cases) })
	if v.Criteria != "" {
		t.Run("judge", func(t *testing.T) { checkJudge(t, v) })
		return
	}
	if len(cases) == 0 {
		t.Error("there are no cases")
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) { c.run(t, v) })
	}
	for _, c := range distinct(cases) {
		t.Run("hostile/"+c.Name, func(t *testing.T) { checkHostile(t, bind(t, v, c.With)) })
		t.Run("cancelled/"+c.Name, func(t *testing.T) { checkCancelled(t, bind(t, v, c.With), c.subject(t)) })
	}
}

// checkDescription checks the form of the name and the description.
func checkDescription(t *testing.T, v validators.Validator) {
	if !regexp.MustCompile(`^[a-z][a-z0-9_]*$`).MatchString(v.Name) {
		t.Errorf("the name %q is not in lower_case", v.Name)
	}
	if v.Description == "" || strings.Contains(v.Description, "\n") || strings.HasSuffix(v.Description, ".") {
		t.Errorf("the description %q is not a line of words without a full stop", v.Description)
	}
}

// checkParams checks the schema, and that an unknown parameter is an error.
func checkParams(t *testing.T, v validators.Validator, cases []Case) {
	if _, err := schema.Compile(v.Params()); err != nil {
		t.Errorf("the parameters' schema: %v", err)
	}
	with := map[string]any{"no such parameter": 1}
	if len(cases) > 0 {
		maps.Copy(with, plain(t, cases[0].With))
	}
	if _, err := v.Bind(with); err == nil || !strings.Contains(err.Error(), "no such parameter") {
		t.Errorf("an unknown parameter was not refused by name: %v", err)
	}
}

// checkJudge checks that a judge is not pure and fails without a model.
func checkJudge(t *testing.T, v validators.Validator) {
	check := bind(t, v, nil)
	if v.Pure {
		t.Error("a judge is not pure")
	}
	if _, err := check(t.Context(), validators.Subject{Content: "text"}); err == nil {
		t.Error("a judge gave a verdict without a model")
	}
}

func bind(t *testing.T, v validators.Validator, with map[string]any) validators.Check {
	t.Helper()
	check, err := v.Bind(plain(t, with))
	if err != nil {
		t.Fatal(err)
	}
	return check
}

// plain returns values as decoded JSON has them.
func plain(t *testing.T, values map[string]any) map[string]any {
	t.Helper()
	v, err := schema.Plain(values)
	if err != nil {
		t.Fatalf("not JSON: %v", err)
	}
	object, _ := v.(map[string]any) // null for nil
	return object
}

// distinct returns one case for each set of parameters, at most two.
func distinct(cases []Case) []Case {
	var out []Case
	for _, c := range cases {
		known := len(out) == 2
		for _, o := range out {
			known = known || reflect.DeepEqual(o.With, c.With)
		}
		if !known {
			out = append(out, c)
		}
	}
	return out
}

func (c Case) subject(t *testing.T) validators.Subject {
	t.Helper()
	s := c.Subject
	if c.Content != "" {
		s.Content = c.Content
	}
	s.Input, s.Outputs, s.State, s.Locals = plain(t, s.Input), plain(t, s.Outputs), plain(t, s.State), plain(t, s.Locals)
	s.Output = plain(t, map[string]any{"output": s.Output})["output"]
	return s
}

func (c Case) run(t *testing.T, v validators.Validator) {
	check, s := bind(t, v, c.With), c.subject(t)
	before := encode(t, s)
	verdict, err := runOnce(t, check, s)
	if err != nil {
		t.Fatalf("no verdict: %v", err)
	}
	if verdict.Valid != c.Valid || !strings.Contains(verdict.Reason, c.Reason) {
		t.Errorf("got %v (%s), want %v (…%s…)", verdict.Valid, verdict.Reason, c.Valid, c.Reason)
	}
	if !slices.ContainsFunc(verdict.Warnings, func(w validators.Issue) bool { return strings.Contains(w.Message, c.Warning) }) && c.Warning != "" {
		t.Errorf("got the warnings %v, want one of …%s…", verdict.Warnings, c.Warning)
	}
	checkVerdict(t, verdict)
	if v.Pure {
		checkRepeatable(t, check, s, verdict)
	}
	if after := encode(t, s); after != before {
		t.Errorf("the subject was changed to %s", after)
	}
}

// checkRepeatable checks that parallel calls return the same verdict again.
func checkRepeatable(t *testing.T, check validators.Check, s validators.Subject, want validators.Verdict) {
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			got, err := check(context.Background(), s)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("asked again: got %+v, %v, before it was %+v", got, err, want)
			}
		})
	}
	all.Wait()
}

// checkVerdict checks the rules for all verdicts.
func checkVerdict(t *testing.T, v validators.Verdict) {
	t.Helper()
	if !v.Valid && v.Reason == "" {
		t.Error("an invalid verdict without a reason")
	}
	for _, issue := range append(v.Issues[:len(v.Issues):len(v.Issues)], v.Warnings...) {
		if issue.Message == "" {
			t.Errorf("an issue without a message: %+v", issue)
		}
	}
	text := encode(t, v)
	again, err := validators.ParseVerdict([]byte(text))
	if err != nil {
		t.Fatalf("the verdict %s cannot be read: %v", text, err)
	}
	if round := encode(t, again); round != text {
		t.Errorf("the verdict %s was read as %s", text, round)
	}
}

func encode(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatalf("not JSON: %v", err)
	}
	return string(text)
}
