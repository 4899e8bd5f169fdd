// Package pins protects the files that decide a run from changes by the models
// that they check. The file tools call [Set.Refuse] before they write. Code
// that starts a program calls [Set.Check], which compares the program's files
// with those at the start of the run:
//
//	set, err := pins.New(pins.Options{Root: dir, Files: files, Programs: programs})
//	ctx = pins.With(ctx, set)
//	err = pins.From(ctx).Refuse(dir, "tests/check.sh")
//
// Begin with [New].
package pins

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Options list the files that decide a run. Relative names start at the working
// directory.
type Options struct {
	Root     string   // the directory of the file tools; default: the working directory
	Files    []string // the files of the cascade
	Measured []string // patterns of labels and evidence, with wildcards only in the last element
	Protect  []string // patterns of further files, relative to Root
	Programs []Program
}

// A Program is a program that the run may start.
type Program struct {
	Label  string // such as "validator tests_pass"
	Argv   []string
	Dir    string
	Words  []Word // that may name files, the program itself first
	Pinned bool   // its files must not change
}

// A Word may name a file.
type Word struct {
	Text  string
	Whole bool // a whole argument, which may also name a missing file
}

// A Set protects the files of one run. It is safe for concurrent use. The nil
// Set allows everything.
type Set struct {
	root     string
	files    []*file // that no model may write
	measured []string
	protect  []string
	programs []program
	guarded  []*file // that matched protect when the run began
	broken   error   // the files could not be pinned, so nothing is allowed
}

// Broken returns a set that rejects every file and every program.
func Broken(err error) *Set { return &Set{broken: err} }

// A program is a Program with its files.
type program struct {
	Program
	files []*file
}

// A file is a file that no model may write.
type file struct {
	Pin
	reason  string // its role in the run
	subject bool   // the key subject can allow changes
	pinned  bool
}

// A Pin is the digest of a file. It encodes as JSON.
type Pin struct {
	Name   string `json:"name"` // as the cascade has it
	Path   string `json:"path"` // absolute
	Digest string `json:"digest"`
}

// absent is the digest of a file that does not exist.
const absent = "absent"

// Limits for the files that protect matches: their number and total size.
const (
	maxProtected = 10_000
	maxBytes     = 256 << 20
)

// New pins the files that the options name.
func New(o Options) (*Set, error) {
	root, err := filepath.Abs(o.Root)
	if err != nil {
		return nil, err
	}
	s := &Set{root: root, measured: o.Measured, protect: o.Protect}
	for _, name := range o.Files {
		s.files = append(s.files, &file{Pin: Pin{Name: name, Path: absolute(name)}, reason: "the cascade is made of it"})
	}
	for _, p := range o.Programs {
		own := program{Program: p}
		for i, w := range p.Words {
			f, err := s.fileOf(p, w, i == 0)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", p.Label, err)
			}
			if f != nil {
				own.files = append(own.files, f)
			}
		}
		s.files = append(s.files, own.files...)
		s.programs = append(s.programs, own)
	}
	return s, s.pinProtected()
}

// fileOf returns the file that a word of a program's arguments names, or nil.
func (s *Set) fileOf(p Program, w Word, first bool) (*file, error) {
	name := w.Text
	if !filepath.IsAbs(name) {
		name = filepath.Join(p.Dir, name)
	}
	if first && filepath.Base(w.Text) == w.Text {
		found, err := exec.LookPath(w.Text)
		if err != nil || !inside(s.root, absolute(found)) {
			return nil, nil // it belongs to the operator, and no file tool reaches it
		}
		name = found
	}
	f := &file{Pin: Pin{Name: w.Text, Path: absolute(name)}, reason: p.Label + " names it in its exec", subject: !first && p.Pinned, pinned: p.Pinned && w.Whole}
	info, err := os.Stat(f.Path)
	if err == nil && !info.Mode().IsRegular() || err != nil && !w.Whole {
		return nil, nil
	}
	if f.Digest, err = absent, nil; info != nil {
		f.Digest, err = digest(f.Path)
	}
	if f.Digest == absent && !strings.ContainsAny(w.Text, "./") {
		f.pinned = false // it may not be a file name, such as test in "go test"
	}
	return f, err
}

// pinProtected pins the files that match protect.
func (s *Set) pinProtected() error {
	size := int64(0)
	for _, pattern := range s.protect {
		err := doublestar.GlobWalk(os.DirFS(s.root), filepath.ToSlash(filepath.Clean(pattern)), func(name string, d fs.DirEntry) error {
			info, err := d.Info()
			if err != nil || !info.Mode().IsRegular() {
				return nil
			}
			if size += info.Size(); len(s.guarded) == maxProtected || size > maxBytes {
				return fmt.Errorf("protect: %s matches more than %d files or %d MiB below %s: name fewer", pattern, maxProtected, maxBytes>>20, s.root)
			}
			f := &file{Pin: Pin{Name: name, Path: filepath.Join(s.root, filepath.FromSlash(name))}, reason: "protect: " + pattern + " names it", pinned: true}
			f.Digest, err = digest(f.Path)
			s.guarded = append(s.guarded, f)
			return err
		}, doublestar.WithFilesOnly(), doublestar.WithNoFollow())
		if err != nil {
			return err
		}
	}
	s.files = append(s.files, s.guarded...)
	return nil
}

