//go:build unix

package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// linked returns an error if a file has a hard link.
func linked(name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return ignoreMissing(err)
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Nlink > 1 && info.Mode().IsRegular() {
		return fmt.Errorf("%s has %d names (hard links), and each name would have its own log; remove the other names (find DIR -samefile %[1]s) or use a copy", name, stat.Nlink)
	}
	return nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
