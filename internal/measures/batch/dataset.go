package batch

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/files"
)

// A Dataset is a file of rows: JSON Lines, or CSV if the name ends in .csv.
type Dataset struct {
	File   string
	Digest string // SHA-256 of the file, in hexadecimal digits
	Count  int    // number of rows
	MaxRow int    // maximum size of a row, in bytes; default 64 MiB
}

// A Row is one row of a dataset.
type Row struct {
	Number int // from 1
	Line   int // of its beginning, from 1
	Input  map[string]any
	Expect *Expect // may be nil
	Err    error   // why the row cannot be read
	Other  string  // how the columns differ from those of the first row; may be ""
}

// maxRow is the default maximum size of a row, in bytes.
const maxRow = 64 << 20

// Open reads the file once and counts its rows. If no row can be read, the file is no dataset,
// which is an error.
func Open(file string) (*Dataset, error) {
	f, err := openDataset(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s := &Dataset{File: file, MaxRow: maxRow}
	h := sha256.New()
	readable := false
	err = s.Read(io.TeeReader(f, h), &cascades.Cascade{}, func(r Row) error {
		s.Count++
		readable = readable || r.Err == nil
		return nil
	})
	if err == nil {
		_, err = io.Copy(h, f)
	}
	if err == nil && !s.isCSV() && s.Count > 0 && (!readable || isArray(f)) {
		err = errors.New("it is not JSON Lines (an object per line); CSV files need a name that ends in .csv")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	s.Digest = hex.EncodeToString(h.Sum(nil))
	return s, nil
}

// isArray reports whether the first line of a file opens an array.
func isArray(f *os.File) bool {
	begin := make([]byte, 4<<10)
	n, _ := f.ReadAt(begin, 0)
	line, _, _ := bytes.Cut(bytes.TrimSpace(begin[:n]), []byte("\n"))
	return string(bytes.TrimSpace(line)) == "["
}

// checkEncoding returns an error for UTF-16 and UTF-32. It skips the byte order mark of UTF-8.
func checkEncoding(text *bufio.Reader) error {
	begin, _ := text.Peek(4)
	switch {
	case bytes.HasPrefix(begin, []byte("\xff\xfe")) || bytes.HasPrefix(begin, []byte("\xfe\xff")) || bytes.IndexByte(begin, 0) >= 0:
		return errors.New("it is UTF-16 or UTF-32, or no text: want UTF-8")
	case bytes.HasPrefix(begin, []byte("\ufeff")):
		_, err := text.Discard(len("\ufeff"))
		return err
	}
	return nil
}

// openDataset opens a dataset. Only a regular file can be read more than once.
func openDataset(file string) (*os.File, error) {
	f, err := files.Open(file)
	if err != nil {
		return nil, fmt.Errorf("dataset: %w", err)
	}
	return f, nil
}

func (s *Dataset) isCSV() bool { return strings.EqualFold(filepath.Ext(s.File), ".csv") }

// Rows reads the rows for a cascade. It returns the error of body, which ends the reading, or
// [ErrChanged].
func (s *Dataset) Rows(c *cascades.Cascade, body func(Row) error) error {
	f, err := openDataset(s.File)
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha256.New()
	if err := s.Read(io.TeeReader(f, h), c, body); err != nil {
		return err
	}
	if _, err := io.Copy(h, f); err != nil {
		return err
	}
	if hex.EncodeToString(h.Sum(nil)) != s.Digest {
		return ErrChanged
	}
	return nil
}

// Read reads rows from a reader. The name of the file decides the format.
func (s *Dataset) Read(from io.Reader, c *cascades.Cascade, body func(Row) error) error {
	text := bufio.NewReaderSize(from, 64<<10)
	if err := checkEncoding(text); err != nil {
		return err
	}
	read := jsonRows
	if s.isCSV() {
		read = csvRows
	}
	return read(text, cmp.Or(s.MaxRow, maxRow), c, body)
}
