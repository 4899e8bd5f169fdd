package validators

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/seed61713e19/capstan/validators/schema"
)

// A Verdict is what a validator says of a text.
type Verdict struct {
	Valid    bool     `json:"valid"`
	Reason   string   `json:"reason"`
	Score    *float64 `json:"score,omitempty"` // 0 to 1
	Issues   []Issue  `json:"issues,omitempty"`
	Warnings []Issue  `json:"warnings,omitempty"`
	Fix      string   `json:"fix,omitempty"`
	Evidence any      `json:"evidence,omitempty"`
	Status   string   `json:"status,omitempty"`
	Details  any      `json:"details,omitempty"`
}

// An Issue is one finding of a validator.
type Issue struct {
	Check    string `json:"check"`
	Severity string `json:"severity"`
	Message  string `json:"message"`
	Location string `json:"location"`
	Expected string `json:"expected,omitempty"`
	Got      string `json:"got,omitempty"`
}

// Pass is a valid verdict with a reason.
func Pass(format string, args ...any) Verdict {
	return Verdict{Valid: true, Reason: fmt.Sprintf(format, args...)}
}

// Fail is an invalid verdict with a reason.
func Fail(format string, args ...any) Verdict {
	return Verdict{Reason: fmt.Sprintf(format, args...)}
}

// FailWith is an invalid verdict whose reason is its issues in one line.
func FailWith(issues ...Issue) Verdict {
	words := make([]string, len(issues))
	for i, issue := range issues {
		words[i] = issue.Message
		if issue.Location != "" {
			words[i] = issue.Location + ": " + issue.Message
		}
	}
	return Verdict{Reason: strings.Join(words, "; "), Issues: issues}
}

// ParseVerdict reads a verdict's JSON strictly, as LANGUAGE §4 has it: valid
// must be a real boolean, true alone is accepted for a pass, and anything else
// is an error, not a no. Keys that are not a verdict's own are kept in details.
func ParseVerdict(text []byte) (Verdict, error) {
	v, err := schema.Parse(text)
	if err != nil {
		return Verdict{}, fmt.Errorf("verdict: %w", err)
	}
	return VerdictFrom(v)
}

// VerdictIn is [ParseVerdict] for a text with a verdict somewhere in it: what
// a model or a cascade says, in prose or fences.
func VerdictIn(text string) (Verdict, error) {
	v, _, err := schema.Extract(text, verdictLike())
	if err != nil {
		return Verdict{}, fmt.Errorf("verdict: %w", err)
	}
	return VerdictFrom(v)
}

// VerdictFrom is [ParseVerdict] for a plain value.
func VerdictFrom(value any) (Verdict, error) {
	if value == true {
		return Verdict{Valid: true}, nil
	}
	object, ok := value.(map[string]any)
	if !ok {
		return Verdict{}, errors.New(`verdict: want an object {"valid": true or false, "reason": "…"}`)
	}
	valid, ok := object["valid"].(bool)
	if !ok {
		return Verdict{}, fmt.Errorf(`verdict: "valid" must be true or false, not %s`, brief(object["valid"], object, "valid"))
	}
	v, err := decodeVerdict(object)
	if err != nil {
		return Verdict{}, fmt.Errorf("verdict: %w", err)
	}
	v.Valid = valid
	return v, v.check()
}

func (v Verdict) check() error {
	if v.Score != nil && (math.IsNaN(*v.Score) || *v.Score < 0 || *v.Score > 1) {
		return fmt.Errorf("verdict: score must be from 0 to 1, not %v", *v.Score)
	}
	return nil
}

func decodeVerdict(object map[string]any) (Verdict, error) {
	var v Verdict
	text, err := json.Marshal(object)
	if err != nil {
		return v, err
	}
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&v); err != nil {
		return v, fmt.Errorf("%s", strings.TrimPrefix(err.Error(), "json: "))
	}
	extra := map[string]any{}
	for key, value := range object {
		if !verdictKeys[key] {
			extra[key] = value
		}
	}
	if v.Details == nil && len(extra) > 0 {
		v.Details = extra
	}
	return v, nil
}

var verdictKeys = map[string]bool{
	"valid": true, "reason": true, "score": true, "issues": true, "warnings": true,
	"fix": true, "evidence": true, "status": true, "details": true,
}

func brief(v any, object map[string]any, key string) string {
	if _, ok := object[key]; !ok {
		return "missing"
	}
	text, err := json.Marshal(v)
	if err != nil || len(text) > 60 {
		return fmt.Sprintf("a %T", v)
	}
	return string(text)
}

// UnmarshalJSON also takes a bare string, which models often give, as the
// message.
func (i *Issue) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		return json.Unmarshal(text, &i.Message)
	}
	type plain Issue
	return json.Unmarshal(text, (*plain)(i))
}
