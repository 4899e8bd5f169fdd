package process

import (
	"crypto/rand"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// unnamed returns a temporary file that the system deletes when the last process closes
// it, even if that process is killed.
func unnamed() (*os.File, error) {
	name := filepath.Join(os.TempDir(), "capstan-stdin-"+rand.Text())
	return os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL|windows.FILE_FLAG_DELETE_ON_CLOSE, 0o600)
}

func seal(*os.File) error { return nil }
