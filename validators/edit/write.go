package edit

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path"
)

// folderName is where candidates and their verifications are, under the root.
const folderName = "candidates"

// File is where [Report.Write] puts the verification, relative to the root:
// candidates/<candidate_id>.verification.yaml.
func (r Report) File() string { return reportFile(r.CandidateID) }

func reportFile(candidate string) string {
	return path.Join(folderName, candidate+".verification.yaml")
}

// Write writes the verification under the root, whole or not at all, and gives
// its path relative to the root. One that is there is replaced. Before that it
// is read back: what cannot be read as what it says is not written.
func (r Report) Write(root string) (string, error) {
	if !validID(r.CandidateID) {
		return "", fmt.Errorf("verification: %q cannot name a file", brief(r.CandidateID))
	}
	text, err := r.YAML()
	if err != nil {
		return "", err
	}
	again, err := ParseReport(r.File(), text)
	if err == nil {
		var round []byte
		if round, err = again.YAML(); err == nil && !bytes.Equal(round, text) {
			err = errors.New("it is not read back as it was written")
		}
	}
	if err != nil {
		return "", fmt.Errorf("verification: %w", err)
	}
	f, err := openFolder(root)
	if err != nil {
		return "", fmt.Errorf("verification: %w", err)
	}
	defer f.root.Close()
	if err := replace(f.root, r.File(), text); err != nil {
		return "", fmt.Errorf("verification: %w", err)
	}
	return r.File(), nil
}

// replace writes beside the file and renames, so that no reader ever sees half
// of it.
func replace(root *os.Root, name string, text []byte) (err error) {
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	part := path.Join(path.Dir(name), "."+path.Base(name)+"."+rand.Text())
	f, err := root.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			root.Remove(part)
		}
	}()
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return root.Rename(part, name)
}
