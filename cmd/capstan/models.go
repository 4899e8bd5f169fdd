package main

import (
	"context"

	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/providers"
)

// models are who may be asked, and what the flags and the environment say of it.
type models struct {
	*providers.Set
	getenv  func(string) string
	journal *journal.Journal // where replay:RUN finds its run; may be nil
}

func newModels(getenv func(string) string, stream bool, j *journal.Journal) *models {
	o := providers.Options{Getenv: getenv, Stream: stream}
	if j != nil {
		o.Replay = func(run string) (model.Model, error) { return j.Replay(context.Background(), run) }
	}
	return &models{providers.New(o), getenv, j}
}

// fresh has scripts that nothing was taken from, and the same endpoints.
func (m *models) fresh() *models { return &models{m.Fresh(), m.getenv, m.journal} }
