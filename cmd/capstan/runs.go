package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/internal/nextsteps"
	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/runner/journal"
)

func (c *Command) runsList() *cobra.Command {
	var store storeFlags
	f := journal.Filter{Limit: 20}
	var asJSON bool
	var total int
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List stored runs, newest first",
		Example: "  capstan runs list --status blocked --limit 5",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.Status != "" && !slices.Contains(nextsteps.Statuses, f.Status) {
				return usage("--status is one of %s, not %q", strings.Join(nextsteps.Statuses, ", "), f.Status)
			}
			list := []journal.Summary{}
			j, err := c.openStored(store, true)
			if err != nil && !errors.Is(err, errNoRuns) {
				return err
			}
			if err == nil {
				defer j.Close()
				if list, err = j.Runs(cmd.Context(), f); err == nil && len(list) == f.Limit && !asJSON {
					total, err = j.Count(cmd.Context(), f)
				}
				if err != nil {
					return &exit{exitBroken, err}
				}
			}
			if asJSON {
				return printJSON(c.Stdout, map[string]any{"runs": append([]journal.Summary{}, list...)})
			}
			if len(list) == 0 && f.Status+f.Cascade+f.Words != "" {
				fmt.Fprintln(c.Stderr, "no runs match")
				return nil
			}
			if err := c.printRuns(list); err != nil {
				return err
			}
			if total > len(list) {
				fmt.Fprintf(c.Stderr, "%d of %d runs; --limit 0 lists all\n", len(list), total)
			}
			return nil
		},
	}
	store.add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.Status, "status", "", "only runs with this status")
	flags.StringVar(&f.Cascade, "cascade", "", "only runs of the cascade with this id")
	flags.StringVar(&f.Words, "words", "", "only runs with these words in a text, and where they appear")
	countedFrom0(cmd, &f.Limit, "limit", flagTexts["limit"])
	flags.BoolVar(&asJSON, "json", false, flagTexts["json"])
	return cmd
}

func (c *Command) printRuns(list []journal.Summary) error {
	if len(list) == 0 {
		fmt.Fprintln(c.Stderr, "no runs; capstan run keeps them")
		return nil
	}
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "RUN\tCASCADE\tSTATUS\tSTARTED\tTOOK\tCALLS\tTOKENS\tCOST")
	for _, r := range list {
		status := r.Status
		if r.Only != "" {
			status += ", only " + oneLine(r.Only)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%d\t%d\t%s\n", oneLine(r.RunID), oneLine(r.CascadeID), status,
			reports.Time(r.Started), took(r), r.Usage.Calls, r.Usage.Tokens(), dollars(r.Usage.CostUSD))
	}
	w.Flush() // to a strings.Builder: cannot fail
	for i, line := range strings.Split(strings.TrimSuffix(table.String(), "\n"), "\n") {
		if _, err := fmt.Fprintln(c.Stdout, line); err != nil {
			return err
		}
		if i > 0 && list[i-1].Hit != nil { // below the row of the run
			h := list[i-1].Hit
			fmt.Fprintf(c.Stdout, "  %s: %s«%s»%s\n", oneLine(h.Place()), flatly(h.Before), flatly(h.Words), flatly(h.After))
		}
	}
	return nil
}

// flatly returns text in one line, with a space in place of each control character.
func flatly(text string) string { return strings.Map(flat, text) }

func took(r journal.Summary) string {
	if r.Finished == nil {
		return "-"
	}
	return brief(r.Finished.Sub(r.Started))
}

// brief returns a duration in two or three digits.
func brief(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	default:
		return d.Round(time.Second).String()
	}
}

func dollars(cost float64) string {
	if cost == 0 {
		return "-"
	}
	return fmt.Sprintf("$%.4f", cost)
}

func (c *Command) events() *cobra.Command {
	var store storeFlags
	var after int64
	var follow, full bool
	cmd := &cobra.Command{
		Use:   "events RUN",
		Short: "Print the events of a run as JSON Lines",
		Long: `Print the events that run --events writes. RUN is the name of a run, the beginning of a
name, or last. A model_called event contains the messages since the previous call, and
messages_before counts the others; --full includes all messages.`,
		Example: `  capstan events last
  capstan events last --full | jq 'select(.kind == "verdict")'`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.look(store, func(j *journal.Journal) error {
				return c.printEvents(cmd.Context(), j, args[0], after, follow, full)
			})
		},
	}
	store.add(cmd)
	cmd.Flags().Int64Var(&after, "after", 0, "only events with a higher number")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "new events until the run ends")
	cmd.Flags().BoolVar(&full, "full", false, "every request with its whole conversation")
	return cmd
}

// followEvery is the interval at which a command reads new events.
const followEvery = 200 * time.Millisecond

func (c *Command) printEvents(ctx context.Context, j *journal.Journal, id string, after int64, follow, full bool) error {
	detail := journal.News
	if full {
		detail = journal.Whole
	}
	for {
		run, err := j.Run(ctx, id)
		if err != nil {
			return found(err, id)
		}
		for e, err := range j.Events(ctx, run.RunID, after, detail) {
			if err != nil {
				return &exit{exitBroken, err}
			}
			if full {
				e.Before = 0
			}
			line, err := e.MarshalJSON()
			if err != nil {
				return &exit{exitBroken, err}
			}
			if err := writeJSON(c.Stdout, append(line, '\n')); err != nil {
				return &exit{exitBroken, err}
			}
			after = e.Seq
		}
		if !follow || run.Status != journal.Running {
			return nil
		}
		select {
		case <-time.After(followEvery):
		case <-ctx.Done():
			return &exit{exitInterrupted, nil}
		}
	}
}

func (c *Command) sql() *cobra.Command {
	var store storeFlags
	format := "table"
	limit := 1000
	cmd := &cobra.Command{
		Use:   `sql "SELECT …"`,
		Short: "Query stored runs with read-only SQL",
		Long: `Query the views runs, phases, attempts, verdicts and calls. The dialect is SQLite, or
PostgreSQL if the runs are stored there.`,
		Example: `  capstan runs sql "SELECT validator, count(*) FROM verdicts WHERE valid = 0 GROUP BY 1"
  capstan runs sql "SELECT * FROM calls WHERE run_id = 'nightly'" --format csv`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.look(store, func(j *journal.Journal) error {
				table, err := j.Query(cmd.Context(), args[0], limit)
				if err != nil {
					return usage("%w", err)
				}
				return c.printTable(table, format)
			})
		},
	}
	store.add(cmd)
	choose(cmd, &format, "format", "output format", "table", "csv", "json")
	jsonFlag(cmd, &format)
	countedFrom0(cmd, &limit, "limit", flagTexts["limit"])
	return cmd
}

func (c *Command) printTable(t *journal.Table, format string) error {
	if format == "json" {
		return printJSON(c.Stdout, t)
	}
	rows := [][]string{t.Columns}
	for _, row := range t.Rows {
		cells := make([]string, len(row))
		for i, v := range row {
			if cells[i] = cell(v); format == "table" {
				cells[i] = oneLine(cells[i])
			}
		}
		rows = append(rows, cells)
	}
	if format == "csv" {
		return csv.NewWriter(c.Stdout).WriteAll(rows)
	}
	var out reports.Text
	out.Table(rows)
	return out.Write(c.Stdout)
}

func cell(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}
