package edit

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/internal/reading"
	"github.com/seed61713e19/capstan/internal/strictyaml"
)

// An input is the parsed input of one verification.
type input struct {
	Options
	source    string
	status    *status
	direction *direction
	metadata  *metadata
	judgement *judgement // nil if there is none

	candidate   string
	frontMatter [2]*yaml.Node  // of source and candidate, if that is a text
	body        string         // of the source: its text after the front matter
	changed     *status        // the candidate, if that is a status file
	unreadable  []inputProblem // of the candidate
	sums        map[string]string
	raw         [2]string // the active file and the candidate, as written
	changes     []change
	uncompared  error // why the texts could not be compared
}

// read reads the whole input and reports all of its problems.
func read(o Options) (*input, error) {
	in := &input{Options: o, sums: map[string]string{}}
	f := &folder{dir: cmp.Or(o.Root, ".")}
	if _, err := os.Stat(f.dir); err != nil && o.reads() {
		return nil, &InputError{[]inputProblem{{File: "root", Message: clean(err.Error())}}}
	}
	if !valid(o.ActivePart) {
		f.problem("active_part", fmt.Errorf("must be one of %s, not %q", strings.Join(words(allParts()...), ", "), brief(string(o.ActivePart))))
	}
	source, status := in.take(f, "source", o.Source), in.take(f, "status", o.Status)
	var err error
	in.source, err = source.plainText()
	f.problem(name("source", o.Source), err)
	if status.value != nil {
		status = content{err: errors.New("must be a text")}
	}
	f.yaml("status", o.Status, status, func(r *reader, root *yaml.Node) { in.status = r.status(root) })
	direction := in.take(f, "direction", o.Direction)
	f.yaml("direction", o.Direction, direction, func(r *reader, root *yaml.Node) { in.direction = r.direction(root) })
	f.yaml("metadata", o.Metadata, f.take(o.Metadata), func(r *reader, root *yaml.Node) { in.metadata = r.metadata(root) })
	in.readJudgement(f)
	offered := in.take(f, "candidate", o.Candidate)
	if offered.err != nil || offered.value != nil {
		_, err := offered.plainText()
		f.problem(name("candidate", o.Candidate), err)
	}
	in.place(f)
	if len(f.wrong) > 0 {
		return nil, &InputError{f.wrong}
	}
	in.raw = [2]string{string(source.text), string(offered.text)}
	if o.ActivePart != partText {
		in.raw[0] = string(status.text)
	}
	in.readCandidate(offered)
	return in, nil
}

// reads reports whether a file is to be read under the root.
func (o Options) reads() bool {
	return slices.ContainsFunc([]File{o.Source, o.Status, o.Candidate, o.Metadata, o.Direction},
		func(f File) bool { return f.Path != "" && f.Content == nil })
}

// take reads a file and stores its hash.
func (in *input) take(f *folder, role string, file File) content {
	c := f.take(file)
	if c.err == nil && c.value == nil {
		sum := sha256.Sum256(c.text)
		in.sums[role] = hex.EncodeToString(sum[:])
	}
	return c
}

func (in *input) readJudgement(f *folder) {
	if in.Judgement == nil {
		return
	}
	f.yaml("judgement", File{}, f.take(File{Content: in.Judgement}), func(r *reader, root *yaml.Node) {
		if !strictyaml.Null(root) {
			in.judgement = r.judgement(root)
		}
	})
}

// place makes all paths relative to the root. A path must not be that of the
// verification, which would replace the file.
func (in *input) place(f *folder) {
	for _, file := range []*File{&in.Source, &in.Status, &in.Candidate, &in.Metadata, &in.Direction} {
		if file.Path == "" {
			continue
		}
		if local, err := f.local(file.Path); err == nil {
			file.Path = local
		}
		if in.direction != nil && strings.EqualFold(slashed(file.Path), reportFile(in.direction.Candidate)) {
			f.problem(name("", *file), errors.New("the verification is written there"))
		}
	}
}

// readCandidate reads the candidate as the active part.
func (in *input) readCandidate(c content) {
	r := newReader(name("candidate", in.Candidate))
	text, err := c.plainText()
	switch {
	case err != nil:
		r.At(nil, "%v", err)
	case in.ActivePart == partText:
		in.candidate = text
		in.compare(r)
	default:
		if root := r.Document(c.text); root != nil {
			in.changed = r.status(root)
			in.changes = unseen(in.raw[0], in.raw[1])
		}
	}
	in.unreadable = r.Problems
}

// frontMatter returns a document and its front matter, a mapping or nil. Broken front
// matter is a problem, and part of the text.
func (r *reader) frontMatter(d *reading.Document) (*reading.Document, *yaml.Node) {
	if d.Front == nil {
		return d, nil
	}
	n := r.Document([]byte(d.Front.YAML.In(d.Source)))
	if n != nil && n.Kind == yaml.MappingNode {
		return d, n
	}
	if n != nil {
		r.At(n, "front matter must be a mapping, not %s", strictyaml.Kind(n))
	}
	text := *d
	text.Front = nil
	return &text, nil
}
