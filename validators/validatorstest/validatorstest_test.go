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

// bad are validators and what the suite must say of each.
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
