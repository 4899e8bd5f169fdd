package main

import "syscall"

// conceal makes /proc/PID/environ, mem and the rest of this process unreadable
// for others of the same user: the programs that it starts are given no keys,
// and are not to take them. Unsetting the variables would not do: the block that
// the process began with stays where it was. Who has CAP_SYS_PTRACE reads it all
// the same. It costs core files and being traced, and ends with execve, so that
// the programs themselves have both.
func conceal() { _, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_DUMPABLE, 0, 0) }
