package process

import (
	"fmt"
	"io"
	"os"
)

// inputFile returns a file without a name that contains a program's whole
// input. The program gets the file as its standard input, so it never reads a
// part of the input: a pipe would end early if this process died while it
// wrote. The caller must close the file.
func inputFile(input []byte) (*os.File, error) {
	f, err := unnamed()
	if err != nil {
		return nil, fmt.Errorf("standard input: %w", err)
	}
	_, err = f.Write(input)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err == nil {
		err = seal(f)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("standard input: %w", err)
	}
	return f, nil
}
