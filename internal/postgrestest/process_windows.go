package postgrestest

import (
	"os"
	"syscall"
)

var crash = os.Kill

// attributes returns nil, because Windows has no root.
func attributes(*account) *syscall.SysProcAttr { return nil }
