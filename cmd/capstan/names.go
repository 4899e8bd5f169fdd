package main

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/runner"
)

// nameFlags say what the names in a cascade may mean beside what its file and
// the folder tackle beside it say.
type nameFlags struct {
	tackle  []string
	missing bool
}

func (f *nameFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&f.tackle, "tackle", nil, "a folder of validators, tools and cascades that files name by id; they find the folder tackle beside them without it")
	flags.BoolVar(&f.missing, "allow-missing-tools", false, "a tool that is named nowhere is a warning, and fails when it is called")
}

func (f nameFlags) options() []runner.Option {
	var list []runner.Option
	for _, dir := range f.tackle {
		list = append(list, runner.WithTackle(filepath.ToSlash(filepath.Clean(dir))))
	}
	if f.missing {
		list = append(list, runner.WithMissingTools())
	}
	return list
}
