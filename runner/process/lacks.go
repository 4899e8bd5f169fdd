package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
)

// Lacks returns why a command with this program and working directory cannot be
// started, nil if it can.
func Lacks(program, dir string) error {
	at := program
	named := filepath.Base(program) == program // to be looked up in PATH
	if !named {
		if !filepath.IsAbs(at) {
			at = filepath.Join(dir, at)
		}
		whole, err := filepath.Abs(at)
		if err != nil {
			return err
		}
		at = whole
	}
	_, err := exec.LookPath(at)
	switch {
	case err == nil:
		return nil
	case named:
		return fmt.Errorf("the program %s is not in PATH", program)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("the program %s cannot be executed", program)
	}
	return fmt.Errorf("there is no program %s", program)
}
