// Package validatorstest is the suite that every validator passes, the
// built-in ones and yours:
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

	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/schema"
)

// A Case is a subject and the verdict that a validator must give on it.
type Case struct {
	Name    string
	With    map[string]any
	Content string             // a short way to set Subject.Content
	Subject validators.Subject // what else is known
	Valid   bool
	Reason  string // what the reason must contain
	Warning string // what a warning must contain
}

// patience is how long one check may take on a text of a megabyte or two, and work
// how much of the processor: a busy machine is no fault of the check. With the race
// detector the texts are shorter and the time is longer.
const (
	patience = 20 * time.Second * slowdown
	work     = 5 * time.Second * slowdown
)

// Run runs the suite: that the validator is described, and that its parameters
// have a sound schema and are read strictly; that it gives the verdicts of the
// cases, the same twice and at the same time (if it is pure), leaves its
// subject alone, gives a no a reason and speaks verdicts that
// [validators.ParseVerdict] reads; and, with the first two sets of parameters,
// that it survives hostile texts in time and without a panic and returns when
// its context is cancelled. Of a judge, which needs a model, only the
// description and the parameters are tested. Run it with -race.
func Run(t *testing.T, v validators.Validator, cases ...Case) {
	t.Helper()
	t.Run("description", func(t *testing.T) { described(t, v) })
	t.Run("parameters", func(t *testing.T) { strict(t, v, cases) })
	if v.Criteria != "" {
		t.Run("judge", func(t *testing.T) { judge(t, v) })
		return
	}
	if len(cases) == 0 {
		t.Error("there are no cases")
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) { c.run(t, v) })
	}
	for _, c := range distinct(cases) {
		t.Run("hostile/"+c.Name, func(t *testing.T) { hostile(t, bind(t, v, c.With)) })
		t.Run("cancelled/"+c.Name, func(t *testing.T) { cancelled(t, bind(t, v, c.With), c.subject()) })
	}
}

func described(t *testing.T, v validators.Validator) {
	if !regexp.MustCompile(`^[a-z][a-z0-9_]*$`).MatchString(v.Name) {
		t.Errorf("the name %q is not in lower_case", v.Name)
	}
	if v.Description == "" || strings.Contains(v.Description, "\n") || strings.HasSuffix(v.Description, ".") {
		t.Errorf("the description %q is not a line of words without a full stop", v.Description)
	}
}

func strict(t *testing.T, v validators.Validator, cases []Case) {
	if _, err := schema.Compile(v.Params()); err != nil {
		t.Errorf("the parameters' schema: %v", err)
	}
	with := map[string]any{"no such parameter": 1}
	if len(cases) > 0 {
		maps.Copy(with, cases[0].With)
	}
	if _, err := v.Bind(with); err == nil || !strings.Contains(err.Error(), "no such parameter") {
		t.Errorf("an unknown parameter was not refused by name: %v", err)
	}
}

func judge(t *testing.T, v validators.Validator) {
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
	check, err := v.Bind(with)
	if err != nil {
		t.Fatal(err)
	}
	return check
}

// distinct leaves one case for each set of parameters, two at most.
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

func (c Case) subject() validators.Subject {
	s := c.Subject
	if c.Content != "" {
		s.Content = c.Content
	}
	return s
}

func (c Case) run(t *testing.T, v validators.Validator) {
	check, s := bind(t, v, c.With), c.subject()
	before := encode(t, s)
	verdict, err := judgeOnce(t, check, s)
	if err != nil {
		t.Fatalf("no verdict: %v", err)
	}
	if verdict.Valid != c.Valid || !strings.Contains(verdict.Reason, c.Reason) {
		t.Errorf("got %v (%s), want %v (…%s…)", verdict.Valid, verdict.Reason, c.Valid, c.Reason)
	}
	if !slices.ContainsFunc(verdict.Warnings, func(w validators.Issue) bool { return strings.Contains(w.Message, c.Warning) }) && c.Warning != "" {
		t.Errorf("got the warnings %v, want one of …%s…", verdict.Warnings, c.Warning)
	}
	sound(t, verdict)
	if v.Pure {
		same(t, check, s, verdict)
	}
	if after := encode(t, s); after != before {
		t.Errorf("the subject was changed to %s", after)
	}
}

// same asks again, alone and from several goroutines.
func same(t *testing.T, check validators.Check, s validators.Subject, want validators.Verdict) {
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

// sound checks what holds of every verdict.
func sound(t *testing.T, v validators.Verdict) {
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
