package tool

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// SQLQuery is the name of the tool that queries databases.
const SQLQuery = "sql_query"

// A Database is a database in a cascade, for [SQLQuery].
type Database struct {
	Name        string
	Description string        // the description for the model
	URL         string        // the URL as in the file, possibly with {{ env.NAME }}
	Dir         string        // the directory of a relative file name
	Writes      bool          // reports whether statements may change rows
	MaxRows     int           // the maximum number of rows in a result
	MaxBytes    int           // the maximum size of the values in a result, as JSON
	Timeout     time.Duration // the limit for one statement
}

// The default limits of a database.
const (
	DefaultMaxRows      = 200
	DefaultMaxBytes     = 128 << 10
	DefaultQueryTimeout = 10 * time.Second
)

// The kinds of databases.
const (
	SQLite     = "SQLite"
	PostgreSQL = "PostgreSQL"
)

// schemes are the kinds of databases by the scheme of the URL. A file name has
// no scheme.
var schemes = map[string]string{"": SQLite, "sqlite": SQLite, "sqlite3": SQLite, "postgres": PostgreSQL, "postgresql": PostgreSQL}

// Kind returns the kind of database of a URL, or "" if the URL begins with an
// environment variable. The error contains no part of the URL except for its scheme.
func Kind(url string) (string, error) {
	if strings.HasPrefix(url, "{{") {
		return "", nil
	}
	scheme, _, found := strings.Cut(url, ":")
	if !found || len(scheme) < 2 || strings.ContainsAny(scheme, `/\. {`) {
		scheme = "" // C: is a drive
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

// File returns the file name in the URL of an SQLite database.
func File(url string) string {
	scheme, rest, found := strings.Cut(url, ":")
	if !found || schemes[strings.ToLower(scheme)] != SQLite || scheme == "" {
		return url
	}
	return strings.TrimPrefix(rest, "//")
}

// Bind returns the tool for the databases of a cascade. It returns false if the tool
// does not use databases.
func (t Tool) Bind(list []Database) (Tool, bool) {
	if t.over == nil {
		return t, false
	}
	return t.over(list), true
}

// WithBinding returns a tool that [Tool.Bind] binds with the function. Calls of the
// unbound tool use no database.
func (t Tool) WithBinding(bind func([]Database) Tool) Tool {
	t.over = bind
	return t
}

// WithProbe returns the tool with a check that its databases can be reached.
// [Tool.Described], which a run calls before it starts, returns the error of the check.
func (t Tool) WithProbe(look func(ctx context.Context) error) Tool {
	description, params := t.Description, t.params
	t.ask = func(ctx context.Context) (string, map[string]any, error) { return description, params(), look(ctx) }
	return t
}
