package edit

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/internal/schema"
)

var update = flag.Bool("update", false, "rewrite testdata/verification.yaml")

// A desk is a root with a document of two thousand words, its status file with
// ten claims, a direction, and a candidate.
type desk struct {
	t    testing.TB
	root string
	o    Options
}

// cleared are the roots of finished tests. For some hundred rows, creating new
// files took longer than comparing files.
var cleared []string

func newDesk(t testing.TB) *desk {
	d := &desk{t: t}
	if last := len(cleared) - 1; last >= 0 {
		d.root, cleared = cleared[last], cleared[:last]
	} else {
		d.root = emptyDesk(t)
	}
	t.Cleanup(func() { cleared = append(cleared, d.root) })
	d.lay()
	d.o = Options{
		Root: d.root, ActivePart: partText, Source: File{Path: "source.md"}, Status: File{Path: "status.yaml"},
		Candidate: File{Path: "candidates/d-04.1.md"}, Metadata: File{Path: "metadata.yaml"}, Direction: File{Path: "direction.yaml"},
		Judgement: load(t, "judgement.yaml"),
	}
	return d
}

func emptyDesk(t testing.TB) string {
	root, err := os.MkdirTemp(desks, "desk")
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// lay writes the files of every desk and deletes all others.
func (d *desk) lay() {
	d.t.Helper()
	laid := map[string]string{"candidates/d-04.1.md": edited(d.t)}
	for _, name := range []string{"source.md", "status.yaml", "direction.yaml", "metadata.yaml"} {
		laid[name] = load(d.t, name)
	}
	err := fs.WalkDir(os.DirFS(d.root), ".", func(name string, entry fs.DirEntry, err error) error {
		text, is := laid[name]
		switch there, unread := os.ReadFile(filepath.Join(d.root, name)); {
		case err != nil || name == "." || name == "candidates":
			return err
		case !is || !entry.Type().IsRegular():
			return cmp.Or(os.RemoveAll(filepath.Join(d.root, name)), skipped(entry))
		case unread == nil && string(there) == text:
			delete(laid, name)
		}
		return nil
	})
	if err != nil {
		d.t.Fatal(err)
	}
	for name, text := range laid {
		d.put(name, text)
	}
}

// skipped returns the error that keeps a walk out of a deleted directory.
func skipped(entry fs.DirEntry) error {
	if entry.IsDir() {
		return fs.SkipDir
	}
	return nil
}

func load(t testing.TB, name string) string {
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// edited is the source as the direction wants it.
func edited(t testing.TB) string {
	return swapped(t, load(t, "source.md"),
		"The first is about order.", "The first is about order, and R1 and R4 rest on it.",
		"The second is about identity.", "The second is about identity; R1 rests on it as well.",
		"The third is about silence.", "The third is about silence, which is what R3 is for.")
}

// swapped replaces texts by others. Each old text must exist.
func swapped(t testing.TB, s string, pairs ...string) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(s, pairs[i]) {
			t.Fatalf("there is no %q", pairs[i])
		}
		s = strings.Replace(s, pairs[i], pairs[i+1], 1)
	}
	return s
}

func (d *desk) put(name, text string) {
	d.t.Helper()
	file := filepath.Join(d.root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		d.t.Fatal(err)
	}
}

// change edits one of the desk's files.
func (d *desk) change(name string, pairs ...string) {
	d.t.Helper()
	text, err := os.ReadFile(filepath.Join(d.root, filepath.FromSlash(name)))
	if err != nil {
		d.t.Fatal(err)
	}
	d.put(name, swapped(d.t, string(text), pairs...))
}

func (d *desk) judgement(pairs ...string) {
	d.t.Helper()
	d.o.Judgement = swapped(d.t, d.o.Judgement.(string), pairs...)
}

func (d *desk) verify() Report {
	d.t.Helper()
	r, err := Verify(d.answered())
	if err != nil {
		d.t.Fatal(err)
	}
	return r
}

// answered adds the answers of an honest judge to a judgement without answers: every
// change preserves the meaning, and both sides are quoted.
func (d *desk) answered() Options {
	d.t.Helper()
	judgement, _ := d.o.Judgement.(string)
	given, plain := d.o.Judgement.(map[string]any)
	if v, err := schema.Parse([]byte(judgement)); err == nil {
		given, plain = v.(map[string]any)
	}
	if judgement == "" && !plain || strings.Contains(judgement, "\nchanges:") {
		return d.o
	}
	in, err := read(d.o)
	if err != nil {
		d.t.Fatal(err)
	}
	answers := map[string]any{}
	for _, c := range in.changes {
		if !c.hidden() {
			answers[c.key] = map[string]string{"result": "preserved", "old_quote": c.old, "new_quote": c.now}
		}
	}
	text, err := json.Marshal(answers)
	if err != nil {
		d.t.Fatal(err)
	}
	o := d.o
	if o.Judgement = judgement + "changes: " + string(text) + "\n"; plain {
		given = maps.Clone(given)
		given["changes"] = answers
		o.Judgement = given
	}
	return o
}

