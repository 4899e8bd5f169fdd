package validatorstest_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed61713e19/capstan/validators"
	. "github.com/seed61713e19/capstan/validators/validatorstest"
)

type (
	verdict = validators.Verdict
	subject = validators.Subject
	judging = func(context.Context, struct{}, subject) (verdict, error)
)

var calls atomic.Int64

func named(name, description string, judge judging) validators.Validator {
	return validators.New(name, description, judge)
}

// bad are faulty validators, each with the message that the suite must report.
var bad = map[string]struct {
	validator validators.Validator
	cases     []Case
	want      string
}{
	"no name":        {named("", "Validates", pass), one, `the name "" is not in lower_case`},
	"no description": {named("x", "", pass), one, "is not a line of words"},
	"no cases":       {named("x", "Validates", pass), nil, "there are no cases"},
	"wrong verdict":  {named("x", "Validates", func(context.Context, struct{}, subject) (verdict, error) { return validators.Fail("no"), nil }), one, "got false (no), want true"},
	"wrong reason":   {named("x", "Validates", pass), []Case{{Name: "one", Content: "a", Valid: true, Reason: "because"}}, "…because…"},
	"no verdict":     {named("x", "Validates", func(context.Context, struct{}, subject) (verdict, error) { return verdict{}, errors.New("broke") }), one, "no verdict: broke"},
	"no reason":      {named("x", "Validates", func(context.Context, struct{}, subject) (verdict, error) { return verdict{}, nil }), one, "an invalid verdict without a reason"},
	"changing": {named("x", "Validates", func(context.Context, struct{}, subject) (verdict, error) {
		return validators.Pass("%d", calls.Add(1)), nil
	}), one, "asked again"},
	"meddling": {named("x", "Validates", func(_ context.Context, _ struct{}, s subject) (verdict, error) {
		if s.Input != nil && s.Input["a"] == 1 {
			s.Input["a"] = 2
		}
		return validators.Pass("ok"), nil
	}), []Case{{Name: "one", Subject: subject{Input: map[string]any{"a": 1}}, Valid: true}}, "the subject was changed"},
	"panicking": {named("x", "Validates", func(_ context.Context, _ struct{}, s subject) (verdict, error) {
		return validators.Pass("%c", s.Content[0]), nil
	}), one, "empty: validator x: panic"},
	"bad score": {named("x", "Validates", func(context.Context, struct{}, subject) (verdict, error) {
		score := 2.0
		return verdict{Valid: true, Score: &score}, nil
	}), one, "score must be from 0 to 1"},
	"empty issue": {named("x", "Validates", func(context.Context, struct{}, subject) (verdict, error) {
		return verdict{Reason: "no", Issues: []validators.Issue{{}}}, nil
	}), one, "an issue without a message"},
}

var one = []Case{{Name: "one", Content: "a", Valid: true}}

func pass(context.Context, struct{}, subject) (verdict, error) { return validators.Pass("ok"), nil }

// TestBad runs the suite on the bad validators, in the process that
// [TestRunSees] starts.
func TestBad(t *testing.T) {
	if os.Getenv("RUN_BAD") == "" {
		t.Skip("for TestRunSees")
	}
	for name, b := range bad {
		t.Run(name, func(t *testing.T) { Run(t, b.validator, b.cases...) })
	}
}

func TestRunSees(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range bad {
		cmd := exec.Command(self, "-test.run", "^TestBad$/^"+strings.ReplaceAll(name, " ", "_")+"$")
		cmd.Env = append(os.Environ(), "RUN_BAD=1")
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), b.want) {
			t.Errorf("%s: the suite said %v\n%s", name, err, out)
		}
	}
}

// TestRunTypedValues runs a case whose parameters and input are typed Go values. The
// validator receives the plain values that a run would give it.
func TestRunTypedValues(t *testing.T) {
	type article struct {
		Name string `json:"name"`
	}
	v := validators.New("names_article", "Validates that a text names the article and no forbidden word",
		func(_ context.Context, p struct {
			Words []string `json:"words"`
		}, s subject) (verdict, error) {
			about, _ := s.Input["article"].(map[string]any)
			if name, _ := about["name"].(string); !strings.Contains(s.Content, name) {
				return validators.Fail("the text does not name %s", name), nil
			}
			for _, word := range p.Words {
				if strings.Contains(s.Content, word) {
					return validators.Fail("the text contains %s", word), nil
				}
			}
			return validators.Pass("ok"), nil
		})
	with := map[string]any{"words": []string{"refund"}}
	about := subject{Input: map[string]any{"article": article{"kettle"}}}
	Run(t, v,
		Case{Name: "passes", With: with, Subject: about, Content: "A kettle.", Valid: true},
		Case{Name: "forbidden word", With: with, Subject: about, Content: "A kettle, or a refund.", Reason: "refund"},
		Case{Name: "no article", With: with, Subject: about, Content: "A pot.", Reason: "does not name kettle"})
}
