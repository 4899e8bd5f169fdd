package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

// CheckProgram returns an error if a command with this program and working
// directory cannot be started.
func CheckProgram(program, dir string) error {
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

// CheckFile returns an error if a program in this working directory would not find the file.
func CheckFile(name, dir string) error {
	at := name
	if !filepath.IsAbs(at) {
		at = filepath.Join(dir, at)
	}
	if _, err := os.Stat(at); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no file %s", name)
	}
	return nil
}
