package validators

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"strings"

	"github.com/seed61713e19/capstan/internal/schema"
)

// A Verdict is the result of a validator for a text.
type Verdict struct {
	Valid    bool     `json:"valid"`
	Reason   string   `json:"reason"`
	Score    *float64 `json:"score,omitempty"` // from 0 to 1
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

// Pass returns a valid verdict with a formatted reason.
func Pass(format string, args ...any) Verdict {
	return Verdict{Valid: true, Reason: fmt.Sprintf(format, args...)}
}

// Fail returns an invalid verdict with a formatted reason.
func Fail(format string, args ...any) Verdict {
	return Verdict{Reason: fmt.Sprintf(format, args...)}
}

// FailWith returns an invalid verdict with issues. Its reason lists them in one
// line.
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

// ParseVerdict reads a verdict's JSON strictly, see LANGUAGE §4. The key valid
// must be a boolean. A bare true is accepted as a pass. Anything else is an
// error, not a rejection. Unknown keys are stored in Details.
func ParseVerdict(text []byte) (Verdict, error) {
	v, err := schema.Parse(text)
	if err != nil {
		return Verdict{}, fmt.Errorf("verdict: %w", err)
	}
	return VerdictFrom(v)
}

// VerdictIn returns the verdict at the end of a reply of a model, a cascade or
// a tool. The reply may reason first and may put the verdict in a fence;
// [schema.Final] defines which replies are read. A reply with two verdicts is
// an error, because a rejection that quotes an acceptance must not count as
// one.
//
// "PASS", "FAIL", "true" and "false" are read as booleans, in upper or lower
// case. They may be the value of valid, or of the key verdict if valid is
// missing.
func VerdictIn(text string) (Verdict, error) {
	found, err := schema.Final(text, "valid", "verdict", "status")
	if err != nil {
		return Verdict{}, fmt.Errorf("verdict: %w", err)
	}
	if word, ok := found.(string); ok {
		found = map[string]any{"valid": word}
	}
	if object, ok := found.(map[string]any); ok {
		if _, ok := object["valid"]; !ok && object["verdict"] != nil {
			object["valid"] = object["verdict"]
		}
		if valid, ok := verdictWord(object["valid"]); ok {
			object["valid"] = valid
		}
		for _, key := range []string{"status", "verdict"} {
			if word, ok := verdictWord(object[key]); ok && word != object["valid"] {
				return Verdict{}, fmt.Errorf("verdict: %w: \"valid\" is %v, and %q is %s", schema.ErrAmbiguous, object["valid"], key, describeMember(object[key], object, key))
			}
		}
	}
	return VerdictFrom(found)
}

// verdictWord returns the boolean for a documented word; ok is false for other
// values.
func verdictWord(v any) (valid, ok bool) {
	word, _ := v.(string)
	valid, ok = verdictWords[strings.ToLower(word)]
	return valid, ok
}

// verdictWords are the words for a verdict and a status in the documents of the
// gates.
var verdictWords = map[string]bool{
	"true": true, "pass": true, "passed": true, "approve": true, "approved": true, "accept": true, "accepted": true,
	"false": false, "fail": false, "failed": false, "block": false, "blocked": false, "revise": false, "reject": false, "rejected": false,
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
		return Verdict{}, fmt.Errorf(`verdict: "valid" must be true or false, not %s`, describeMember(object["valid"], object, "valid"))
	}
	for key, value := range object {
		if strings.EqualFold(key, "valid") && value != valid {
			return Verdict{}, fmt.Errorf("verdict: %w: %q differs from %q", schema.ErrAmbiguous, key, "valid")
		}
	}
	v, err := decodeVerdict(object)
	if err != nil {
		return Verdict{}, fmt.Errorf("verdict: %w", err)
	}
	v.Valid = valid
	if !valid && v.Reason == "" {
		v.Reason = reasonFrom(v.Issues)
	}
	return v, v.check()
}

// reasonFrom returns the reason for a rejection without one: its issues, or a
// default. Feedback without a reason would help nobody.
func reasonFrom(issues []Issue) string {
	return cmp.Or(FailWith(issues...).Reason, "no reason was given")
}

func (v Verdict) check() error {
	if v.Score != nil && (math.IsNaN(*v.Score) || *v.Score < 0 || *v.Score > 1) {
		return fmt.Errorf("verdict: score must be from 0 to 1, not %v", *v.Score)
	}
	return nil
}

func decodeVerdict(object map[string]any) (Verdict, error) {
	v, err := schema.As[Verdict](object)
	if err != nil {
		return v, fmt.Errorf("%s", strings.TrimPrefix(err.Error(), "json: "))
	}
	extra := map[string]any{}
	for key, value := range object {
		if !verdictKeys[key] {
			extra[key] = value
		}
	}
	v.Details = mergeDetails(v.Details, extra)
	return v, nil
}

// mergeDetails adds members to the details of a verdict. The details' own
// members win. Details that are not an object stay as they are.
func mergeDetails(details any, extra map[string]any) any {
	if len(extra) == 0 {
		return details
	}
	if details == nil {
		return extra
	}
	if object, ok := details.(map[string]any); ok {
		maps.Copy(extra, object)
		return extra
	}
	return details
}

var verdictKeys = map[string]bool{
	"valid": true, "reason": true, "score": true, "issues": true, "warnings": true,
	"fix": true, "evidence": true, "status": true, "details": true,
}

func describeMember(v any, object map[string]any, key string) string {
	if _, ok := object[key]; !ok {
		return "missing"
	}
	text, err := json.Marshal(v)
	if err != nil || len(text) > 60 {
		return fmt.Sprintf("a %T", v)
	}
	return string(text)
}

// UnmarshalJSON also accepts a string as the message, because models often
// write one. It accepts numbers for the texts of an issue, such as a line for
// the location.
func (i *Issue) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		return json.Unmarshal(text, &i.Message)
	}
	var loose struct{ Check, Severity, Message, Location, Expected, Got scalar }
	if err := json.Unmarshal(text, &loose); err != nil {
		return err
	}
	*i = Issue{string(loose.Check), string(loose.Severity), string(loose.Message), string(loose.Location), string(loose.Expected), string(loose.Got)}
	return nil
}

// A scalar is a string. It also decodes a number or boolean as its text.
type scalar string

// UnmarshalJSON implements [json.Unmarshaler].
func (s *scalar) UnmarshalJSON(text []byte) error {
	switch text[0] {
	case '"', 'n':
		return json.Unmarshal(text, (*string)(s))
	case '{', '[':
		return errors.New("an issue's parts are strings")
	}
	*s = scalar(text)
	return nil
}
