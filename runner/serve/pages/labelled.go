package pages

import (
	"context"
	"errors"
	"slices"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/serve/problems"
)

// labelWords are what a list can be asked for of what people said of runs' texts.
var labelWords = []string{"good", "bad"}

// LabelWords are those of the form.
func (runsView) LabelWords() []string { return labelWords }

// labelled are the runs of a list in which somebody called a text good, or bad; nil
// where that is not asked for.
func (s *Site) labelled(ctx context.Context, label string, f journal.Filter) (map[string]bool, error) {
	switch {
	case label == "":
		return nil, nil
	case !slices.Contains(labelWords, label):
		return nil, problems.Query("label must be one of %v", labelWords)
	case s.o.Scales == nil:
		return nil, problems.NotOffered("has no cascades whose labels it knows: name them when it is started")
	}
	texts := map[string]bool{}
	for _, name := range s.o.Cascades {
		scale, err := s.o.Scales.Weigh(ctx, name)
		if _, broken := errors.AsType[cascades.Diagnostics](err); broken {
			continue // its own pages say what is wrong with it
		}
		if err != nil {
			return nil, err
		}
		for _, l := range scale.Labels.Natural() {
			if l.Good == (label == "good") {
				texts[l.Text[:min(journal.TextDigits, len(l.Text))]] = true
			}
		}
	}
	f.Limit, f.Before, f.Words = 0, "", ""
	runs := map[string]bool{}
	for a, err := range s.o.Store.Attempts(ctx, f) {
		if err != nil {
			return nil, err
		}
		if texts[a.Text] {
			runs[a.RunID] = true
		}
	}
	return runs, nil
}
