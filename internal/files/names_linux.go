package files

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// OneName returns an error if a file can be reached under a second name: by a hard link, or
// because the file itself, not its directory, is mounted. A database that stores its log beside
// its file would have two logs. A missing file has one name.
func OneName(name string) error {
	if err := linked(name); err != nil {
		return err
	}
	var stat unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, name, unix.AT_STATX_DONT_SYNC, 0, &stat); err != nil {
		return ignoreMissing(&os.PathError{Op: "statx", Path: name, Err: err})
	}
	if stat.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0 {
		return fmt.Errorf("%s is mounted as a single file, so its log would stand beside another name; mount its directory instead", name)
	}
	return nil
}
