package request

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"

	"github.com/seed61713e19/capstan/validators/faults"
)

// as gives one value for those of a name that are another one now.
func as(field string, value any, was ...any) func(in, name string, v any) (any, bool) {
	return func(_, name string, v any) (any, bool) {
		return value, name == field && (len(was) == 0 || reflect.DeepEqual(v, was[0])) && !reflect.DeepEqual(v, value)
	}
}

// responsePlanted are the faults of a PASS, by what is checked of it: of the form
// alone those that make it no response to the request.
func responsePlanted(with map[string]any) []faults.Operator {
	switch with["check"] {
	case checkRequest:
		return nil
	case checkProtocol:
		return protocolPlanted()
	}
	return append(protocolPlanted(), append(resultsPlanted(), evidencePlanted()...)...)
}

// protocolPlanted make a response none: nothing of it may be taken for an answer.
func protocolPlanted() []faults.Operator {
	return []faults.Operator{
		faults.Revaluing("response_task", "it answers another task", as("task_id", "another-task")),
		faults.Revaluing("response_verdict_case", "the verdict is in small letters", as("verdict", "pass", "PASS")),
		faults.Revaluing("response_verdict_word", "the verdict is no word of the protocol", as("verdict", "PASS with remarks", "PASS")),
		faults.Revaluing("response_verdict_gone", "there is no verdict", as("verdict", faults.Gone)),
		faults.Revaluing("response_status_word", "a status is no word of the protocol", as("status", "OK", "PASS")),
		faults.Revaluing("response_status_gone", "a criterion has no status", as("status", faults.Gone)),
		faults.Revaluing("response_id_gone", "a result says not of which criterion it is", as("criterion_id", faults.Gone)),
		faults.Revaluing("response_results_gone", "there are no results", as("criteria_results", faults.Gone)),
		faults.Revaluing("response_results_map", "the results are no list", as("criteria_results", map[string]any{"AC-1": "PASS"})),
		faults.Revaluing("response_confidence", "the confidence is above 1", as("confidence", 1.5)),
		faults.Revaluing("response_zone", "the time has no zone", as("timestamp", "2026-02-17 14:30:00")),
		faults.Revaluing("response_evidence_list", "the evidence is a list", as("evidence", []any{"see the log"})),
		faults.Rewriting("response_dialect_met", "a status is another format's", `"status": *"PASS"`, `"met": true`),
		faults.Rewriting("response_dialect_id", "a criterion's id is another format's", `"criterion_id"`, `"criterion"`),
		faults.Rewriting("response_twice", "the verdict stands twice", `"verdict": *"PASS"`, `"verdict": "FAIL", "verdict": "PASS"`),
		faults.Rewriting("response_trailing", "a second document stands behind it", `\}\s*\z`, `} {"verdict": "FAIL"}`),
		faults.Rewriting("response_cut", "it is cut off", `,[^,]*\}\s*\z`, ``),
	}
}

// resultsPlanted are results that do not come to a PASS.
func resultsPlanted() []faults.Operator {
	return []faults.Operator{
		faults.Revaluing("response_fail", "the verdict is FAIL", as("verdict", "FAIL", "PASS")),
		faults.Revaluing("response_blocked", "the verdict is BLOCKED", as("verdict", "BLOCKED", "PASS")),
		faults.Revaluing("response_criterion_fail", "a criterion fails, and the verdict is PASS", as("status", "FAIL", "PASS")),
		faults.Revaluing("response_criterion_skip", "a criterion is skipped", as("status", "SKIP", "PASS")),
		faults.Revaluing("response_criterion_blocked", "a criterion is blocked", as("status", "BLOCKED", "PASS")),
		faults.Revaluing("response_criterion_other", "a result is of a criterion that was not asked", as("criterion_id", "AC-99")),
		faults.Revaluing("response_no_results", "there is no result", as("criteria_results", []any{})),
		{Name: "response_result_lost", Description: "a criterion has no result", Apply: func(t *faults.Text, rng *rand.Rand) []faults.Fault {
			return t.Remade(rng, func(v any, rng *rand.Rand) (any, string, string) {
				m, _ := v.(map[string]any)
				list, _ := m["criteria_results"].([]any)
				if len(list) == 0 {
					return v, "", ""
				}
				i := rng.IntN(len(list))
				m["criteria_results"] = slices.Delete(list, i, i+1)
				return v, fmt.Sprintf("criteria_results[%d]", i), "it is gone"
			})
		}},
	}
}

// evidencePlanted is evidence that shows nothing, or the contrary.
func evidencePlanted() []faults.Operator {
	said := func(name, description, text string) faults.Operator {
		return faults.Revaluing("response_evidence_"+name, description, as("evidence", text))
	}
	return []faults.Operator{
		said("none", "there is no evidence", ""),
		said("na", "the evidence is a word for nothing", "n/a"),
		said("above", "the evidence points elsewhere", "see above"),
		said("done", "the evidence is a yes", "done, verified"),
		said("traceback", "the evidence is a failure's output", "Traceback (most recent call last):\n  File \"a.py\", line 1"),
		said("failed", "the evidence is of failed tests", "--- FAIL: TestLogin (0.00s)\nFAIL"),
		said("exit", "the evidence is a status of failure", "the command ended with exit code 2"),
		faults.Revaluing("response_tests_failed", "tests failed", as("failed", 3)),
		faults.Revaluing("response_tests_exit", "the tests ended with a status of failure", as("exit_code", 1)),
		faults.Revaluing("response_tests_none", "no test ran", as("passed", 0)),
		faults.Revaluing("response_tests_negative", "a count is below 0", as("passed", -12)),
		faults.Revaluing("response_file_missing", "a file is said not to exist", as("exists", false, true)),
		faults.Revaluing("response_file_without", "a file lacks what was expected in it", as("contains_expected", false, true)),
		faults.Revaluing("response_api", "an endpoint broke", as("status_code", 500)),
		faults.Revaluing("response_no_pictures", "there is no screenshot", as("screenshots", []any{})),
	}
}

// promisePlanted are faults of a promise that was kept.
func promisePlanted() []faults.Operator {
	return []faults.Operator{
		faults.Revaluing("promise_not_met", "a criterion is not met", as("met", false, true)),
		faults.Revaluing("promise_met_in_words", "a criterion is met by a word", as("met", "yes", true)),
		faults.Revaluing("promise_met_gone", "of a criterion it is not said whether it is met", as("met", faults.Gone)),
		faults.Revaluing("promise_no_evidence", "a criterion has no evidence", as("evidence", "")),
		faults.Revaluing("promise_hollow", "the evidence is a word for nothing", as("evidence", "see above")),
		faults.Revaluing("promise_evidence_gone", "a criterion lacks its evidence", as("evidence", faults.Gone)),
		faults.Revaluing("promise_no_criteria", "there are no criteria", as("acceptance_criteria", []any{})),
	}
}

// verdictPlanted are faults of a judge's PASS.
func verdictPlanted() []faults.Operator {
	return []faults.Operator{
		faults.Revaluing("verdict_fail", "the judge says no", as("verdict", "FAIL", "PASS")),
		faults.Revaluing("verdict_case", "the verdict is written in small letters", as("verdict", "pass", "PASS")),
		faults.Revaluing("verdict_hedged", "the verdict is no word of the protocol", as("verdict", "PASS with remarks", "PASS")),
		faults.Revaluing("verdict_list", "the verdict is a list", as("verdict", []any{"PASS"}, "PASS")),
		faults.Revaluing("verdict_missing", "there is no verdict", as("verdict", faults.Gone)),
	}
}
