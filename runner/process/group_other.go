//go:build !unix

package process

import (
	"os"
	"os/exec"
)

// OwnGroup does nothing where there are no process groups.
func OwnGroup(*exec.Cmd) {}

// KillGroup kills the child alone where there are no process groups.
func KillGroup(cmd *exec.Cmd) error { return cmd.Process.Kill() }

func sweep(*exec.Cmd) {}

func exitCode(state *os.ProcessState) int { return state.ExitCode() }

func killed(*os.ProcessState) bool { return false }
