package validators

import (
	"fmt"
	"strconv"

	"github.com/seed61713e19/capstan/internal/schema"
)

// WinnerIn returns the choice at the end of an evaluator's reply, a number from
// 1 to n, and its reason: {"winner": 2, "reason": "…"}. The number may be a
// string. [schema.Final] defines which replies are read.
func WinnerIn(text string, n int) (winner int, reason string, err error) {
	found, err := schema.Final(text, "winner")
	if err != nil {
		return 0, "", err
	}
	object, _ := found.(map[string]any)
	winner, ok := schema.Whole(object["winner"])
	if digits, isText := object["winner"].(string); isText {
		winner, err = strconv.Atoi(digits)
		ok = err == nil
	}
	if !ok || winner < 1 || winner > n {
		return 0, "", fmt.Errorf(`"winner" must be a number from 1 to %d, not %s`, n, describeMember(object["winner"], object, "winner"))
	}
	reason, _ = object["reason"].(string)
	return winner, reason, nil
}
