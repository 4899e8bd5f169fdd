package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/reports"
)

// labelledRuns are the runs begun before a time that have a text with a label in one
// of the folders; where none is named, in that beside the run's own cascade. Of a run
// whose cascade is not there nobody can tell, and it is among them.
func (c *Command) labelledRuns(ctx context.Context, j *journal.Journal, before time.Time, dirs []string) (map[string]bool, error) {
	runs, err := j.Runs(ctx, journal.Filter{Until: before})
	if err != nil {
		return nil, &exit{exitBroken, err}
	}
	texts := map[string]map[string]bool{} // by the cascade's file
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
		fmt.Fprintf(c.Stderr, "note: %s of %s stay: it is not here, and so nobody can tell whether they have labels; --label-folders names the folder\n", reports.Count(unknown[name], "run"), oneLine(name))
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

// labelledTexts are the names of the texts with labels: in the folders, or in that
// beside a cascade's file.
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
