package main

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/runner"
)

// nameFlags say which files the names in a cascade may stand for, besides those in its
// folder.
type nameFlags struct {
	root    string
	tackle  []string
	missing bool
}

func (f *nameFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.root, "root", ".", flagTexts["root"])
	flags.StringArrayVar(&f.tackle, "tackle", nil, "folder of validators, tools and cascades that files name by id; may be repeated")
	flags.BoolVar(&f.missing, "allow-missing-tools", false, "a warning, not an error, for an unknown tool, which fails when called")
}

func (f nameFlags) options() []runner.Option {
	list := []runner.Option{runner.WithRoot(f.root)}
	for _, dir := range f.tackle {
		list = append(list, runner.WithTackle(filepath.ToSlash(filepath.Clean(dir))))
	}
	if f.missing {
		list = append(list, runner.WithMissingTools())
	}
	return list
}
