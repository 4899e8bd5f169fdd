package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/runner/journal"
)

// labelledRuns returns the runs before a time that have a text with a label in
// one of the folders. Without folders, it searches the folder beside the run's
// cascade. It includes runs whose cascade is missing, because their labels are
// unknown.
func (c *Command) labelledRuns(ctx context.Context, j *journal.Journal, before time.Time, dirs []string) (map[string]bool, error) {
	runs, err := j.Runs(ctx, journal.Filter{Until: before})
	if err != nil {
		return nil, &exit{exitBroken, err}
	}
	texts := map[string]map[string]bool{} // by file of the cascade
	file, stay, unknown := map[string]string{}, map[string]bool{}, map[string]int{}
	for _, r := range runs {
		if _, err := os.Stat(r.File); err != nil && len(dirs) == 0 {
			stay[r.RunID] = true
			unknown[r.File]++
			continue
		}
		file[r.RunID] = r.File
		if texts[r.File] == nil {
			if texts[r.File], err = c.labelledTexts(r.File, dirs); err != nil {
				return nil, err
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(unknown)) {
		fmt.Fprintf(c.Stderr, "note: %s of %s stay: the cascade is missing, so their labels are unknown; --label-folders names the folder\n", reports.Count(unknown[name], "run"), oneLine(name))
	}
	for a, err := range j.Attempts(ctx, journal.Filter{Until: before}) {
		if err != nil {
			return nil, &exit{exitBroken, err}
		}
		has := texts[file[a.RunID]]
		if has[a.Text] || slices.ContainsFunc(a.Verdicts, func(v journal.Judgement) bool { return has[v.Text] }) {
			stay[a.RunID] = true
		}
	}
	return stay, nil
}

// labelledTexts returns the names of the labelled texts in the folders, or in
// the folder beside a cascade.
func (c *Command) labelledTexts(file string, dirs []string) (map[string]bool, error) {
	asked := len(dirs) > 0
	if !asked {
		dirs = []string{labelDir(file, "")}
	}
	texts := map[string]bool{}
	for _, dir := range dirs {
		labels, err := c.readLabels(dir, asked)
		if err != nil {
			return nil, err
		}
		for _, l := range labels {
			texts[l.Text[:journal.TextDigits]] = true
		}
	}
	return texts, nil
}
