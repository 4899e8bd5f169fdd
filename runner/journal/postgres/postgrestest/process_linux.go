package postgrestest

import "syscall"

const crash = syscall.SIGQUIT

// attributes are those of a program that runs as somebody else, and does not
// outlive the tests.
func attributes(as *account) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if as != nil {
		a.Credential = &syscall.Credential{Uid: uint32(as.user), Gid: uint32(as.group)}
	}
	return a
}
