package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// OneName returns an error if a file can be reached under a second name, a hard link. A database
// that stores its log beside its file would have two logs. A missing file has one name.
func OneName(name string) error {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &info); err != nil {
		return err
	}
	if info.NumberOfLinks > 1 {
		return fmt.Errorf("%s has %d names (hard links), and each name would have its own log; remove the other names or use a copy", name, info.NumberOfLinks)
	}
	return nil
}
