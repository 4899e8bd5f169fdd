// Package query is sql_query: a tool that asks databases which a cascade's file
// names, SQLite's and PostgreSQL's.
//
// What comes in is a statement that a model wrote, or a phase with texts of a model
// in it. It is one statement; it reads, unless the file lets it change rows; and it
// reaches nothing but the tables of the database it is for. Three things stand in
// its way: the connection can do no more (a file is opened to be read, a transaction
// only reads), the database itself tells what the statement would do before it
// runs (see the package of statements), and its time, its memory and the size of
// what it gives are bounded.
//
// What goes out is an answer: rows as objects, so that a template, an each and a
// model read them by name, cut where they are more than was asked for, and saying so.
//
// The address of a database, which may hold a password, is in nothing that goes out:
// an error names the database as the file does. Who may do what on a server is the
// server's to say: an address should be of a role that may do little.
package query

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed61713e19/capstan/runner/journal/statements"
	"github.com/seed61713e19/capstan/runner/process"
	"github.com/seed61713e19/capstan/runner/tool"
)

// Tool is sql_query. A cascade's file binds it to its databases; unbound, its
// calls fail.
func Tool() tool.Tool {
	return bound(nil).Overs(bound)
}

// bound is the tool over some databases: it reads where none of them may be written.
func bound(list []tool.Database) tool.Tool {
	b := base(list)
	t := tool.Declared(tool.SQLQuery, b.description(), b.params(), func(ctx context.Context, c tool.Call) (any, error) { return b.call(ctx, c.Arguments) })
	if len(list) == 0 {
		return t.That(tool.Reads)
	}
	effect := tool.Reads
	if slices.ContainsFunc(list, func(d tool.Database) bool { return d.Writes }) {
		effect = tool.Writes
	}
	return t.That(effect).Reached(b.reach)
}

// A base is the databases that a tool is over.
type base []tool.Database

func (b base) description() string {
	var said strings.Builder
	said.WriteString("Run one SQL statement on a database.")
	for _, d := range b {
		kind, _ := tool.Kind(d.URL)
		fmt.Fprintf(&said, " %s:", d.Name)
		for _, part := range []string{kind, d.Description} {
			if part = strings.TrimRight(strings.TrimSpace(part), "."); part != "" {
				fmt.Fprintf(&said, " %s.", part)
			}
		}
		if d.Writes {
			said.WriteString(" Rows can be changed.")
		} else {
			said.WriteString(" Can only be read.")
		}
		fmt.Fprintf(&said, " At most %d rows.", d.MaxRows)
	}
	said.WriteString(" Tables stand in sqlite_schema (SQLite) or information_schema.columns (PostgreSQL).")
	return said.String()
}

func (b base) names() []any {
	names := []any{}
	for _, d := range b {
		names = append(names, d.Name)
	}
	return names
}

func (b base) params() map[string]any {
	database := map[string]any{"type": "string", "description": "which database"}
	required := []any{"query"}
	if len(b) > 0 {
		database["enum"] = b.names()
	}
	if len(b) > 1 {
		required = []any{"database", "query"}
	}
	return map[string]any{
		"type": "object", "required": required, "additionalProperties": false,
		"properties": map[string]any{
			"database": database,
			"query":    map[string]any{"type": "string", "minLength": 1, "maxLength": maxStatement, "description": "one statement"},
			"values":   map[string]any{"type": "array", "maxItems": maxValues, "items": map[string]any{"type": []any{"string", "number", "boolean", "null"}}, "description": "the values of its ? (SQLite) or $1, $2 (PostgreSQL), in order"},
			"max_rows": map[string]any{"type": "integer", "minimum": 1, "description": "how many rows to give at most, if fewer than there may be"},
		},
	}
}

// Bounds of what a call may hold.
const (
	maxStatement = 100_000 // characters
	maxValues    = 1000
)

// atOnce is how many statements of a process run on files at the same time. One
// that does not stop when it is told to keeps its place until it does.
var atOnce = make(chan struct{}, 8)

