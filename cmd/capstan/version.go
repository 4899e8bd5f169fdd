package main

import (
	"cmp"
	_ "embed"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"

	"github.com/spf13/cobra"
)

// A release build sets these variables with -ldflags "-X main.version=v1.2.3". Other
// builds use the build information of Go.
var (
	version string // the tag, such as v1.2.3
	commit  string // the full hash
	date    string // the time of the commit, in RFC 3339
)

// thirdParty has the notices that the licences of all included packages require.
//
//go:embed notices.txt
var thirdParty string

// A build describes the program. Unknown values are empty.
type build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Date     string `json:"date,omitempty"`     // the time of the commit
	Modified bool   `json:"modified,omitempty"` // the files differed from the commit
	Go       string `json:"go"`
	System   string `json:"system"` // linux/amd64
}

func (c *Command) version() *cobra.Command {
	var licences, asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version, the commit and its date",
		Long: `Print the version, the commit and its date. A build from a checkout has a version
that Go makes of the commit, or (devel). --licences prints the licences of all
included packages.`,
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

// text returns the build in one line.
func (b build) text() string {
	text := "capstan " + b.Version
	if b.Commit != "" {
		text += ", commit " + b.Commit[:min(12, len(b.Commit))]
	}
	if b.Modified {
		text += " with changes"
	}
	if b.Date != "" {
		text += ", " + b.Date
	}
	return fmt.Sprintf("%s (%s, %s)", text, b.Go, b.System)
}

func versionText() string { return versionOf().text() }

func versionName() string { return versionOf().Version }

func versionOf() build { return buildOf(buildInfo()) }

// buildInfo reads the build information once, because it lists every module. It
// returns nil if there is none.
var buildInfo = sync.OnceValue(func() *debug.BuildInfo {
	info, _ := debug.ReadBuildInfo()
	return info
})

// buildOf prefers the variables of a release build to the build information.
func buildOf(info *debug.BuildInfo) build {
	b := build{Version: "(devel)", Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH}
	if info != nil {
		b.Version = cmp.Or(info.Main.Version, b.Version)
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				b.Commit = s.Value
			case "vcs.time":
				b.Date = s.Value
			case "vcs.modified":
				b.Modified = s.Value == "true"
			}
		}
	}
	b.Version, b.Commit, b.Date = cmp.Or(version, b.Version), cmp.Or(commit, b.Commit), cmp.Or(date, b.Date)
	return b
}
