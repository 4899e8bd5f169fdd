//go:build unix && !linux

package postgrestest

import "syscall"

const crash = syscall.SIGQUIT

// attributes returns the attributes of a process with another account.
func attributes(as *account) *syscall.SysProcAttr {
	if as == nil {
		return nil
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(as.user), Gid: uint32(as.group)}}
}
