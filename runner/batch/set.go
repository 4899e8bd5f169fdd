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

// A Set is a file of rows: JSON Lines, or CSV where its name ends in .csv.
type Set struct {
	File   string
	Digest string // SHA-256 of its bytes, in hex
	Count  int    // about how many rows it has: its lines that are not blank
	MaxRow int    // how large a row may be, in bytes; 64 MiB unless it is changed
}

// A Row is one row of a set.
type Row struct {
	Number int // from 1
	Line   int // where it begins, from 1
	Input  map[string]any
	Expect *Expect // nil for none
	Err    error   // why it cannot be read
	Other  string  // how its columns differ from the first row's; "" where they do not
}

// maxRow is how large a row may be that is not told otherwise, in bytes.
const maxRow = 64 << 20

// Open reads the file once, for what it is. A file that is no set at all is an
// error: of rows that cannot be read each would be told, and nothing else.
func Open(file string) (*Set, error) {
	f, err := openSet(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s := &Set{File: file, MaxRow: maxRow}
	h := sha256.New()
	lines := &counter{quotes: s.isCSV()}
	if _, err := io.Copy(io.MultiWriter(h, lines), f); err != nil {
		return nil, err
	}
	s.Digest, s.Count = hex.EncodeToString(h.Sum(nil)), lines.total()
	if s.isCSV() && s.Count > 0 {
		s.Count-- // the header
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	if err := s.isSet(bufio.NewReaderSize(f, 64<<10), lines.objects); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return s, nil
}

// isSet tells why a file of which so many lines begin as an object is no set.
func (s *Set) isSet(text *bufio.Reader, objects int) error {
	if err := plain(text); err != nil {
		return err
	}
	if s.isCSV() {
		if _, _, err := csvHeader(&bounded{text, s.MaxRow, s.MaxRow}); err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("the header: %w", err)
		}
		return nil
	}
	begin, _ := text.Peek(64 << 10)
	line, _, _ := bytes.Cut(bytes.TrimSpace(begin), []byte("\n"))
	if s.Count > 0 && (objects == 0 || string(bytes.TrimSpace(line)) == "[") {
		return errors.New("it is not JSON Lines (an object per line); CSV files need a name that ends in .csv")
	}
	return nil
}

// plain tells why a file that begins so is not read: one of UTF-16 or UTF-32 is
// nobody's to guess at. A mark that says UTF-8 is passed over.
func plain(text *bufio.Reader) error {
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

// openSet opens a dataset. Only a regular file can be read more than once.
func openSet(file string) (*os.File, error) {
	f, err := files.Open(file)
	if err != nil {
		return nil, fmt.Errorf("dataset: %w", err)
	}
	return f, nil
}

func (s *Set) isCSV() bool { return strings.EqualFold(filepath.Ext(s.File), ".csv") }

// Rows reads the set, row after row, for a cascade. A row that cannot be read is
// given with its Err. The error is that of body, which ends the reading, or
// [ErrChanged].
func (s *Set) Rows(c *cascades.Cascade, body func(Row) error) error {
	f, err := openSet(s.File)
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

// Read is [Set.Rows] of what comes from elsewhere than the set's file, whose name
// says what it is.
func (s *Set) Read(from io.Reader, c *cascades.Cascade, body func(Row) error) error {
	text := bufio.NewReaderSize(from, 64<<10)
	if err := plain(text); err != nil {
		return err
	}
	read := jsonRows
	if s.isCSV() {
		read = csvRows
	}
	return read(text, cmp.Or(s.MaxRow, maxRow), c, body)
}

// A counter counts lines that are not blank, in CSV those that are not within
// quotes, and those of them that begin as a whole object does.
type counter struct {
	quotes  bool
	within  bool
	said    bool
	lines   int
	objects int
}

func (c *counter) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		i := bytes.IndexAny(rest, "\n\"")
		part := rest
		if i >= 0 {
			part = rest[:i]
		}
		if begin := bytes.TrimPrefix(bytes.TrimSpace(part), []byte("\ufeff")); !c.said && len(begin) > 0 {
			c.said = true
			if inner, ok := bytes.CutPrefix(begin, []byte("{")); ok && goesOn(bytes.TrimSpace(inner), rest[len(part):]) {
				c.objects++
			}
		}
		if i < 0 {
			break
		}
		switch {
		case rest[i] == '"':
			c.said, c.within = true, !c.within && c.quotes
		case !c.within && c.said:
			c.said = false
			c.lines++
		}
		rest = rest[i+1:]
	}
	return len(p), nil
}

// goesOn tells whether a line goes on behind a brace as a whole object may: with a
// name in quotes, or its end. So no tag of a template does, nor the first line of
// an object that is written on several. What a piece ends behind is not known.
func goesOn(inner, further []byte) bool {
	return bytes.HasPrefix(inner, []byte("}")) || len(inner) == 0 && (len(further) == 0 || further[0] == '"')
}

func (c *counter) total() int {
	if c.said {
		return c.lines + 1
	}
	return c.lines
}
