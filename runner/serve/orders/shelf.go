package orders

import (
	"bytes"
	"os"
	"sync"
	"time"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
)

// A shelf keeps the cascades that are offered as they were parsed last, until
// one of their files is another. It has one for each file that is offered.
type shelf struct {
	mu   sync.Mutex
	kept map[string]*shelved // by the cascade's own file
}

type shelved struct {
	cascade  *cascades.Cascade
	imprints []imprint // of its Files
}

// An imprint tells a file that was read from one that was written since.
type imprint struct {
	info os.FileInfo
	old  bool // when it was read, so that another write has another time
}

// settled is how long ago a file was written at least whose time another write
// cannot have: file systems count in up to two seconds.
const settled = 2 * time.Second

// load gives the cascade of a file as the file is now. One that has mistakes is
// not kept.
func (s *shelf) load(r *runner.Runner, file string) (*cascades.Cascade, error) {
	s.mu.Lock()
	kept := s.kept[file]
	s.mu.Unlock()
	if kept != nil && kept.current() {
		return kept.cascade, nil
	}
	began := time.Now()
	cascade, err := r.Load(file)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept[file] = &shelved{cascade, imprintsOf(cascade, began)}
	return cascade, nil
}

// imprintsOf are the imprints of what a cascade was read from, no earlier than began.
func imprintsOf(c *cascades.Cascade, began time.Time) []imprint {
	imprints := make([]imprint, len(c.Files))
	for i, f := range c.Files {
		info, err := os.Stat(f.Name)
		same := err == nil && unchanged(f) // after the look: else another took its place before it
		imprints[i] = imprint{info, same && began.Sub(info.ModTime()) >= settled}
	}
	return imprints
}

// current tells whether all files are what they were. Those that were written
// shortly before they were read are read again.
func (s *shelved) current() bool {
	for i, f := range s.cascade.Files {
		was := s.imprints[i]
		if !was.old {
			if !unchanged(f) {
				return false
			}
			continue
		}
		info, err := os.Stat(f.Name)
		if err != nil || !info.ModTime().Equal(was.info.ModTime()) || info.Size() != was.info.Size() || !os.SameFile(info, was.info) {
			return false
		}
	}
	return true
}

func unchanged(f cascades.File) bool {
	text, err := runner.ReadFile(f.Name)
	return err == nil && bytes.Equal(text, f.Text)
}
