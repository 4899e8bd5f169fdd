//go:build unix

package process

import "os"

// unlinked returns a temporary file that no longer has a name. Its space is free as
// soon as the last process closes it, even if that process is killed.
func unlinked() (*os.File, error) {
	f, err := os.CreateTemp("", "capstan-stdin-")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
