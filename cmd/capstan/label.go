package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/measures/stats"
	"github.com/seed61713e19/capstan/internal/measures/trust"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
)

type labelFlags struct {
	store  storeFlags
	labels string
	from   string
	phase  string
	gate   string
	by     string
	order  string
	runs   []string
	limit  int
	random bool // imported texts were drawn at random
}

func (c *Command) label() *cobra.Command {
	f := labelFlags{gate: stats.All, order: stats.Random}
	cmd := &cobra.Command{
		Use:   "label FILE",
		Short: "Label texts as good or bad to measure gates",
		Long: `Show the texts of stored runs one by one, and ask for each: y good, n bad, s skip, q
quit. --order disagreement favours texts on which gates disagree, to find their errors
sooner; rates weight these labels. Labels are JSON Lines in the folder labels next to
FILE. --import reads labels from CSV or JSON Lines, with the fields content or text,
good, phase, gate, reason, by and time; rates use them only with --order random.`,
		Example: `  capstan measure label post.yaml --phase draft
  capstan measure label post.yaml --import reviewed.csv --phase draft --as ann`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.by = cmp.Or(f.by, c.person())
			cascade, err := c.load(args[0])
			if err != nil {
				return err
			}
			if err := f.fits(cascade); err != nil {
				return err
			}
			if f.from != "" {
				f.random = cmd.Flags().Changed("order") && f.order == stats.Random
				return c.importLabels(cascade, f)
			}
			return c.look(f.store, func(j *journal.Journal) error { return c.askLabels(cmd.Context(), j, cascade, f) })
		},
	}
	f.store.add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.labels, "labels", "", flagTexts["labels"])
	flags.StringVar(&f.from, "import", "", "CSV or JSON Lines file with existing labels")
	flags.StringVar(&f.phase, "phase", "", flagTexts["phase"])
	flags.StringVar(&f.gate, "gate", f.gate, flagTexts["gate"])
	flags.StringVar(&f.by, "as", "", flagTexts["as"])
	choose(cmd, &f.order, "order", "how texts are drawn", stats.Random, stats.Disagreement)
	flags.StringSliceVar(&f.runs, "runs", nil, flagTexts["runs"])
	countedFrom0(cmd, &f.limit, "limit", flagTexts["limit"])
	return cmd
}

// fits returns an error if the cascade does not have the phase or the gate.
func (f labelFlags) fits(cascade *cascades.Cascade) error {
	gates, err := cascade.Gates("", nil)
	if err != nil {
		return &exit{exitBroken, err}
	}
	if f.phase != "" && !cascade.Has(f.phase) {
		return usage("%s has no phase %q", cascade.File, f.phase)
	}
	if f.gate != stats.All && !slices.ContainsFunc(gates, func(g cascades.Gate) bool { return g.Name == f.gate }) {
		return usage("%s has no gate %q", cascade.File, f.gate)
	}
	return nil
}

// askLabels asks about one text after the other.
func (c *Command) askLabels(ctx context.Context, j *journal.Journal, cascade *cascades.Cascade, f labelFlags) error {
	dir := labelDir(cascade.File, f.labels)
	labels, err := c.readLabels(dir, false)
	if err != nil {
		return err
	}
	attempts, err := attemptsOf(ctx, j, cascade.ID, f.runs)
	if err != nil {
		return err
	}
	all, err := trust.Candidates(attempts)
	if err != nil {
		return &exit{exitBroken, err}
	}
	ledger := stats.NewLedger(labels)
	all = slices.DeleteFunc(all, func(d trust.Candidate) bool {
		return !cascade.Writes(d.Phase) || f.phase != "" && d.Phase != f.phase
	})
	drawn := trust.Draw(all, f.order, func(d trust.Candidate) (stats.Label, bool) { return ledger.By(f.by, d.Text, d.Phase, f.gate) })
	if f.limit > 0 {
		drawn = drawn[:min(f.limit, len(drawn))]
	}
	in, made := bufio.NewReader(c.Stdin), 0
	for i, d := range drawn {
		text, err := textOf(ctx, j, d)
		if err != nil {
			return &exit{exitBroken, err}
		}
		fmt.Fprintf(c.visible(), "--- %d of %d · phase %s · %s ---\n%s\n", i+1, len(drawn), d.Phase, d.Text[:12], text)
		answer, err := c.opinion(ctx, in, f.question())
		if err != nil {
			return &exit{exitInterrupted, err}
		}
		if answer.word == "q" {
			break
		}
		if answer.word == "s" {
			continue
		}
		l := stats.Label{Phase: d.Phase, Gate: f.gate, Good: answer.word == "y", Reason: answer.reason, By: f.by, Draw: &d.Draw}
		if err := storeLabel(dir, text, l); err != nil {
			return &exit{exitBroken, err}
		}
		made++
		c.printVerdicts(d)
	}
	fmt.Fprintf(c.Stderr, "%d labelled, %d left\n", made, len(drawn)-made)
	return nil
}

// question returns the question about each text.
func (f labelFlags) question() string {
	if f.gate != stats.All {
		return "should " + f.gate + " pass it"
	}
	return "is it good"
}

// textOf returns the text of a candidate from its run.
func textOf(ctx context.Context, j *journal.Journal, d trust.Candidate) (string, error) {
	for e, err := range j.Events(ctx, d.RunID, 0, journal.Brief) {
		if err != nil {
			return "", err
		}
		if e.Kind == event.AttemptFinished && string(e.Path) == d.Path {
			return e.Text, nil
		}
	}
	return "", fmt.Errorf("run %s no longer has a text at %s", d.RunID, d.Path)
}

// printVerdicts prints the verdicts of the gates after the answer.
func (c *Command) printVerdicts(d trust.Candidate) {
	for _, v := range d.Verdicts {
		word := "no"
		if *v.Valid {
			word = "yes"
		}
		if v.Score != nil {
			word += fmt.Sprintf(" (%.2f)", *v.Score)
		}
		fmt.Fprintf(c.Stdout, "  %s %s: %s\n", v.Moment, v.Validator, word)
	}
}

// storeLabel appends a label to the file of its person, and stores the text.
func storeLabel(dir, text string, l stats.Label) error {
	l.Text = stats.TextDigest(text)
	if l.Time.IsZero() {
		l.Time = time.Now().UTC().Truncate(time.Second)
	}
	for name, content := range map[string]string{l.Text + ".txt": text, ".gitattributes": "* -text\n"} { // line ends are part of the digest
		name = filepath.Join(dir, "texts", name)
		if _, err := os.Stat(name); err == nil {
			continue
		}
		if err := writeBeside(name, []byte(content)); err != nil {
			return err
		}
	}
	return addLabel(dir, l)
}

// addLabel appends a label to the file of its person.
func addLabel(dir string, l stats.Label) error {
	line, err := l.Line()
	if err != nil {
		return err
	}
	return addLine(filepath.Join(dir, fileName(l.By)+".jsonl"), line)
}

// fileName returns a file name for a person.
func fileName(by string) string {
	name := strings.TrimSuffix(stats.EvidenceName(by), ".json")
	return cmp.Or(name, "unnamed")
}
