//go:build unix

package process

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// OwnGroup makes the child the leader of its own process group.
func OwnGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// KillGroup kills all processes in the child's group. If the group no longer
// exists, it returns [os.ErrProcessDone].
func KillGroup(cmd *exec.Cmd) error {
	err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// killLeftovers kills the processes that an ended child left in its group.
// While the group has members, no other process can have its number. Without
// members, the signal has no effect.
func killLeftovers(cmd *exec.Cmd) { _ = KillGroup(cmd) }

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
