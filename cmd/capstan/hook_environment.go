package main

import (
	"os"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/internal/process"
)

// ownVariables are the variables that Capstan itself reads in a hook.
var ownVariables = []string{"CAPSTAN_STORE", "CAPSTAN_MODEL", "XDG_STATE_HOME", "LocalAppData", "NO_COLOR"}

// hookEnvironment returns the environment of a hook: the plain variables of a process, those
// of Capstan, and the listed ones, as NAME or NAME=VALUE. The settings of a repository can
// set any variable of the agent.
func hookEnvironment(all, listed []string) (env []string) {
	for _, pair := range all {
		if name, _, _ := strings.Cut(pair, "="); process.Plain(name) || slices.Contains(ownVariables, name) || slices.Contains(listed, name) {
			env = append(env, pair)
		}
	}
	for _, entry := range listed {
		if strings.Contains(entry, "=") {
			env = append(env, entry)
		}
	}
	return env
}

// restrict replaces the environment of this process.
func restrict(env []string) {
	os.Clearenv()
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		_ = os.Setenv(name, value)
	}
}
