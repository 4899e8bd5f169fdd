package effects

import (
	"fmt"
	"os"
	"path/filepath"
)

// A Folder is a [Texts] in files. Each file has the digest of its text as its
// name, below a folder with the first two digits. Several processes may use it,
// also on several machines over a shared file system.
type Folder struct{ dir string }

// NewFolder returns the texts of a directory and creates it if it is missing.
// Only the owner can read it.
func NewFolder(dir string) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("texts: %w", err)
	}
	return &Folder{dir}, nil
}

// Put writes the whole text, or nothing.
func (f *Folder) Put(text []byte) (string, error) {
	digest := Digest(text)
	name := f.name(digest)
	if info, err := os.Stat(name); err == nil && info.Size() == int64(len(text)) {
		return digest, nil
	}
	if err := f.write(name, text); err != nil {
		return "", fmt.Errorf("texts: %w", err)
	}
	return digest, nil
}

func (f *Folder) write(name string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	part, err := os.CreateTemp(f.dir, "part-")
	if err != nil {
		return err
	}
	defer os.Remove(part.Name()) // fails after the rename
	_, err = part.Write(text)
	if e := part.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return os.Rename(part.Name(), name)
}

// Get reads a text and checks its digest.
func (f *Folder) Get(digest string) ([]byte, error) {
	if len(digest) != len(Digest(nil)) || !filepath.IsLocal(digest) {
		return nil, fmt.Errorf("texts: %q is no digest", digest)
	}
	text, err := os.ReadFile(f.name(digest))
	if err != nil {
		return nil, fmt.Errorf("texts: %w", err)
	}
	if Digest(text) != digest {
		return nil, fmt.Errorf("texts: %s is damaged", digest)
	}
	return text, nil
}

func (f *Folder) name(digest string) string { return filepath.Join(f.dir, digest[:2], digest) }
