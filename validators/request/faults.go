package request

import (
	"math/rand/v2"
	"reflect"

	"github.com/seed61713e19/capstan/validators/faults"
)

// revalued is an operator that makes another value of some.
func revalued(name, description string, other func(in, name string, v any) (any, bool)) faults.Operator {
	return faults.Operator{Name: name, Description: description, Apply: func(t *faults.Text, rng *rand.Rand) []faults.Fault {
		return t.Revalued(rng, other, description)
	}}
}

// as gives one value for those of a name that are another one now.
func as(field string, value any, was ...any) func(in, name string, v any) (any, bool) {
	return func(_, name string, v any) (any, bool) {
		return value, name == field && (len(was) == 0 || reflect.DeepEqual(v, was[0])) && !reflect.DeepEqual(v, value)
	}
}

// promisePlanted are faults of a promise that was kept.
func promisePlanted() []faults.Operator {
	return []faults.Operator{
		revalued("promise_not_met", "a criterion is not met", as("met", false, true)),
		revalued("promise_met_in_words", "a criterion is met by a word", as("met", "yes", true)),
		revalued("promise_no_evidence", "a criterion has no evidence", as("evidence", "")),
		revalued("promise_no_criteria", "there are no criteria", as("acceptance_criteria", []any{})),
	}
}

// verdictPlanted are faults of a judge's PASS.
func verdictPlanted() []faults.Operator {
	return []faults.Operator{
		revalued("verdict_fail", "the judge says no", as("verdict", "FAIL", "PASS")),
		revalued("verdict_case", "the verdict is written in small letters", as("verdict", "pass", "PASS")),
		revalued("verdict_hedged", "the verdict is no word of the protocol", as("verdict", "PASS with remarks", "PASS")),
		revalued("verdict_missing", "there is no verdict", as("verdict", faults.Gone)),
	}
}
