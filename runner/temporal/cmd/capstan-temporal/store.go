package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed61713e19/capstan/internal/databases/postgres"
	"github.com/seed61713e19/capstan/runner/internal/effects"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/temporal"
)

// A store has the texts and the log of runs.
type store struct {
	texts effects.Texts
	log   temporal.Log
	close func()
}

// open opens the store. In a journal, capstan show and the page list the runs
// like local ones. The alternative is a directory.
func (c *cluster) open() (s store, err error) {
	switch {
	case c.store == "":
		return s, errors.New("--store is missing: postgres://user@host/database, a file or a directory")
	case c.inJournal():
		j, err := journal.Open(c.store, journal.Options{})
		if err != nil {
			return s, connection{err}
		}
		return store{j.Blobs(), j.External("Temporal"), func() { j.Close() }}, nil
	}
	texts, err := effects.NewFolder(filepath.Join(c.store, "texts"))
	if err != nil {
		return s, connection{err}
	}
	log, err := temporal.NewFolderLog(filepath.Join(c.store, "events"))
	if err != nil {
		return s, connection{err}
	}
	return store{texts, log, func() {}}, nil
}

// inJournal reports whether the store is a database and not a directory.
func (c *cluster) inJournal() bool {
	if info, err := os.Stat(c.store); err == nil {
		return !info.IsDir()
	}
	return postgres.IsAddress(c.store) || strings.HasSuffix(c.store, ".db")
}
