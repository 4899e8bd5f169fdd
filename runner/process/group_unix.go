//go:build unix

package process

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// OwnGroup makes the child the leader of a process group of its own.
func OwnGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// KillGroup kills the child and what it started and left in its group. A group
// that is gone already is [os.ErrProcessDone].
func KillGroup(cmd *exec.Cmd) error {
	err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// sweep kills what a child that has ended left behind. Its number cannot have
// been given to another process while anything in its group lives; where
// nothing does, the signal goes nowhere.
func sweep(cmd *exec.Cmd) { _ = KillGroup(cmd) }

func exitCode(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}

func killed(state *os.ProcessState) bool {
	status, ok := state.Sys().(syscall.WaitStatus)
	return ok && status.Signaled()
}
