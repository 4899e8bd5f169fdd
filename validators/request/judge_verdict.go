package request

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed61713e19/capstan/validators"
)

// The policies for a judge that is not available.
const (
	unavailableBlock = "block"
	unavailableWarn  = "warn"
)

type judgeParams struct {
	Unavailable string `json:"on_judge_unavailable,omitempty" jsonschema:"policy if no verdict of a judge can be read: block is an error, warn passes with a warning. Default: block"`
	Record      any    `json:"record,omitempty" jsonschema:"result of the gates before; it becomes the verdict's details"`
}

// Prepare refuses a policy that there is not.
func (p *judgeParams) Prepare() error {
	switch p.Unavailable {
	case "", unavailableBlock, unavailableWarn:
		return nil
	default:
		return fmt.Errorf("on_judge_unavailable must be block or warn, not %q", p.Unavailable)
	}
}

// JudgeValidator is the third gate as a validator, "judge_verdict". The judge's
// answer {"verdict": "PASS", "reasoning": …} is valid with exactly this
// verdict.
//
// Any other word is a rejection with the judge's reasoning. An unreadable or
// empty text is an error. If the policy on_judge_unavailable is warn, it passes
// with a warning. The parameter record becomes the details of the verdict, so
// that a chain of gates ends in its record.
var JudgeValidator = validators.New("judge_verdict", "Validates that a judge's verdict is PASS",
	func(_ context.Context, p judgeParams, s validators.Subject) (validators.Verdict, error) {
		v, err := p.verdict(s.Content)
		v.Details = p.Record
		return v, err
	}, validators.WithFaults(planted("verdict")...))

func (p judgeParams) verdict(text string) (validators.Verdict, error) {
	verdict, reasoning, err := judged(text)
	switch {
	case err != nil && p.Unavailable == unavailableWarn:
		v := validators.Pass("no judge: %v", err)
		v.Warnings = add(nil, "judge", "warning", "", fmt.Sprintf("the judge's verdict cannot be read: %v", err))
		return v, nil
	case err != nil:
		return validators.Verdict{}, fmt.Errorf("judge: %w", err)
	case verdict != string(Pass):
		v := validators.FailWith(validators.Issue{Check: "judge", Severity: "error", Location: "verdict",
			Message: fmt.Sprintf("is %s, not PASS: %s", quoted(verdict), clean(reasoning, maxText))})
		v.Status = clean(verdict, 20)
		return v, nil
	default:
		v := validators.Pass("PASS: %s", clean(reasoning, maxText))
		v.Status = verdict
		return v, nil
	}
}

// judged takes the verdict out of a judge's answer.
func judged(text string) (verdict, reasoning string, err error) {
	var p problems
	value, ok := p.parse([]byte(text))
	if !ok || len(p.list) > 0 {
		return "", "", errors.New(p.list[0].String())
	}
	object, _ := value.(map[string]any)
	verdict, ok = object["verdict"].(string)
	if !ok {
		return "", "", errors.New(`want {"verdict": "PASS", "reasoning": …}`)
	}
	reasoning, _ = object["reasoning"].(string)
	return verdict, reasoning, nil
}
