package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/validators/schedule"
)

func (c *Command) schedule() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "schedule",
		Short: "Prepare what the schedule gates need",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var demo bool
	start := &cobra.Command{
		Use:   "init DB",
		Short: "Make the schedule tables in a SQLite file or a PostgreSQL database",
		Long: `Make the schedule tables in a SQLite file, which is created, or in a PostgreSQL
database by its DSN, and fill in the send types. On a database that has them it
adds what is missing and changes nothing else.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := schedule.Init(cmd.Context(), args[0], demo); err != nil {
				return &exit{exitBroken, err}
			}
			fmt.Fprintln(c.Stderr, "the schedule tables are ready")
			return nil
		},
	}
	start.Flags().BoolVar(&demo, "demo", false, "fill in demo data: three creators, 400 captions, 60 days of messages")
	cmd.AddCommand(start)
	return cmd
}

func (c *Command) keygen() *cobra.Command {
	dir := "."
	cmd := &cobra.Command{
		Use:   "keygen",
		Short: "Make a pair of keys: private.pem signs certificates, public.pem verifies them",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			private, public, err := schedule.Keygen()
			if err != nil {
				return &exit{exitBroken, err}
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
	cmd.Flags().StringVar(&dir, "dir", dir, "where the keys are written; nothing is written over")
	return cmd
}
