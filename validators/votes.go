package validators

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Majority returns the verdict of an odd number of votes of a judge. The
// verdict of one vote is the vote itself. Otherwise the score is the share of
// valid votes, and the reasons and issues come from the majority. The warnings
// contain the other votes.
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
		reasons = appendDistinct(reasons, v.Reason)
		sum.Issues, sum.Warnings = append(sum.Issues, v.Issues...), append(sum.Warnings, v.Warnings...)
		sum.Fix = cmp.Or(sum.Fix, v.Fix)
	}
	sum.Reason = fmt.Sprintf("%d of %d votes say %s", won, len(votes), word)
	if len(reasons) > 0 {
		sum.Reason += ": " + strings.Join(reasons, "; ")
	}
	return sum
}

// outvoted returns a warning for a vote of the minority.
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

// Confirm returns the verdict of a judge whose rejection was checked a second
// time. Two rejections are a rejection. A single one becomes a warning of the
// valid verdict.
func Confirm(no, again Verdict) Verdict {
	if again.Valid {
		again.Warnings = append(slices.Clone(again.Warnings), Issue{
			Check: "confirm", Severity: "warning", Message: "a no was not confirmed: " + no.Reason,
		})
		return again
	}
	no.Reason = strings.Join(appendDistinct(appendDistinct(nil, no.Reason), again.Reason), "; ")
	for _, issue := range again.Issues {
		if !slices.Contains(no.Issues, issue) {
			no.Issues = append(slices.Clip(no.Issues), issue)
		}
	}
	return no
}

// appendDistinct adds a reason that is not empty and not in the list yet.
func appendDistinct(reasons []string, reason string) []string {
	if reason == "" || slices.Contains(reasons, reason) {
		return reasons
	}
	return append(reasons, reason)
}
