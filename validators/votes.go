package validators

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Majority is the verdict of an odd number of votes of a judge. That of one is the
// vote; else its score is the share of the yeses, its reasons and issues are those of
// the side that won, and what the other side said is kept in the warnings.
func Majority(votes []Verdict) Verdict {
	if len(votes) == 1 {
		return votes[0]
	}
	yes := 0
	for _, v := range votes {
		if v.Valid {
			yes++
		}
	}
	share := float64(yes) / float64(len(votes))
	sum := Verdict{Valid: 2*yes > len(votes), Score: &share}
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
		sum.Fix = cmp.Or(sum.Fix, v.Fix)
	}
	sum.Reason = fmt.Sprintf("%d of %d votes say %s", won, len(votes), word)
	if len(reasons) > 0 {
		sum.Reason += ": " + strings.Join(reasons, "; ")
	}
	return sum
}

// outvoted is what a vote of the side that lost said.
func outvoted(v Verdict) Issue {
	word := "no"
	if v.Valid {
		word = "yes"
	}
	message := "one vote says " + word
	if v.Reason != "" {
		message += ": " + v.Reason
	}
	return Issue{Check: "votes", Severity: "warning", Message: message}
}

// Confirmed is what a judge's no and what was said the second time come to: two
// noes are a no, and one is a yes with a warning.
func Confirmed(no, again Verdict) Verdict {
	if again.Valid {
		again.Warnings = append(slices.Clone(again.Warnings), Issue{
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
