//go:build !unix

package process

import (
	"os"
	"os/exec"
)

// OwnGroup does nothing, because the system has no process groups.
func OwnGroup(*exec.Cmd) {}

// KillGroup kills only the child, because the system has no process groups.
func KillGroup(cmd *exec.Cmd) error { return cmd.Process.Kill() }

func killLeftovers(*exec.Cmd) {}

func exitCode(state *os.ProcessState) int { return state.ExitCode() }

func killed(*os.ProcessState) bool { return false }