// wants checks the decision and that its reason contains why.
func (d *desk) wants(decision Decision, reason string) Report {
	d.t.Helper()
	r := d.verify()
	if r.Decision != decision || !strings.Contains(r.Reason, reason) {
		d.t.Errorf("got %s: %s\nwant %s: …%s…", r.Decision, r.Reason, decision, reason)
	}
	return r
}

// refuses checks that there is no report.
func (d *desk) refuses(reason string) {
	d.t.Helper()
	r, err := Verify(d.o)
	wrong, ok := errors.AsType[*InputError](err)
	if !ok || !strings.Contains(wrong.Error(), reason) {
		d.t.Errorf("got %v (%s), want an input error with %q", err, r.Decision, reason)
	}
}

// forStatus makes the candidate one for a part of the status file.
func (d *desk) forStatus(part partName, pairs ...string) {
	d.t.Helper()
	d.o.ActivePart = part
	d.o.Candidate.Path = "candidates/d-04.1.status.yaml"
	d.put(d.o.Candidate.Path, swapped(d.t, load(d.t, "status.yaml"), pairs...))
	d.change("direction.yaml", "active_part: text", "active_part: "+string(part))
	d.change("metadata.yaml", "active_part: text", "active_part: "+string(part), "d-04.1.md", "d-04.1.status.yaml")
}

func sum(s string) string {
	b := sha256.Sum256([]byte(s))
	return hex.EncodeToString(b[:])
}

func TestEditorCandidate(t *testing.T) {
	d := newDesk(t)
	r := d.wants(Accept, "the primary goal improves")
	file, err := r.Write(d.root)
	if err != nil || file != "candidates/d-04.1.verification.yaml" {
		t.Fatal(file, err)
	}
	got, err := os.ReadFile(filepath.Join(d.root, file))
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("testdata/verification.yaml", got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want := load(t, "verification.yaml"); string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if want := "candidates/d-04.1.verification.yaml\naccept\n" + r.Reason + "\n"; r.Summary() != want {
		t.Errorf("got %q", r.Summary())
	}
	entries, err := os.ReadDir(filepath.Join(d.root, "candidates"))
	if err != nil || len(entries) != 2 {
		t.Errorf("something is left behind: %v %v", entries, err)
	}
}

// TestSideLoadedCandidate checks that the report of a side-loaded candidate
// differs only in the source of the candidate, whatever the decision.
func TestSideLoadedCandidate(t *testing.T) {
	for name, judgement := range map[string][]string{
		"accept": nil,
		"reject": {"C4: {result: pass", "C4: {result: fail"},
		"review": {"C9: {result: pass", "C9: {result: warn"},
		"no":     {"hides_derivation: false", "hides_derivation: true"},
	} {
		d := newDesk(t)
		d.judgement(judgement...)
		own, err := d.verify().YAML()
		if err != nil {
			t.Fatal(err)
		}
		d.put("metadata.yaml", load(t, "side_loaded.yaml"))
		loaded, err := d.verify().YAML()
		if err != nil {
			t.Fatal(err)
		}
		if want := swapped(t, string(own), "candidate_source: editor_loop", "candidate_source: side_loaded"); want != string(loaded) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, loaded, want)
		}
	}
}

// TestReportIsStable checks that the same input returns the same bytes, and
// that a parsed report is written as the same bytes.
func TestReportIsStable(t *testing.T) {
	d := newDesk(t)
	d.judgement("C7: {result: pass, reason: Still marked as a gap.}", `C7: {result: fail, reason: "says: \"measured\", twice\nin 2 lines # no comment"}`)
	first, err := d.verify().YAML()
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		again, err := d.verify().YAML()
		if err != nil || string(again) != string(first) {
			t.Fatalf("%v\n%s", err, again)
		}
	}
	var read struct {
		Verification struct {
			ClaimChecks map[string]struct{ Result, Reason string } `yaml:"claim_checks"`
		}
	}
	if err := yaml.Unmarshal(first, &read); err != nil {
		t.Fatal(err)
	}
	if c := read.Verification.ClaimChecks["C7"]; c.Result != "fail" || !strings.Contains(c.Reason, `says: "measured", twice in 2 lines # no comment`) {
		t.Errorf("got %+v", c)
	}
}
