package process

import (
	"os"

	"golang.org/x/sys/unix"
)

// unnamed returns a file in memory, or an unlinked file where the kernel or a sandbox
// does not allow one in memory.
func unnamed() (*os.File, error) {
	fd, err := unix.MemfdCreate("stdin", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return unlinked()
	}
	return os.NewFile(uintptr(fd), "stdin"), nil
}

// seal makes a file in memory read-only. An unlinked file cannot be sealed.
func seal(f *os.File) error {
	_, err := unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_SEAL|unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_WRITE)
	if err == unix.EINVAL {
		return nil
	}
	return err
}
