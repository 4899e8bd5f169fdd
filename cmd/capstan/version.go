package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// release is set by a release build with -ldflags "-X main.release=v1.2.3".
var release = ""

func (c *Command) version() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(c.Stdout, versionText())
			return err
		},
	}
}

func versionText() string {
	return fmt.Sprintf("capstan %s (%s, %s/%s)", versionName(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func versionName() string {
	if release != "" {
		return release
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