// Refuse returns an error if no model may write a file below a directory.
func (s *Set) Refuse(dir, name string) error {
	if s == nil || s.broken != nil {
		return s.failure()
	}
	lexical := absolute(filepath.Join(dir, filepath.FromSlash(name)))
	real := resolved(lexical)
	info, _ := os.Stat(real)
	for _, f := range s.files {
		if !f.is(lexical, real, info) {
			continue
		}
		err := fmt.Errorf("this file decides the run, and no model may write it: %s", f.reason)
		if f.subject {
			err = fmt.Errorf("%w. If it is the text under test, the author of the cascade declares that there: subject: [%s]", err, f.Name)
		}
		return err
	}
	for _, pattern := range s.measured {
		dir, base := filepath.Split(absolute(pattern))
		if match, _ := filepath.Match(base, filepath.Base(real)); match && filepath.Dir(real) == resolved(filepath.Clean(dir)) {
			return errors.New("labels and evidence decide the run, and no model may write them")
		}
	}
	for _, pattern := range s.protect {
		for _, path := range []string{within(s.root, lexical), within(resolved(s.root), real)} {
			if path != "" && doublestar.MatchUnvalidated(filepath.ToSlash(filepath.Clean(pattern)), path) {
				return fmt.Errorf("no model may write this file: protect: %s names it", pattern)
			}
		}
	}
	return nil
}

// is reports whether a path is the file, by its name or through links. A path
// below a missing file counts too: it would turn the file into a directory,
// which an interpreter may run as well.
func (f *file) is(lexical, real string, info fs.FileInfo) bool {
	own := resolved(f.Path)
	if lexical == f.Path || real == own || f.pinned && f.Digest == absent && inside(own, real) {
		return true
	}
	there, err := os.Stat(f.Path)
	return err == nil && info != nil && os.SameFile(there, info)
}

// Check returns an error if a file that decides the program's result has
// changed since the run began. It accepts a program that the cascade does not
// name.
func (s *Set) Check(argv []string, dir string) error {
	if s == nil || s.broken != nil {
		return s.failure()
	}
	for _, p := range s.programs {
		if !p.Pinned || p.Dir != dir || !slices.Equal(p.Argv, argv) {
			continue
		}
		if err := unchanged(append(slices.Clone(p.files), s.guarded...)); err != nil {
			return err
		}
	}
	return nil
}

func (s *Set) failure() error {
	if s == nil {
		return nil
	}
	return s.broken
}

// Changed returns an error if any pinned file has changed.
func (s *Set) Changed() error { return unchanged(s.files) }

// Pins returns the digests of the pinned files, in a fixed order, each once.
func (s *Set) Pins() (list []Pin) {
	for _, f := range s.files {
		if f.pinned && !slices.ContainsFunc(list, func(p Pin) bool { return p.Path == f.Path }) {
			list = append(list, f.Pin)
		}
	}
	return list
}

// Adopt replaces the digests by those that an earlier start of the run has
// pinned.
func (s *Set) Adopt(list []Pin) {
	for _, pin := range list {
		known := false
		for _, f := range s.files {
			if f.pinned && f.Path == pin.Path {
				f.Digest, known = pin.Digest, true
			}
		}
		if !known {
			f := &file{Pin: pin, reason: "it was pinned when the run began", pinned: true}
			s.files, s.guarded = append(s.files, f), append(s.guarded, f)
		}
	}
}

// Compare returns an error if a file differs from its pin.
func Compare(list []Pin) error {
	files := make([]*file, len(list))
	for i, pin := range list {
		files[i] = &file{Pin: pin, pinned: true}
	}
	return unchanged(files)
}

func unchanged(files []*file) error {
	for _, f := range files {
		if !f.pinned {
			continue
		}
		switch now, err := digest(f.Path); {
		case err != nil:
			return fmt.Errorf("%s: %w", f.Name, err)
		case now == f.Digest:
		case now == absent:
			return fmt.Errorf("%s is gone since the run began%s", f.Name, f.hint())
		case f.Digest == absent:
			return fmt.Errorf("%s was made since the run began%s", f.Name, f.hint())
		default:
			return fmt.Errorf("%s changed since the run began (from %.15s… to %.15s…)%s", f.Name, f.Digest, now, f.hint())
		}
	}
	return nil
}

// hint returns advice about a change.
func (f *file) hint() string {
	if f.subject {
		return fmt.Sprintf(": restore it. If it may change, declare it with subject: [%s]", f.Name)
	}
	return ": restore it"
}

// digest returns the digest of a file, or [absent] if it does not exist.
func digest(path string) (string, error) {
	if _, err := os.Stat(path); err != nil && !errors.Is(err, fs.ErrPermission) {
		return absent, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("cannot be read: %w", err)
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", fmt.Errorf("cannot be read: %w", err)
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil)), nil
}

func absolute(name string) string {
	if path, err := filepath.Abs(name); err == nil {
		return path
	}
	return name
}

// resolved follows the links of a path as far as it exists.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if dir := filepath.Dir(path); dir != path {
		return filepath.Join(resolved(dir), filepath.Base(path))
	}
	return path
}

// inside reports whether a path is below a directory.
func inside(dir, path string) bool { return within(dir, path) != "" }

// within returns a path relative to a directory above it, or "".
func within(dir, path string) string {
	rest, found := strings.CutPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
	if !found {
		return ""
	}
	return filepath.ToSlash(rest)
}

type key struct{}

// With returns a context whose effects the set protects.
func With(ctx context.Context, s *Set) context.Context { return context.WithValue(ctx, key{}, s) }

// From returns the set of a context, or nil.
func From(ctx context.Context) *Set {
	s, _ := ctx.Value(key{}).(*Set)
	return s
}
