package postgrestest

import "syscall"

const crash = syscall.SIGQUIT

// attributes returns the attributes of a process with another account. The
// process ends with the tests.
func attributes(as *account) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if as != nil {
		a.Credential = &syscall.Credential{Uid: uint32(as.user), Gid: uint32(as.group)}
	}
	return a
}
