package request

import "time"

// A Request asks for the validation of a task. It has the criteria and the
// places of the work. It is the protocol's ValidationRequest, with the
// protocol's JSON names.
type Request struct {
	TaskID         string         `json:"task_id"`
	PRDID          string         `json:"prd_id,omitempty"`
	ValidationType Type           `json:"validation_type"`
	Criteria       []Criterion    `json:"acceptance_criteria"`
	Claimed        map[string]any `json:"claimed_evidence,omitempty"`
	WorktreePath   string         `json:"worktree_path,omitempty"`
	Branch         string         `json:"branch,omitempty"`
	Services       *Services      `json:"services,omitempty"`
	FocusAreas     []string       `json:"focus_areas,omitempty"`
	TimeoutSeconds int            `json:"timeout_seconds,omitempty"` // 0 is five minutes
}

// defaultTimeout is the timeout of a request without timeout_seconds.
const defaultTimeout = 300 * time.Second

// maxTimeout is the maximum of a request's timeout.
const maxTimeout = 24 * time.Hour

// Timeout returns the timeout of the request. Default: five minutes. Maximum: a
// day.
func (r *Request) Timeout() time.Duration {
	if r.TimeoutSeconds <= 0 {
		return defaultTimeout
	}
	return time.Duration(min(int64(r.TimeoutSeconds), int64(maxTimeout/time.Second))) * time.Second
}

// A Type is the validation type of a request: code, browser or both.
type Type string

// The types.
const (
	Code    Type = "code"
	Browser Type = "browser"
	Both    Type = "both"
)

// A Criterion is one requirement.
type Criterion struct {
	ID          string `json:"id"`
	Description string `json:"description"`
	Hint        string `json:"validation_hint,omitempty"` // where to look: a file, an endpoint, an element of a page, a command
}

// Services are the services that the validation needs.
type Services struct {
	AppURL        string `json:"app_url,omitempty"`
	APIURL        string `json:"api_url,omitempty"`
	RequiredPorts []int  `json:"required_ports,omitempty"`
}

// A Response is a validator's answer to a request: the protocol's
// ValidationResponse.
type Response struct {
	TaskID          string    `json:"task_id"`
	Verdict         Verdict   `json:"verdict"`
	Results         []Result  `json:"criteria_results"`
	Evidence        *Evidence `json:"evidence_collected,omitempty"`
	Reasoning       string    `json:"reasoning,omitempty"`
	Confidence      *float64  `json:"confidence,omitempty"` // 0 to 1
	DurationSeconds float64   `json:"duration_seconds,omitempty"`
	Timestamp       time.Time `json:"timestamp"`
	ValidatorID     string    `json:"validator_id,omitempty"`
}

// A Verdict is the result of a response or of one criterion.
type Verdict string

// The verdicts, from best to worst. A criterion cannot be PARTIAL, and a response cannot be
// SKIP.
const (
	Pass    Verdict = "PASS"
	Partial Verdict = "PARTIAL"
	Skip    Verdict = "SKIP"
	Blocked Verdict = "BLOCKED"
	Fail    Verdict = "FAIL"
)

// A Result is a validator's result for one criterion.
type Result struct {
	CriterionID string  `json:"criterion_id"`
	Status      Verdict `json:"status"`
	Evidence    string  `json:"evidence"`
	Remediation string  `json:"remediation,omitempty"`

	// EvidenceRefs names the entries of evidence_collected that show the status:
	// file_checks/0, test_results.
	EvidenceRefs []string `json:"evidence_refs,omitempty"`
}

// Evidence is the evidence of a validator, in the protocol's four forms.
type Evidence struct {
	Screenshots  []Screenshot  `json:"screenshots,omitempty"`
	TestResults  *TestResults  `json:"test_results,omitempty"`
	APIResponses []APIResponse `json:"api_responses,omitempty"`
	FileChecks   []FileCheck   `json:"file_checks,omitempty"`
}

// A Screenshot is a picture of a page. Step names the criterion it is of.
type Screenshot struct {
	Path        string `json:"path"`
	Description string `json:"description,omitempty"`
	Step        string `json:"step,omitempty"`
}

// TestResults are the results of a command. The snippet is the first 500
// characters of its output.
type TestResults struct {
	Command  string `json:"command,omitempty"`
	ExitCode *int   `json:"exit_code,omitempty"`
	Passed   *int   `json:"passed,omitempty"`
	Failed   *int   `json:"failed,omitempty"`
	Skipped  *int   `json:"skipped,omitempty"`
	Output   string `json:"output_snippet,omitempty"`
}

// An APIResponse is the answer of an endpoint.
type APIResponse struct {
	Endpoint   string `json:"endpoint"`
	Method     string `json:"method,omitempty"`
	StatusCode int    `json:"status_code,omitempty"`
	Snippet    string `json:"response_snippet,omitempty"`
}

// A FileCheck is the state of a file in the worktree.
type FileCheck struct {
	Path             string `json:"path"`
	Exists           *bool  `json:"exists,omitempty"`
	SizeBytes        *int64 `json:"size_bytes,omitempty"`
	ContainsExpected *bool  `json:"contains_expected,omitempty"`
	Note             string `json:"note,omitempty"`
}
