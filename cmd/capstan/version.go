package main

import (
	_ "embed"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"

	"github.com/spf13/cobra"
)

// release is set by a release build with -ldflags "-X main.release=v1.2.3".
var release = ""

// thirdParty is what the licences of all that is in the program ask to be told.
//
//go:embed notices.txt
var thirdParty string

// A build says what the program was made of. What is not known is empty.
type build struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"` // of the repository
	Time     string `json:"time,omitempty"`     // of that revision
	Modified bool   `json:"modified,omitempty"` // files differed from it
	Go       string `json:"go"`
	System   string `json:"system"` // linux/amd64
}

func (c *Command) version() *cobra.Command {
	var licences, asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Long: `Print the version: the tag of a release, or the revision that the program was built
from. --licences prints the licences of all included packages.`,
		Example: `  capstan version
  capstan version --json
  capstan version --licences`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			text := versionText() + "\n"
			switch {
			case licences:
				text = thirdParty
			case asJSON:
				return printJSON(c.Stdout, versionOf())
			}
			_, err := fmt.Fprint(c.Stdout, text)
			return err
		},
	}
	cmd.Flags().BoolVar(&licences, "licences", false, "licences of all included packages")
	cmd.Flags().BoolVar(&asJSON, "json", false, flagTexts["json"])
	cmd.MarkFlagsMutuallyExclusive("licences", "json")
	return cmd
}

func versionText() string {
	b := versionOf()
	return fmt.Sprintf("capstan %s (%s, %s)", b.Version, b.Go, b.System)
}

func versionName() string { return versionOf().Version }

// versionOf is read once: what Go knows names every module.
var versionOf = sync.OnceValue(func() build {
	b := build{Version: "(devel)", Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		if info.Main.Version != "" {
			b.Version = info.Main.Version
		}
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				b.Revision = s.Value
			case "vcs.time":
				b.Time = s.Value
			case "vcs.modified":
				b.Modified = s.Value == "true"
			}
		}
	}
	if release != "" {
		b.Version = release
	}
	return b
})
