package nextsteps

import (
	"errors"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/journal"
)

// Statuses lists the statuses of the filter for runs.
var Statuses = []string{
	journal.Running, engine.Waiting, engine.Succeeded, engine.Blocked, engine.Exhausted, engine.Failed, engine.OverBudget, engine.Cancelled,
}

// ErrElsewhere is the error of a run whose results another engine stores.
var ErrElsewhere = errors.New("another engine runs it and holds its results: a new run could share nothing")