// open is a database with its address as it is.
type open struct {
	tool.Database
	address string // with what the environment has put in
	kind    string
}

// find gives the database of a name; without one, the only one there is.
func (b base) find(name string) (o open, err error) {
	switch i := slices.IndexFunc(b, func(d tool.Database) bool { return d.Name == name }); {
	case len(b) == 0:
		return o, errors.New("the cascade names no databases")
	case i >= 0:
		o.Database = b[i]
	case name == "" && len(b) == 1:
		o.Database = b[0]
	default:
		return o, fmt.Errorf("no database is called %.100q; there are %s", name, strings.Trim(fmt.Sprint(b.names()), "[]"))
	}
	if o.address, err = process.Expand(o.URL); err == nil {
		o.kind, err = tool.Kind(o.address)
	}
	if err == nil && o.kind == "" {
		err = errors.New("its url refers to something other than environment variables")
	}
	if err != nil && strings.Contains(o.URL, "{{") {
		err = errors.New(o.conceal(err.Error()))
	}
	return o, o.named(err)
}

func (o open) named(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("database %s: %w", o.Name, err)
}

// file is where a database of SQLite is.
func (o open) file() string {
	name := filepath.FromSlash(tool.File(o.address))
	if !filepath.IsAbs(name) {
		name = filepath.Join(filepath.FromSlash(o.Dir), name)
	}
	return name
}

// conceal takes out of a text what nobody is to see of the address.
func (o open) conceal(text string) string {
	text = process.Conceal([]string{"=" + o.URL}, text)
	for _, secret := range secrets(o.address) {
		text = strings.ReplaceAll(text, secret, "[redacted]")
	}
	return text
}

func (b base) call(ctx context.Context, arguments map[string]any) (any, error) {
	a, err := read(arguments)
	if err != nil {
		return nil, err
	}
	o, err := b.find(a.database)
	if err != nil {
		return nil, err
	}
	said := newAnswer(o.Database, a.maxRows)
	s := statements.Statement{
		Text: a.query, Values: a.values, Writes: o.Writes, Exact: true, Timeout: o.Timeout,
		Columns: said.columns, Row: said.row,
	}
	changed, err := o.run(ctx, s)
	if err != nil {
		return nil, err
	}
	if o.Writes {
		said.RowsAffected = &changed
	}
	return said, nil
}

// run runs a statement where it is for, for as long as it may.
func (o open) run(ctx context.Context, s statements.Statement) (int64, error) {
	late := fmt.Errorf("the statement took longer than %s", o.Timeout)
	inTime, cancel := context.WithTimeoutCause(ctx, o.Timeout, late)
	defer cancel()
	run := onServer
	if o.kind == tool.SQLite {
		run = onFile
	}
	changed, err := run(inTime, o, s)
	if err != nil && inTime.Err() != nil {
		if err = context.Cause(inTime); s.Writes {
			err = fmt.Errorf("%w: whether it changed anything is not known", err)
		}
	}
	if err != nil {
		err = errors.New(o.conceal(err.Error()))
	}
	return changed, o.named(err)
}

// Reach tells why a database cannot be asked; nil where it can. It takes no longer
// than a statement may, or ten seconds.
func Reach(ctx context.Context, d tool.Database) error {
	o, err := base{d}.find(d.Name)
	if err != nil {
		return err
	}
	o.Timeout, o.Writes = min(o.Timeout, 10*time.Second), false
	_, err = o.run(ctx, statements.Statement{Text: "SELECT 1", Columns: func([]string) {}, Row: newAnswer(d, 1).row})
	return err
}

// reach looks whether all of them can be asked, at the same time.
func (b base) reach(ctx context.Context) error {
	wrong := make([]error, len(b))
	var all sync.WaitGroup
	for i, d := range b {
		all.Go(func() { wrong[i] = Reach(ctx, d) })
	}
	all.Wait()
	return errors.Join(wrong...)
}
