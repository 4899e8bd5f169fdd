package effects

import (
	"fmt"
	"os"
	"path/filepath"
)

// A Folder is [Texts] as files: one for each, named by its digest, beneath
// folders of its first two digits. Several processes of one machine, or of
// several over a shared file system, may use it.
type Folder struct{ dir string }

// NewFolder makes the texts of a directory, which is made where there is none.
// Only its owner can read it.
func NewFolder(dir string) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("texts: %w", err)
	}
	return &Folder{dir}, nil
}

// Put writes a text whole or not at all.
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
	defer os.Remove(part.Name()) // it is gone where it was renamed
	_, err = part.Write(text)
	if e := part.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return os.Rename(part.Name(), name)
}

// Get reads a text and sees that it is the one.
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
