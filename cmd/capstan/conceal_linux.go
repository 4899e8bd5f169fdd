package main

import "syscall"

// conceal makes /proc/PID/environ, mem and other files of this process
// unreadable for processes of the same user. The programs that Capstan starts
// must not read its keys. Unsetting variables is not enough, because the
// initial environment block remains in memory. A process with CAP_SYS_PTRACE
// can still read it. The setting also disables core files and tracing, and ends
// with execve.
func conceal() { _, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_DUMPABLE, 0, 0) }
