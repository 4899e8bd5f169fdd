package runner

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/pins"
)

// Deciders are the files that decide the runs of some cascades: the files of the cascades,
// their programs, labels and protected files.
type Deciders struct {
	sets   []*pins.Set
	digest string
}

// Deciders returns the files that decide runs of the cascades, with a digest of their
// contents now.
func (r *Runner) Deciders(list ...*cascades.Cascade) (*Deciders, error) {
	d := &Deciders{}
	var texts []string
	for _, c := range list {
		set, err := r.pin(c)
		if err != nil {
			return nil, err
		}
		d.sets = append(d.sets, set)
		for _, f := range c.Files {
			name := strings.TrimPrefix(f.Name, path.Dir(c.Files[0].Name)+"/")
			texts = append(texts, name+"\x00"+string(f.Text))
		}
		for _, pin := range set.Pins() {
			texts = append(texts, pin.Name+"\x00"+pin.Digest)
		}
	}
	slices.Sort(texts)
	text, err := json.Marshal(slices.Compact(texts))
	if err != nil {
		return nil, fmt.Errorf("the digest of the cascade: %w", err)
	}
	sum := sha256.Sum256(text)
	d.digest = "sha256:" + hex.EncodeToString(sum[:])
	return d, nil
}

// Digest returns the digest of the contents of all files. It does not depend on the folder
// of the cascades.
func (d *Deciders) Digest() string { return d.digest }

// Refuse returns an error if a model must not write the file of an absolute path.
func (d *Deciders) Refuse(path string) error {
	for _, set := range d.sets {
		if err := set.Refuse("", path); err != nil {
			return err
		}
	}
	return nil
}
