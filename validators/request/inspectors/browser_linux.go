package inspectors

import (
	"os/exec"
	"syscall"
)

// dieWithParent has the kernel kill a child when this process is killed.
func dieWithParent(cmd *exec.Cmd) { cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL }
