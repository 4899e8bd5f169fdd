package temporal

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed61713e19/capstan/runner/event"
)

// A FolderLog is a [Log] with one file for each run and one line for each
// event. Several processes may use it.
type FolderLog struct{ dir string }

// NewFolderLog opens the log in a directory, and creates the directory if
// needed. Only its owner can read it.
func NewFolderLog(dir string) (*FolderLog, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("events: %w", err)
	}
	return &FolderLog{dir}, nil
}

func (l *FolderLog) name(run string) string {
	return filepath.Join(l.dir, url.PathEscape(run)+".jsonl")
}

// Append appends an event to the file of its run.
func (l *FolderLog) Append(e event.Event) error {
	raw, err := e.MarshalJSON()
	if err != nil {
		return err
	}
	f, err := os.OpenFile(l.name(e.Run), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	raw = append(raw, '\n')
	if broken(f) {
		raw = slices.Concat([]byte{'\n'}, raw)
	}
	_, err = f.Write(raw) // in one call, so lines of several processes do not mix
	return errors.Join(err, f.Close())
}

// broken reports whether the last line of a file is incomplete.
func broken(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return false
	}
	var last [1]byte
	_, err = f.ReadAt(last[:], info.Size()-1)
	return err == nil && last[0] != '\n'
}

// Events returns the events of a run as JSON, in order and without duplicates.
// It omits an incomplete last line, whose event is written again.
func (l *FolderLog) Events(run string) ([]json.RawMessage, error) {
	f, err := os.Open(l.name(run))
	if err != nil {
		return nil, fmt.Errorf("events: %w", err)
	}
	defer f.Close()
	type numbered struct {
		seq int64
		raw json.RawMessage
	}
	var all []numbered
	lines := bufio.NewReader(f)
	for {
		line, err := lines.ReadBytes('\n')
		var e struct{ Seq int64 }
		if json.Unmarshal(line, &e) == nil && e.Seq > 0 {
			all = append(all, numbered{e.Seq, line})
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("events: %w", err)
		}
	}
	slices.SortStableFunc(all, func(a, b numbered) int { return cmp.Compare(a.seq, b.seq) })
	all = slices.CompactFunc(all, func(a, b numbered) bool { return a.seq == b.seq })
	list := make([]json.RawMessage, len(all))
	for i, e := range all {
		list[i] = e.raw
	}
	return list, nil
}
