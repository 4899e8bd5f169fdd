package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/validators"
)

// A judge is asked as often as it has votes, one after the other, so that a run
// reads the same each time; a no that is to be confirmed is asked in the same way
// once more. The first call stands at path/model, the votes behind it at
// path/vote[i]/model, those of the second time below path/confirm.

// maxJudgements is how often a judge is asked that answers nonsense.
const maxJudgements = 3

// judged asks a model for a verdict.
func (f *flow) judged(path event.Path, at place, v *cascades.Validator, s validators.Subject) (verdict validators.Verdict, unsaid, err error) {
	criteria, err := v.Criteria.Render(f.checkVars(s, v.Criteria))
	if err != nil {
		return verdict, err, nil
	}
	question, err := prompt("judge", map[string]any{"criteria": criteria, "content": s.Content, "mark": mark(s.Content)})
	if err != nil {
		return verdict, err, nil
	}
	req := model.Request{
		Messages: []model.Message{{Role: model.User, Content: question}}, Schema: verdictSchema(),
		Phase: at.phase, Attempt: at.attempt, Turn: at.turn, Validator: v.Name,
	}
	verdict, unsaid, err = f.polled(path, v, req)
	if !v.Confirm || verdict.Valid || unsaid != nil || err != nil {
		return verdict, unsaid, err
	}
	again, unsaid, err := f.polled(path.Join("confirm"), v, req)
	if unsaid != nil || err != nil {
		return validators.Verdict{}, unsaid, err
	}
	return confirmed(verdict, again), nil, nil
}

// polled asks for every vote. One that is not given leaves no verdict.
func (f *flow) polled(path event.Path, v *cascades.Validator, req model.Request) (verdict validators.Verdict, unsaid, err error) {
	ladder := f.model(v.Model)
	if v.Votes <= 1 {
		return f.vote(path, ladder, req)
	}
	given := make([]validators.Verdict, v.Votes)
	for i := range given {
		where := path
		if i > 0 {
			where = path.At("vote", i)
		}
		if given[i], unsaid, err = f.vote(where, ladder, req); unsaid != nil || err != nil {
			return verdict, unsaid, err
		}
	}
	return majority(given), nil, nil
}

// vote asks once, and again where the answer is no verdict.
func (f *flow) vote(path event.Path, ladder cascades.Model, req model.Request) (verdict validators.Verdict, unsaid, err error) {
	for n := range maxJudgements {
		where := path.Join("model")
		if n > 0 {
			where = path.At("model", n)
		}
		resp, err := f.climb(where, ladder, req, &event.Telling{})
		if err != nil {
			return verdict, unanswered(err), stops(err)
		}
		if verdict, unsaid = validators.VerdictIn(resp.Text); unsaid == nil {
			break
		}
	}
	return verdict, unsaid, nil
}

// majority is the verdict of an odd number of votes: its score is the share of
// the yeses, its reasons and issues are those of the side that won, and what the
// other side said is kept in the warnings.
func majority(votes []validators.Verdict) validators.Verdict {
	yes := 0
	for _, v := range votes {
		if v.Valid {
			yes++
		}
	}
	share := float64(yes) / float64(len(votes))
	sum := validators.Verdict{Valid: 2*yes > len(votes), Score: &share}
	won, word := yes, "yes"
	if !sum.Valid {
		won, word = len(votes)-yes, "no"
	}
	var reasons []string
	for _, v := range votes {
		if v.Valid != sum.Valid {
			sum.Warnings = append(sum.Warnings, outvoted(v))
			continue
		}
		reasons = distinct(reasons, v.Reason)
		sum.Issues, sum.Warnings = append(sum.Issues, v.Issues...), append(sum.Warnings, v.Warnings...)
		if sum.Fix == "" {
			sum.Fix = v.Fix
		}
	}
	sum.Reason = fmt.Sprintf("%d of %d votes say %s", won, len(votes), word)
	if len(reasons) > 0 {
		sum.Reason += ": " + strings.Join(reasons, "; ")
	}
	return sum
}

// outvoted is what a vote of the side that lost said.
func outvoted(v validators.Verdict) validators.Issue {
	word := "no"
	if v.Valid {
		word = "yes"
	}
	message := "one vote says " + word
	if v.Reason != "" {
		message += ": " + v.Reason
	}
	return validators.Issue{Check: "votes", Severity: "warning", Message: message}
}

// confirmed is what a no and what was said the second time come to: two noes are
// a no, and one is a yes with a warning.
func confirmed(no, again validators.Verdict) validators.Verdict {
	if again.Valid {
		again.Warnings = append(slices.Clone(again.Warnings), validators.Issue{
			Check: "confirm", Severity: "warning", Message: "a no was not confirmed: " + no.Reason,
		})
		return again
	}
	no.Reason = strings.Join(distinct(distinct(nil, no.Reason), again.Reason), "; ")
	for _, issue := range again.Issues {
		if !slices.Contains(no.Issues, issue) {
			no.Issues = append(slices.Clip(no.Issues), issue)
		}
	}
	return no
}

// distinct adds a reason that says something new.
func distinct(reasons []string, reason string) []string {
	if reason == "" || slices.Contains(reasons, reason) {
		return reasons
	}
	return append(reasons, reason)
}

// unanswered is the error of a judge whose model failed, if the run may go on.
func unanswered(err error) error {
	if stops(err) != nil {
		return nil
	}
	return err
}
