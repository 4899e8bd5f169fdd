package jsonvalue

import (
	"bufio"
	"errors"
)

// ReadLine reads a line with its end from a file of JSON Lines. Of a line with more than limit
// bytes it returns no text, and long. The error is that of the reader, also after the last line.
func ReadLine(r *bufio.Reader, limit int) (line []byte, long bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if long = long || len(line)+len(part) > limit; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, long, err
		}
	}
}
