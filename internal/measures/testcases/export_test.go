package testcases

import (
	"context"

	"github.com/seed61713e19/capstan/cascades"
)

// RunAll returns the outcomes of [Each].
func RunAll(ctx context.Context, dirs []string, known cascades.Known) []Outcome {
	var all []Outcome
	Each(ctx, dirs, known, func(_ *Case, o Outcome) { all = append(all, o) })
	return all
}
