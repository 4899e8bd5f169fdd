package edit

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestWriteReplacesAndStaysInside(t *testing.T) {
	d := newDesk(t)
	r := d.verify()
	outside := filepath.Join(t.TempDir(), "outside.yaml")
	if err := os.WriteFile(outside, []byte("theirs"), 0o644); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(d.root, r.File())
	if err := os.Symlink(outside, file); err != nil {
		t.Skip(err)
	}
	if _, err := r.Write(d.root); err != nil {
		t.Fatal(err)
	}
	want, _ := r.YAML()
	if got, err := os.ReadFile(file); err != nil || string(got) != string(want) {
		t.Errorf("%v %s", err, got)
	}
	if got, _ := os.ReadFile(outside); string(got) != "theirs" {
		t.Errorf("a link was followed: %s", got)
	}
}

// TestWriteSparesItsInput checks that a verification does not overwrite its
// input files.
func TestWriteSparesItsInput(t *testing.T) {
	const file = "candidates/d-04.1.verification.yaml"
	for role, given := range map[string]func(*Options) *File{
		"source.md":      func(o *Options) *File { return &o.Source },
		"status.yaml":    func(o *Options) *File { return &o.Status },
		"direction.yaml": func(o *Options) *File { return &o.Direction },
		"metadata.yaml":  func(o *Options) *File { return &o.Metadata },
	} {
		for _, path := range []string{file, "./candidates/../" + file, "Candidates/D-04.1.verification.YAML"} {
			d := newDesk(t)
			d.put(path, load(t, role))
			given(&d.o).Path = path
			d.refuses("the verification is written there")
		}
		d := newDesk(t)
		*given(&d.o) = File{Path: file, Content: load(t, role)}
		d.refuses(file + ": the verification is written there")
	}
	d := newDesk(t)
	d.put(file, edited(t))
	d.o.Candidate.Path = filepath.Join(d.root, file)
	d.refuses("the verification is written there")
}

func TestWriteWhereItCannot(t *testing.T) {
	d := newDesk(t)
	r := d.verify()
	root := t.TempDir()
	if err := os.Symlink(t.TempDir(), filepath.Join(root, folderName)); err != nil {
		t.Skip(err)
	}
	if _, err := r.Write(root); err == nil {
		t.Error("written through a link that leaves the root")
	}
	blocked := t.TempDir()
	if err := os.WriteFile(filepath.Join(blocked, folderName), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Write(blocked); err == nil {
		t.Error("written under a file")
	}
	full := t.TempDir()
	if err := os.MkdirAll(filepath.Join(full, r.File()), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Write(full); err == nil {
		t.Error("written over a directory")
	}
	if entries, err := os.ReadDir(filepath.Join(full, folderName)); err != nil || len(entries) != 1 {
		t.Errorf("something is left behind: %v %v", entries, err)
	}
	for _, id := range []string{"", "..", "a/b", `a\b`, "-x", ".x", "a b", "ä", strings.Repeat("a", 101)} {
		r.CandidateID = id
		if _, err := r.Write(t.TempDir()); err == nil || !strings.Contains(err.Error(), "cannot name a file") {
			t.Errorf("%q: %v", id, err)
		}
	}
}

// TestWriteIsAtomic checks that a reader always finds a complete verification.
func TestWriteIsAtomic(t *testing.T) {
	d := newDesk(t)
	accepted := d.verify()
	d.judgement(fails3...)
	rejected := d.verify()
	if _, err := accepted.Write(d.root); err != nil {
		t.Fatal(err)
	}
	var writers sync.WaitGroup
	for _, r := range []Report{accepted, rejected} {
		writers.Go(func() {
			for range 5 {
				if _, err := r.Write(d.root); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() {
		writers.Wait()
		close(done)
	}()
	for {
		text, err := os.ReadFile(filepath.Join(d.root, accepted.File()))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(text, []byte("verification:\n")) || !bytes.HasSuffix(text, []byte("required_human_questions: []\n")) {
			t.Fatalf("half a verification: %s", text)
		}
		select {
		case <-done:
			return
		default:
		}
	}
}
