//go:build unix && !linux

package postgrestest

import "syscall"

const crash = syscall.SIGQUIT

// attributes are those of a program that runs as somebody else.
func attributes(as *account) *syscall.SysProcAttr {
	if as == nil {
		return nil
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(as.user), Gid: uint32(as.group)}}
}
