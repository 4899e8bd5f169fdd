package request

import "time"

// A Request asks for the validation of a task: which criteria are to hold, and
// where to look. It is the protocol's ValidationRequest; the JSON names are its.
type Request struct {
	TaskID         string           `json:"task_id"`
	PRDID          string           `json:"prd_id,omitempty"`
	ValidationType Type             `json:"validation_type"`
	Criteria       []Criterion      `json:"acceptance_criteria"`
	Claimed        *ClaimedEvidence `json:"claimed_evidence,omitempty"`
	WorktreePath   string           `json:"worktree_path,omitempty"`
	Branch         string           `json:"branch,omitempty"`
	Services       *Services        `json:"services,omitempty"`
	FocusAreas     []string         `json:"focus_areas,omitempty"`
	TimeoutSeconds int              `json:"timeout_seconds,omitempty"` // 0 is five minutes
}

// defaultTimeout is how long a request waits for its response unless it says
// otherwise.
const defaultTimeout = 300 * time.Second

// maxTimeout is a day: who asks for more, or for more than a Duration holds,
// waits that long.
const maxTimeout = 24 * time.Hour

// Timeout is how long the request waits for its response: five minutes
// where it asks for no time at all, and never more than a day.
func (r *Request) Timeout() time.Duration {
	if r.TimeoutSeconds <= 0 {
		return defaultTimeout
	}
	return time.Duration(min(int64(r.TimeoutSeconds), int64(maxTimeout/time.Second))) * time.Second
}

// A Type says where the criteria of a request are looked for.
type Type string

// The types.
const (
	Code    Type = "code"
	Browser Type = "browser"
	Both    Type = "both"
)

// A Criterion is one thing that has to hold.
type Criterion struct {
	ID          string `json:"id"`
	Description string `json:"description"`
	Hint        string `json:"validation_hint,omitempty"` // where to look: a file, an endpoint, an element of a page, a command
}

// ClaimedEvidence is what those who did the work say of it. It is never proof.
type ClaimedEvidence struct {
	Summary       string   `json:"summary,omitempty"`
	FilesModified []string `json:"files_modified,omitempty"`
	TestResults   string   `json:"test_results,omitempty"`
	CommitHash    string   `json:"commit_hash,omitempty"`
}

// Services are what has to be up for the validation.
type Services struct {
	AppURL        string `json:"app_url,omitempty"`
	APIURL        string `json:"api_url,omitempty"`
	RequiredPorts []int  `json:"required_ports,omitempty"`
}

// A Response is what a validator says of a request: the protocol's
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

// A Verdict is what a response comes to as a whole.
type Verdict string

// The verdicts, from best to worst.
const (
	Pass    Verdict = "PASS"
	Partial Verdict = "PARTIAL"
	Blocked Verdict = "BLOCKED"
	Fail    Verdict = "FAIL"
)

// A Status is what became of one criterion.
type Status string

// The statuses of a criterion.
const (
	Passed      Status = "PASS"
	Failed      Status = "FAIL"
	Skipped     Status = "SKIP"
	Unreachable Status = "BLOCKED"
)

// A Result is what a validator found of one criterion.
type Result struct {
	CriterionID string `json:"criterion_id"`
	Status      Status `json:"status"`
	Evidence    string `json:"evidence"`
	Remediation string `json:"remediation,omitempty"`

	// EvidenceRefs names the entries of evidence_collected that show the status:
	// file_checks/0, test_results.
	EvidenceRefs []string `json:"evidence_refs,omitempty"`
}

// Evidence is what a validator has captured, in the protocol's four shapes.
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

// TestResults are what a command came to. The snippet is the first 500
// characters of its output.
type TestResults struct {
	Command  string `json:"command,omitempty"`
	ExitCode *int   `json:"exit_code,omitempty"`
	Passed   *int   `json:"passed,omitempty"`
	Failed   *int   `json:"failed,omitempty"`
	Skipped  *int   `json:"skipped,omitempty"`
	Output   string `json:"output_snippet,omitempty"`
}

// An APIResponse is what an endpoint answered.
type APIResponse struct {
	Endpoint   string `json:"endpoint"`
	Method     string `json:"method,omitempty"`
	StatusCode int    `json:"status_code,omitempty"`
	Snippet    string `json:"response_snippet,omitempty"`
}

// A FileCheck is what a file of the worktree was found to be.
type FileCheck struct {
	Path             string `json:"path"`
	Exists           *bool  `json:"exists,omitempty"`
	SizeBytes        *int64 `json:"size_bytes,omitempty"`
	ContainsExpected *bool  `json:"contains_expected,omitempty"`
	Note             string `json:"note,omitempty"`
}
