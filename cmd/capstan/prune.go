package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/journal"
)

func (c *Command) prune() *cobra.Command {
	var store storeFlags
	var older string
	var labels []string
	var asJSON bool
	p := journal.Pruning{Keep: []string{journal.Frozen, engine.Waiting}}
	cmd := &cobra.Command{
		Use:   "prune --older AGE",
		Short: "Delete old runs and free their space",
		Long: `Delete runs that ended before the age, and unfinished runs that started before it.
Active runs stay. An age is a number of hours, days or weeks: 12h, 90d, 2w. --keep names
the kinds of runs that stay at any age: frozen (recorded as a test), labelled, waiting,
unfinished, or none.`,
		Example: "  capstan runs prune --older 90d --dry-run\n  capstan runs prune --older 90d --keep labelled,frozen\n" +
			"  capstan runs prune --older 2w --keep frozen,unfinished",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			age, err := ageOf(older)
			if err != nil {
				return err
			}
			if p.Keep, err = keepOf(p.Keep); err != nil {
				return err
			}
			keeps := slices.Contains(p.Keep, journal.Labelled)
			if len(labels) > 0 && !keeps {
				return usage("--label-folders goes with --keep labelled")
			}
			p.Before = time.Now().Add(-age)
			j, err := c.openStored(store, p.DryRun)
			if err != nil {
				return err
			}
			defer j.Close()
			if keeps {
				if p.Labelled, err = c.labelledRuns(cmd.Context(), j, p.Before, labels); err != nil {
					return err
				}
			}
			done, err := j.Prune(cmd.Context(), p)
			if err != nil {
				return &exit{exitBroken, err}
			}
			if asJSON {
				return printJSON(c.Stdout, struct {
					journal.Pruned
					DryRun bool `json:"dry_run"`
				}{done, p.DryRun})
			}
			c.printPruned(done, p.DryRun)
			return nil
		},
	}
	store.add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&older, "older", "", "least age of the runs to delete: 12h, 90d or 2w")
	flags.StringSliceVar(&p.Keep, "keep", p.Keep, "kinds of runs that stay: "+strings.Join(journal.Kinds, ", ")+" or none")
	flags.StringSliceVar(&labels, "label-folders", nil, "folders of labels, for --keep labelled (default labels next to each cascade)")
	flags.BoolVar(&p.DryRun, "dry-run", false, "a list of the runs, without deleting them")
	flags.BoolVar(&asJSON, "json", false, flagTexts["json"])
	return cmd
}

// keepOf checks the words of --keep.
func keepOf(words []string) ([]string, error) {
	if len(words) == 1 && words[0] == "none" {
		return nil, nil
	}
	for _, word := range words {
		if !slices.Contains(journal.Kinds, word) {
			return nil, usage("--keep takes %s, or none, not %q", strings.Join(journal.Kinds, ", "), word)
		}
	}
	return words, nil
}

// ageOf parses an age in whole hours, days or weeks. Months and minutes are
// rejected, because "m" is ambiguous.
func ageOf(text string) (time.Duration, error) {
	const day = 24 * time.Hour
	for unit, length := range map[string]time.Duration{"h": time.Hour, "d": day, "w": 7 * day} {
		count, ok := strings.CutSuffix(text, unit)
		if n, err := strconv.ParseUint(count, 10, 16); ok && err == nil {
			return time.Duration(n) * length, nil
		}
	}
	return 0, usage("--older wants an age in days, weeks or hours, like 90d, 2w or 12h, not %q", text)
}

func (c *Command) printPruned(done journal.Pruned, dry bool) {
	if dry {
		for _, id := range done.Runs {
			fmt.Fprintln(c.Stdout, oneLine(id))
		}
		fmt.Fprintf(c.Stderr, "%s would be removed, %s left\n", reports.Count(len(done.Runs), "run"), reports.Count(done.Retained, "old run"))
		return
	}
	fmt.Fprintf(c.Stdout, "%s removed, %s left; %s freed\n",
		reports.Count(len(done.Runs), "run"), reports.Count(done.Retained, "old run"), bytesOf(max(done.Before-done.After, 0)))
	if done.Free > 0 {
		fmt.Fprintf(c.Stderr,
			"note: %s stay free inside the file for later runs, because an older capstan created it and it is in use: prune again while no run is active\n", bytesOf(done.Free))
	}
}

// bytesOf returns a size for people.
func bytesOf(n int64) string {
	switch {
	case n < 1_000:
		return fmt.Sprintf("%d bytes", n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1f KB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}
