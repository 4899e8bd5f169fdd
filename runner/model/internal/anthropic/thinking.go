package anthropic

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// The table lists the models whose thinking has a budget of tokens, and the share of
// max_tokens for each effort. Other models choose the amount themselves. Its columns are
//
//	kind    budget: a model whose name begins with word; share: an effort and its share in percent
//	word    the beginning of a model's name, or the effort
//	value   the share; 0 for a model
//	source  the page with the model or the share
//	match   a name or an effort that the row matches
//	no      a name or an effort that the row does not match
//
//go:embed tables/thinking.tsv
var thinkingTable string

type thinkingRow struct {
	kind, word string
	value      int
}

var thinkingRows = sync.OnceValue(func() (rows []thinkingRow) {
	for line := range strings.Lines(thinkingTable) {
		cells := strings.Split(line, "\t")
		if value, err := strconv.Atoi(cells[2]); err == nil {
			rows = append(rows, thinkingRow{cells[0], cells[1], value})
		}
	}
	return rows
})

// minBudget is the smallest budget that the protocol allows.
const minBudget = 1024

type thinking struct {
	Type    string `json:"type"`
	Budget  int    `json:"budget_tokens,omitempty"`
	Display string `json:"display,omitempty"`
}

// thinkingOf returns the members that ask a model for an effort: thinking and the
// effort of output_config. Both are empty for no effort.
func thinkingOf(name, effort string, maxTokens int) (*thinking, string, error) {
	switch {
	case effort == "":
		return nil, "", nil
	case !hasBudget(name):
		return &thinking{Type: "adaptive", Display: "summarized"}, effort, nil
	}
	share, efforts := shareOf(effort)
	budget := max(maxTokens*share/100, minBudget)
	switch {
	case share == 0:
		return nil, "", fmt.Errorf("effort %s: %s takes %s", effort, name, efforts)
	case budget >= maxTokens:
		return nil, "", fmt.Errorf("effort %s: %s thinks for at least %d tokens of its answer: set max_output_tokens above %d",
			effort, name, minBudget, minBudget)
	}
	return &thinking{Type: "enabled", Budget: budget}, "", nil
}

func hasBudget(name string) bool {
	for _, row := range thinkingRows() {
		if row.kind == "budget" && strings.HasPrefix(name, row.word) {
			return true
		}
	}
	return false
}

// shareOf returns the share of an effort in percent, 0 for an unknown one, and the
// known efforts.
func shareOf(effort string) (share int, efforts string) {
	var words []string
	for _, row := range thinkingRows() {
		if row.kind != "share" {
			continue
		}
		words = append(words, row.word)
		if row.word == effort {
			share = row.value
		}
	}
	return share, strings.Join(words, ", ")
}
