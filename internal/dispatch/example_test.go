package dispatch_test

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/seed61713e19/capstan/internal/dispatch"
	"github.com/seed61713e19/capstan/validators/request"
)

// A dispatcher calls a validator, here a function, and returns the outcome of the task.
func ExampleDispatcher() {
	r, err := request.ParseRequest([]byte(`{
		"task_id": "login-7f3a", "validation_type": "code",
		"acceptance_criteria": [{"id": "AC-1", "description": "a wrong password is refused"}]
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	validate := func(ctx context.Context, r *request.Request, repair *request.ProtocolError) ([]byte, error) {
		// Check the work here, or ask a model. If repair is set, it describes the mistake in the
		// last answer.
		found := request.Response{TaskID: r.TaskID, Verdict: request.Fail, Timestamp: time.Now()}
		for _, c := range r.Criteria {
			found.Results = append(found.Results, request.Result{
				CriterionID: c.ID, Status: request.Fail, Evidence: "POST /login answers 200", Remediation: "compare the hash",
			})
		}
		return json.Marshal(found)
	}
	d := dispatch.New(dispatch.Config{Fresh: func() dispatch.Validate { return validate }})
	defer d.Close()
	outcome, err := d.Do(context.Background(), r)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(outcome.Judgement.Valid, outcome.Judgement.Reason)
	// Output: false FAIL: 0 of 1 criterion PASS, 1 FAIL, 0 BLOCKED; AC-1: FAIL: POST /login answers 200 (to mend it: compare the hash)
}

// Responses may also come from outside.
func ExampleDispatcher_Deliver() {
	d := dispatch.New(dispatch.Config{})
	defer d.Close()
	r, _ := request.ParseRequest([]byte(`{"task_id": "t", "validation_type": "code", "acceptance_criteria": [{"id": "a", "description": "b"}]}`))
	d.Open(r)
	receipt, err := d.Deliver([]byte(`{"task_id": "t", "verdict": "PASS", "criteria_results": [], "timestamp": "2026-02-17T14:30:00Z"}`))
	fmt.Println(receipt.Event, receipt.Judgement.Effective, receipt.Judgement.Flags, err)
	_, err = d.Deliver([]byte(`{"task_id": "t", "verdict": "pass", "results": [], "timestamp": "2026-02-17T14:30:00Z"}`))
	fmt.Println(err)
	// Output:
	// accepted BLOCKED [inconsistent missing_criteria] <nil>
	// validation response: criteria_results: is missing; verdict: must be one of ["PASS","FAIL","PARTIAL","BLOCKED"], not "pass"
}
