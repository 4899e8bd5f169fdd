package edit

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/validators/reading"
)

// An input is all that one verification is given, read.
type input struct {
	Options
	source    string
	status    *status
	direction *direction
	metadata  *metadata
	judgement *judgement // nil where there is none

	candidate  string
	pages      [2]page   // of source and candidate, where that is a text
	changed    *status   // the candidate, where it is a status file
	unreadable []Problem // why the candidate is neither a text nor a status file
	sums       map[string]string
	raw        [2]string // what the candidate is to replace, and the candidate, as they were written
	differing  []reading.Change
	unread     bool // nobody has looked at what differs
}

// read reads everything and tells all that is wrong with it.
func read(o Options) (*input, error) {
	in := &input{Options: o, sums: map[string]string{}}
	s := &sources{}
	defer s.close()
	s.part(o.ActivePart)
	in.source = in.text(s, "source", o.Source)
	status := s.take(o.Root, o.Status)
	in.sum("status", status)
	if o.ActivePart != PartText {
		in.raw[0] = string(status.text)
	}
	if status.value != nil {
		status = content{err: fmt.Errorf("must be a text")}
	}
	s.yaml("status", o.Status, status, func(r *reader, root *yaml.Node) { in.status = r.status(root) })
	in.readAround(s)
	offered := s.take(o.Root, o.Candidate)
	in.sum("candidate", offered)
	if offered.err != nil || offered.value != nil {
		_, err := offered.plainText()
		s.problem(name("candidate", o.Candidate), err)
	}
	in.place(s)
	if len(s.wrong) > 0 {
		return nil, &InputError{s.wrong}
	}
	in.readCandidate(offered)
	return in, nil
}

// place gives all paths from the root on. None may be where the verification
// goes, which would take the file's place.
func (in *input) place(s *sources) {
	for _, file := range []*File{&in.Source, &in.Status, &in.Candidate, &in.Metadata, &in.Direction} {
		file.Path = s.local(file.Path)
		if in.direction != nil && strings.EqualFold(slashed(file.Path), reportFile(in.direction.candidate)) {
			s.problem(name("", *file), errors.New("the verification is written there"))
		}
	}
}

// readAround reads what is known around the two states.
func (in *input) readAround(s *sources) {
	direction := s.take(in.Root, in.Direction)
	in.sum("direction", direction)
	s.yaml("direction", in.Direction, direction, func(r *reader, root *yaml.Node) { in.direction = r.direction(root) })
	s.yaml("metadata", in.Metadata, s.take(in.Root, in.Metadata), func(r *reader, root *yaml.Node) { in.metadata = r.metadata(root) })
	in.readJudgement(s)
}

func (in *input) readJudgement(s *sources) {
	if in.Judgement == nil {
		return
	}
	given := (*folder)(nil).content(File{Content: in.Judgement})
	s.yaml("judgement", File{}, given, func(r *reader, root *yaml.Node) {
		if !null(root) {
			in.judgement = r.judgement(root)
		}
	})
}

func (in *input) text(s *sources, role string, file File) string {
	c := s.take(in.Root, file)
	in.sum(role, c)
	if in.ActivePart == PartText {
		in.raw[0] = string(c.text)
	}
	text, err := c.plainText()
	switch {
	case err != nil:
	case strings.TrimSpace(text) == "":
		err = errors.New("the file is empty")
	case strings.ContainsRune(text, 0):
		err = errors.New("the file has NUL characters: it is not a text")
	}
	s.problem(name(role, file), err)
	return text
}

func (in *input) sum(role string, c content) {
	if c.err == nil && c.value == nil {
		sum := sha256.Sum256(c.text)
		in.sums[role] = hex.EncodeToString(sum[:])
	}
}

// readCandidate reads the candidate as what it is to replace.
func (in *input) readCandidate(c content) {
	r := &reader{file: name("candidate", in.Candidate)}
	in.raw[1] = string(c.text)
	text, err := c.plainText()
	switch {
	case err != nil:
		r.at(nil, "%v", err)
	case strings.TrimSpace(text) == "":
		r.at(nil, "the candidate is empty")
	case strings.ContainsRune(text, 0):
		r.at(nil, "the candidate has NUL characters: it is not a text")
	case in.ActivePart == PartText:
		in.readPages(r, text)
	default:
		if root := r.document(c.text); root != nil {
			in.changed = r.status(root)
			in.differing = reading.Unseen(in.raw[0], in.raw[1])
		}
	}
	in.unreadable = r.wrong
}

// readPages reads the front matter of both texts. A beginning of the source
// that only looks like front matter is text, and then that of the candidate is
// too.
func (in *input) readPages(r *reader, text string) {
	in.candidate = text
	in.pages[0] = (&reader{}).page(in.source)
	if in.pages[0].matter == nil {
		r = &reader{}
	}
	in.pages[1] = r.page(text)
	in.compare(r)
}

// sources read files and collect what is wrong with them.
type sources struct {
	folder *folder
	broken bool // the folder cannot be opened, which is told once
	wrong  []Problem
}

func (s *sources) close() {
	if s.folder != nil {
		s.folder.root.Close()
	}
}

// local gives a path as it is from the root, where it is read: so a report is
// the same wherever the root is.
func (s *sources) local(path string) string {
	if s.folder == nil || path == "" {
		return path
	}
	if local, err := s.folder.local(path); err == nil {
		return local
	}
	return path
}

func (s *sources) problem(file string, err error) {
	if err != nil && (!s.broken || file == "root") {
		s.wrong = append(s.wrong, Problem{File: file, Message: clean(err.Error())})
	}
}

func (s *sources) part(p Part) {
	if p == "" {
		s.problem("active_part", fmt.Errorf("missing; it is one of %s", strings.Join(words(allParts()...), ", ")))
	} else if !valid(p) {
		s.problem("active_part", fmt.Errorf("%q is none of %s", brief(string(p)), strings.Join(words(allParts()...), ", ")))
	}
}

// take reads one file; the root is opened when the first path is asked for.
func (s *sources) take(root string, file File) content {
	if file.Content == nil && file.Path != "" && s.folder == nil && !s.broken {
		var err error
		if s.folder, err = openFolder(root); err != nil {
			s.broken = true
			s.problem("root", err)
		}
	}
	if s.broken && file.Content == nil {
		return content{err: fmt.Errorf("not read")}
	}
	return s.folder.content(file)
}

// yaml reads one file as what into takes it for.
func (s *sources) yaml(role string, file File, c content, into func(*reader, *yaml.Node)) {
	r := &reader{file: name(role, file)}
	if root := r.node(c); root != nil {
		into(r, root)
	}
	if !s.broken || c.err == nil {
		s.wrong = append(s.wrong, r.wrong...)
	}
}

// name is what a file is called in a message.
func name(role string, file File) string {
	if file.Path == "" {
		return role
	}
	return clean(file.Path)
}

// unified gives a text without its byte order mark and with plain line ends.
func unified(s string) string {
	return strings.ReplaceAll(strings.TrimPrefix(s, string(byteOrderMark)), "\r\n", "\n")
}
