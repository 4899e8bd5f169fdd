package cascades

import (
	"strings"

	"github.com/seed61713e19/capstan/runner/model"
)

// A Model is what is asked where a cascade names a model: one, or a ladder of
// several. It is empty where none is named.
type Model []Rung

// A Rung is one model of a [Model].
type Rung struct {
	Name     string
	Params   *model.Params // nil for none
	Attempts int           // that it serves, at least 1; the last rung serves all that are left
}

// Names are the names of the rungs, in order.
func (m Model) Names() []string {
	names := make([]string, len(m))
	for i, r := range m {
		names[i] = r.Name
	}
	return names
}

// String is the names, from the first rung to the last.
func (m Model) String() string { return strings.Join(m.Names(), " → ") }

// From is the ladder from the rung on that serves an attempt, which counts
// from 1: what is left of it for a call that gets no answer.
func (m Model) From(attempt int) Model {
	for len(m) > 1 && attempt > m[0].Attempts {
		attempt -= m[0].Attempts
		m = m[1:]
	}
	return m
}

// A Chosen is what is asked in place of what the files say, one to a line:
//
//	NAME      the default, for a file's own
//	OLD=NEW   wherever OLD is named
//	*=NEW     wherever any is
//
// The default answers for every model where it is a script or a run that was
// kept: scripted:FILE, replay:RUN. What a model is asked for beside the
// conversation, and how many rungs there are, stays as it is written, but not
// where a default is replaced by another. The zero Chosen changes nothing.
type Chosen string

// Default is the model that replaces that of the file; "" for none.
func (c Chosen) Default() string {
	for line := range strings.SplitSeq(string(c), "\n") {
		if _, _, renames := renaming(line); line != "" && !renames {
			return line
		}
	}
	return ""
}

// renaming splits OLD=NEW; the path of a script may hold a = of its own.
func renaming(line string) (old, to string, ok bool) {
	if recorded(line) {
		return "", "", false
	}
	return strings.Cut(line, "=")
}

// recorded tells whether the model says what was written down before.
func recorded(name string) bool {
	return strings.HasPrefix(name, "scripted:") || strings.HasPrefix(name, "replay:")
}

// Of is the model of a place that names its own, or none, in a file with a
// default, which may be that of the file it is part of.
func (c Chosen) Of(own, file Model) Model {
	chosen := c.Default()
	m := own
	switch {
	case len(m) > 0:
	case chosen != "" && !recorded(chosen) || len(file) == 0:
		m = Model{{Name: chosen, Attempts: 1}}
	default:
		m = file
	}
	if len(own) == 0 && chosen != "" && !recorded(chosen) {
		return m.named()
	}
	renamed := make(Model, len(m))
	for i, r := range m {
		renamed[i] = r
		renamed[i].Name = c.rename(r.Name)
	}
	return renamed.named()
}

// named is the model, or none where nobody named one.
func (m Model) named() Model {
	if len(m) == 1 && m[0].Name == "" {
		return nil
	}
	return m
}

// rename is the name that stands for one that is written. What names it wins
// over what is for all.
func (c Chosen) rename(name string) string {
	all := ""
	for line := range strings.SplitSeq(string(c), "\n") {
		switch old, to, ok := renaming(line); {
		case ok && old == name:
			return to
		case ok && old == "*", recorded(line):
			all = to
			if !ok {
				all = line
			}
		}
	}
	if all != "" {
		return all
	}
	return name
}
