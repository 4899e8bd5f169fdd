package main

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/files"
	"github.com/seed61713e19/capstan/internal/providers"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/openai"
)

// models are the models that a command may ask, as its flags and the environment choose
// them.
type models struct {
	*providers.Set
	getenv  func(string) string
	journal *journal.Journal // where replay:RUN finds its run; may be nil
	scripts files.Root       // where scripts may be, and the files of their replies
}

func newModels(getenv func(string) string, stream bool, j *journal.Journal, root string) *models {
	return shownModels(getenv, stream, j, root, nil)
}

// shownModels is [newModels] with a function that is called when calls wait.
func shownModels(getenv func(string) string, stream bool, j *journal.Journal, root string, waits func(openai.Wait)) *models {
	o := providers.Options{Getenv: getenv, Stream: stream, OnWait: waits}
	if j != nil {
		o.Replay = func(run string) (model.Model, error) { return j.Replay(context.Background(), run) }
	}
	return (&models{providers.New(o), getenv, j, files.Root{Dirs: []string{cmp.Or(root, ".")}, Flag: "--root"}}).fresh()
}

// fresh returns the models with unread scripts and the same endpoints. What is trusted
// later is not trusted by m.
func (m *models) fresh() *models {
	own := *m
	own.scripts.Dirs, own.scripts.Files = slices.Clone(m.scripts.Dirs), slices.Clone(m.scripts.Files)
	own.Set = m.Reading(own.read)
	return &own
}

// read reads a script or a file that a script names. A trusted script may name
// any file.
func (m *models) read(file, script string) ([]byte, error) {
	if slices.Contains(m.scripts.Files, script) {
		return files.Read(file, providers.MaxScript)
	}
	return m.scripts.Read(file, providers.MaxScript)
}

// trust allows the scripts of an operator to be in any folder.
func (m *models) trust(chosen string) {
	for line := range strings.SplitSeq(chosen, "\n") {
		name := cascades.Chosen(line).Default()
		if name == "" {
			_, name, _ = strings.Cut(line, "=")
		}
		if file, isScript := strings.CutPrefix(name, "scripted:"); isScript {
			m.scripts.Files = append(m.scripts.Files, file)
		}
	}
}
