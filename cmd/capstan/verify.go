package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/internal/files"
	"github.com/seed61713e19/capstan/internal/measures/stats"
	"github.com/seed61713e19/capstan/internal/receipts"
	"github.com/seed61713e19/capstan/internal/signatures"
)

func (c *Command) verify() *cobra.Command {
	var pub, policy string
	var gates []string
	var want receipts.Demand
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify TEXT RECEIPT --pub FILE",
		Short: "Verify a text against its receipt, offline",
		Long: `Check that a text is, byte for byte, the text of a receipt, and that a key in --pub
signed the receipt. Without --require, the receipt does not prove which gates passed the
text. A receipt never proves that the text is true. TEXT or RECEIPT may be - for
standard input.`,
		Annotations: exitStatus("0 passed, 1 refused, 2 cannot tell"),
		Example: `  capstan receipt verify post.md post.receipt.json --pub public.pem
  capstan receipt verify post.md post.receipt.json --pub keys.json --require facts --max-age 720h`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			trust, err := c.publicKeys(pub)
			if err != nil {
				return err
			}
			// An empty requirement is a mistake.
			if cmd.Flags().Changed("require-cascade") {
				if err := signatures.CheckDigest(policy); err != nil {
					return usage("--require-cascade: %w", err)
				}
			}
			if cmd.Flags().Changed("max-age") && want.MaxAge <= 0 {
				return usage("--max-age must be more than 0, not %s", want.MaxAge)
			}
			want.Cascade, want.Now = policy, time.Now()
			for _, g := range gates {
				demand, err := signatures.ParseGateDemand(g)
				if err != nil {
					return usage("--require: %w", err)
				}
				want.Gates = append(want.Gates, demand)
			}
			return c.verifyText(cmd.Context(), args[0], args[1], trust, want, asJSON)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&pub, "pub", "", flagTexts["pub"])
	flags.StringArrayVar(&gates, "require", nil, "gate that must have passed the text: NAME or NAME=DIGEST; may be repeated")
	flags.StringVar(&policy, "require-cascade", "", "digest of the cascade that must have run")
	flags.DurationVar(&want.MaxAge, "max-age", 0, "maximum age of the receipt, like 720h")
	flags.BoolVar(&want.Degraded, "allow-degraded", false, "acceptance of a text that was released without a check")
	flags.BoolVar(&asJSON, "json", false, flagTexts["json"])
	return cmd
}

// verifyText prints the verification of a text and its receipt.
func (c *Command) verifyText(ctx context.Context, text, file string, trust signatures.Trust, want receipts.Demand, asJSON bool) error {
	if text == "-" && file == "-" {
		return usage("only one of TEXT and RECEIPT can be standard input")
	}
	source, done, err := c.source(ctx, text)
	if err != nil {
		return err
	}
	defer done()
	report, err := c.verified(ctx, source, file, trust, want)
	if err != nil {
		return err
	}
	if asJSON {
		err = printJSON(c.Stdout, report)
	} else {
		_, err = io.WriteString(c.Stdout, reportText(report))
	}
	switch {
	case err != nil:
		return err
	case report.Verdict == receipts.Refused:
		return &exit{status: exitNo}
	case report.Verdict == receipts.CannotTell:
		return &exit{status: exitUsage}
	}
	return nil
}

// verified returns the verification of a text and of the receipt in a file.
func (c *Command) verified(ctx context.Context, source receipts.Source, file string, trust signatures.Trust, want receipts.Demand) (receipts.Report, error) {
	sealed, unread := awaited(ctx, func() ([]byte, error) { return c.files().Bytes(file) })
	switch {
	case ctx.Err() != nil:
		return receipts.Report{}, stopped(ctx, unread)
	case unread != nil:
		return receipts.Unreadable(unread), nil
	}
	return receipts.Verify(source, sealed, trust, want), nil
}

// source opens a file of any length. Standard input and pipes are copied to a
// temporary file, because a mismatch reads the text again. The source reports
// an unreadable file.
func (c *Command) source(ctx context.Context, name string) (text receipts.Source, done func(), err error) {
	if name != "-" {
		if info, err := os.Stat(name); err != nil || info.Mode().IsRegular() || info.IsDir() {
			open := func() (io.ReadCloser, error) {
				f, err := os.Open(name)
				return f, files.Named(err)
			}
			return open, func() {}, nil
		}
	}
	spool, err := os.CreateTemp("", "capstan-verify-")
	if err != nil {
		return nil, nil, &exit{exitBroken, err}
	}
	os.Remove(spool.Name()) // an open file without a name disappears with the process
	done = func() {
		spool.Close()
		os.Remove(spool.Name())
	}
	_, unread := awaited(ctx, func() (int64, error) { return c.copyInto(spool, name) })
	if ctx.Err() != nil {
		done()
		return nil, nil, stopped(ctx, unread)
	}
	return func() (io.ReadCloser, error) {
		return io.NopCloser(io.NewSectionReader(spool, 0, math.MaxInt64)), unread
	}, done, nil
}

func (c *Command) copyInto(to io.Writer, name string) (int64, error) {
	from := c.Stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return 0, files.Named(err)
		}
		defer f.Close()
		from = f
	}
	return io.Copy(to, from)
}

// reportText returns a report for people. Each statement of the receipt stays
// in one line, because names of runs, gates and people may contain line ends.
func reportText(r receipts.Report) string {
	var b strings.Builder
	line := func(format string, args ...any) {
		b.WriteString(flatly(fmt.Sprintf(format, args...)) + "\n")
	}
	if r.Verdict == receipts.Passed {
		line("%s", r.Verdict)
	} else {
		line("%s: %s %s", r.Verdict, r.Field, r.Reason)
	}
	for _, statement := range r.Checked {
		line("  holds: %s", statement)
	}
	if c := r.Claim; c != nil {
		line("it says: run %s, phase %s, attempt %d, of cascade %s (%s), made %s", c.Run, c.Phase, c.Attempt, c.Cascade.ID, c.Cascade.Digest, r.Made)
		for _, g := range c.Gates {
			line("  %s %s (%s, %s) %s", cmp.Or(g.Verdict, "?"), g.Name, g.Moment, g.Mode, g.Digest)
			if s := g.Strength; s != nil {
				line("    measured: lets %s to %s of bad texts by (on %d), refuses %s to %s of good ones (on %d)",
					stats.Percent(s.FalsePass[0]), stats.Percent(s.FalsePass[1]), s.Bad, stats.Percent(s.FalseBlock[0]), stats.Percent(s.FalseBlock[1]), s.Good)
			}
		}
		for _, g := range c.Shadow {
			line("  %s %s (%s, in shadow: it decides nothing) %s", g.Verdict, g.Name, g.Moment, g.Digest)
		}
	}
	for _, statement := range r.NotProven {
		line("does not prove: %s", statement)
	}
	return b.String()
}
