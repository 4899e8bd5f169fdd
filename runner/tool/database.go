package tool

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// SQLQuery is the name of the tool that asks databases.
const SQLQuery = "sql_query"

// A Database is one that a cascade's file names for [SQLQuery].
type Database struct {
	Name        string
	Description string        // for the model
	URL         string        // as the file has it; it may hold {{ env.NAME }}
	Dir         string        // which the name of a file is relative to
	Writes      bool          // statements may change rows
	MaxRows     int           // of one answer
	MaxBytes    int           // of one answer's values, as JSON
	Timeout     time.Duration // of one statement
}

// What holds where a file says nothing.
const (
	DefaultMaxRows  = 200
	DefaultMaxBytes = 128 << 10
	DefaultQuery    = 10 * time.Second
)

// The kinds of databases there are.
const (
	SQLite     = "SQLite"
	PostgreSQL = "PostgreSQL"
)

// schemes are what URLs begin with, by what they are of. "" is the name of a file.
var schemes = map[string]string{"": SQLite, "sqlite": SQLite, "sqlite3": SQLite, "postgres": PostgreSQL, "postgresql": PostgreSQL}

// Kind tells what a URL is of; "" where it begins with a variable of the
// environment. An error says which there are, and nothing of the URL but what
// stands before its colon.
func Kind(url string) (string, error) {
	if strings.HasPrefix(url, "{{") {
		return "", nil
	}
	scheme, _, found := strings.Cut(url, ":")
	if !found || len(scheme) < 2 || strings.ContainsAny(scheme, `/\. {`) {
		scheme = "" // C: is a disk
	}
	kind, ok := schemes[strings.ToLower(scheme)]
	switch {
	case !ok:
		return "", fmt.Errorf("%q is no database that can be asked here: want the name of a file of SQLite, or postgres://user@host/database (an MCP server can ask others)", scheme)
	case kind == SQLite && (File(url) == "" || strings.HasPrefix(File(url), ":memory:")):
		return "", fmt.Errorf("a database of SQLite is a file: sqlite:shop.db, or shop.db alone")
	}
	return kind, nil
}

// File is the name of the file that a URL of SQLite is of.
func File(url string) string {
	scheme, rest, found := strings.Cut(url, ":")
	if !found || schemes[strings.ToLower(scheme)] != SQLite || scheme == "" {
		return url
	}
	return strings.TrimPrefix(rest, "//")
}

// Over is a tool bound to the databases that a file names; false of one that is
// over none.
func (t Tool) Over(list []Database) (Tool, bool) {
	if t.over == nil {
		return t, false
	}
	return t.over(list), true
}

// Overs makes a tool that works on what a file names from a function that binds
// it. As it is, unbound, it can only be told of.
func (t Tool) Overs(bind func([]Database) Tool) Tool {
	t.over = bind
	return t
}

// Reached is the tool with a look, at whether what it works on is there, which
// [Tool.Described] takes: a run looks before it begins.
func (t Tool) Reached(look func(ctx context.Context) error) Tool {
	description, params := t.Description, t.params
	t.ask = func(ctx context.Context) (string, map[string]any, error) { return description, params(), look(ctx) }
	return t
}
