//go:build !unix

package process

import (
	"os"
	"os/exec"
)

func ownGroup(*exec.Cmd) {}

func killGroup(cmd *exec.Cmd) error { return cmd.Process.Kill() }

func sweep(*exec.Cmd) {}

func exitCode(state *os.ProcessState) int { return state.ExitCode() }
