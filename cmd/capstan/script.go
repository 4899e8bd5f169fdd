package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/internal/measures/scripts"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/model/scripted"
)

func (c *Command) script() *cobra.Command {
	var store storeFlags
	cmd := &cobra.Command{
		Use:   "script FILE|RUN",
		Short: "Write scripted replies to try a cascade without a key",
		Long: `Write replies for --model scripted. For a cascade file, Capstan creates replies that
match the schemas, expressions and computed gates of the phases; a comment lists each
gate that still rejects a reply. For a run, the script contains the replies of its
models. RUN is the name of a run, the beginning of a name, or last.`,
		Example: `  capstan script post.yaml > post.scripted.yaml
  capstan run post.yaml --model scripted --input topic=owls
  capstan script last > good.yaml`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			comment, replies, err := c.scriptOf(cmd.Context(), args[0], store)
			if err != nil {
				return err
			}
			text, err := scripted.Format(comment, replies)
			if err == nil {
				_, err = c.Stdout.Write(text)
			}
			if err != nil {
				return &exit{exitBroken, err}
			}
			return nil
		},
	}
	store.add(cmd)
	return cmd
}

// scriptOf returns the script of a cascade or of a run, with its comment.
func (c *Command) scriptOf(ctx context.Context, word string, store storeFlags) (string, []scripted.Reply, error) {
	if isFile(word) {
		cascade, err := c.load(word)
		if err != nil {
			return "", nil, err
		}
		replies, err := scripts.Draft(ctx, cascade)
		if err != nil {
			return "", nil, &exit{exitInterrupted, err}
		}
		return fmt.Sprintf("Replies to try %s with, made from its schemas and gates. Replace them with better ones.", cascade.ID), replies, nil
	}
	var comment string
	var replies []scripted.Reply
	err := c.look(store, func(j *journal.Journal) error {
		run, err := j.Run(ctx, word)
		if err != nil {
			return found(err, word)
		}
		comment = fmt.Sprintf("The replies of the models in run %s of %s.", oneLine(run.RunID), oneLine(run.CascadeID))
		if replies, err = scripts.Recorded(j.Events(ctx, run.RunID, 0, journal.Whole)); err != nil {
			return &exit{exitBroken, err}
		}
		return nil
	})
	return comment, replies, err
}

// isFile reports whether an argument is the name of a file.
func isFile(word string) bool {
	_, err := os.Stat(word)
	return err == nil || strings.ContainsAny(word, `./\`)
}
