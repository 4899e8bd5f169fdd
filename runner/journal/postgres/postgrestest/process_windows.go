package postgrestest

import (
	"os"
	"syscall"
)

var crash = os.Kill

// attributes are none: nobody runs as root here.
func attributes(*account) *syscall.SysProcAttr { return nil }
