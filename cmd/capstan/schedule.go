package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/validators/schedule"
)

func (c *Command) schedule() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "schedule",
		Short: "Prepare databases for the schedule gates",
		Example: `  capstan schedule init demo.db --demo
  capstan schedule show demo.db`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var demo bool
	start := &cobra.Command{
		Use:   "init DB",
		Short: "Create the schedule tables in a database",
		Long: `Create the schedule tables and the send types in a SQLite file, or in a PostgreSQL
database by its DSN. In an existing database, the command adds missing tables and
changes nothing else.`,
		Example: `  capstan schedule init demo.db --demo`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := schedule.Init(cmd.Context(), args[0], demo); err != nil {
				return &exit{exitBroken, err}
			}
			fmt.Fprintln(c.Stderr, "the schedule tables are ready")
			return nil
		},
	}
	start.Flags().BoolVar(&demo, "demo", false, "demo data: three creators, 400 captions, 60 days of messages")
	cmd.AddCommand(start, c.scheduleSettings(), c.scheduleShow())
	return cmd
}

// inSchedules opens a schedule database and runs body.
func inSchedules(dsn string, body func(*schedule.DB) error) error {
	db, err := schedule.Open(dsn)
	if err == nil {
		err = errors.Join(body(db), db.Close())
	}
	if err != nil {
		return &exit{exitBroken, err}
	}
	return nil
}

func (c *Command) scheduleSettings() *cobra.Command {
	var phase int
	var key string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "settings DB",
		Short: "Show or change the certificate rules of a database",
		Long: `Show or change which certificate a schedule needs before it is saved. In phase 1, a
schedule without a valid certificate is saved with warnings; in phase 2 it is refused.
If the database has a verification key, no other key verifies a certificate.`,
		Example: `  capstan schedule settings demo.db
  capstan schedule settings demo.db --gatekeeper-phase 2 --verification-key public.pem`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("gatekeeper-phase") && phase != 1 && phase != 2 {
				return usage("--gatekeeper-phase must be 1 or 2, not %d", phase)
			}
			return inSchedules(args[0], func(db *schedule.DB) error {
				if cmd.Flags().Changed("verification-key") {
					if err := db.SetVerifyKey(cmd.Context(), key); err != nil {
						return err
					}
				}
				if cmd.Flags().Changed("gatekeeper-phase") { // last, so that an unreadable key changes nothing
					if err := db.SetPhase(cmd.Context(), phase); err != nil {
						return err
					}
				}
				s, err := db.Settings(cmd.Context())
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(c.Stdout, s)
				}
				_, err = fmt.Fprintf(c.Stdout, "gatekeeper phase  %d\nverification key  %s\ndatabase id       %s\n", s.Phase, cmp.Or(s.VerifyKey, "none: each save has to give one"), s.ID)
				return err
			})
		},
	}
	cmd.Flags().IntVar(&phase, "gatekeeper-phase", 0, "new phase of the gatekeeper: 1 warns, 2 refuses")
	cmd.Flags().StringVar(&key, "verification-key", "", "file of the public keys that verify certificates")
	cmd.Flags().BoolVar(&asJSON, "json", false, flagTexts["json"])
	return cmd
}

func (c *Command) scheduleShow() *cobra.Command {
	var creator, week string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show DB",
		Short: "List saved weeks, or the rows of one week",
		Long: `List the saved weeks of a database. --week lists the rows of each week that starts on
that day.`,
		Example: `  capstan schedule show demo.db
  capstan schedule show demo.db --week 2026-01-05`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return inSchedules(args[0], func(db *schedule.DB) error {
				weeks, err := savedWeeks(cmd.Context(), db, creator, week)
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(c.Stdout, map[string]any{"weeks": weeks})
				}
				if len(weeks) == 0 {
					fmt.Fprintln(c.Stderr, "no week is saved there")
				}
				return printWeeks(c.Stdout, weeks)
			})
		},
	}
	cmd.Flags().StringVar(&creator, "creator", "", "only weeks of this creator, by id or page name")
	cmd.Flags().StringVar(&week, "week", "", "only weeks that start on this day, like 2026-01-05, with their rows")
	cmd.Flags().BoolVar(&asJSON, "json", false, flagTexts["json"])
	return cmd
}

// A savedWeek is a week with its rows, if they were requested.
type savedWeek struct {
	schedule.Week
	Rows []schedule.Row `json:"rows,omitempty"`
}

func savedWeeks(ctx context.Context, db *schedule.DB, creator, week string) ([]savedWeek, error) {
	found, err := db.Weeks(ctx, creator, week)
	weeks := make([]savedWeek, len(found))
	for i, w := range found {
		weeks[i].Week = w
		if week != "" && err == nil {
			weeks[i].Rows, err = db.Rows(ctx, w.Creator, w.Start)
		}
	}
	return weeks, err
}

func printWeeks(out io.Writer, weeks []savedWeek) error {
	var w reports.Text
	var rows [][]string
	if len(weeks) > 0 {
		rows = [][]string{{"creator", "week", "revision", "items", "status", "score", "hash", "saved"}}
	}
	for _, s := range weeks {
		rows = append(rows, []string{column(s.Creator), column(s.Start), column(s.Revision), column(s.Items), column(s.Status), optional(s.Score), fmt.Sprintf("%.12s", column(s.Hash)), column(s.Saved)})
	}
	w.Table(rows)
	for _, s := range weeks {
		if len(s.Rows) == 0 {
			continue
		}
		rows = [][]string{{"\nrow", "date", "time", "send type", "content", "price", "caption"}}
		for _, r := range s.Rows {
			caption := "-"
			if r.Caption != nil {
				caption = column(r.Caption)
			}
			rows = append(rows, []string{column(r.Position), column(r.Date), column(r.Time), column(r.SendType), optional(r.ContentType), optional(r.Price), caption})
		}
		w.Table(rows)
	}
	return w.Write(out)
}

// optional returns a value of a row, or "-" for null.
func optional[T any](v *T) string {
	if v == nil {
		return "-"
	}
	return column(*v)
}

// column escapes characters in a text of the database that could leave its
// column.
func column(v any) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '·'
		}
		return r
	}, fmt.Sprint(v))
}

func (c *Command) keygen() *cobra.Command {
	dir := "."
	cmd := &cobra.Command{
		Use:   "keygen",
		Short: "Create a key pair for receipts and certificates",
		Long: `Write private.pem, which signs receipts and certificates, and public.pem, which verifies
them. Existing files are never overwritten.`,
		Example: `  capstan receipt keygen`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			private, public, err := schedule.Keygen()
			if err != nil {
				return &exit{exitBroken, err}
			}
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return usage("%w", err)
			}
			for _, key := range []struct {
				name string
				text []byte
			}{{"private.pem", private}, {"public.pem", public}} {
				file := filepath.Join(dir, key.name)
				if err := writeNew(file, key.text, 0o600); err != nil {
					return usage("%w", err)
				}
				fmt.Fprintln(c.Stdout, file)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&dir, "dir", dir, "folder for the keys")
	return cmd
}
