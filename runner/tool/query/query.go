// Package query implements sql_query, a tool that queries the SQLite and PostgreSQL
// databases of a cascade.
//
// The input is one SQL statement from a model or from a phase. The result has the rows
// as objects, and reports whether rows or values were cut. For example:
//
//	t, _ := query.Tool().Bind([]tool.Database{{Name: "shop", URL: "shop.db", MaxRows: 200}})
//	result, err := t.Run(ctx, tool.Call{Arguments: map[string]any{"query": "SELECT 1"}})
//
// A statement can only read, unless the file allows changes. The connection is
// read-only, the database checks the statement before it runs (package statements), and
// time, memory and result are limited. The role on a server should only have the
// necessary rights. Results and errors never contain the address of a database, because
// it can have a password. Begin with [Tool].
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

	"github.com/seed61713e19/capstan/internal/databases"
	"github.com/seed61713e19/capstan/internal/process"
	"github.com/seed61713e19/capstan/runner/tool"
)

// Tool returns sql_query. A cascade binds it to its databases. Calls of the
// unbound tool fail.
func Tool() tool.Tool {
	return bound(nil).WithBinding(bound)
}

// bound returns the tool for the databases. Its effect is Writes if a database
// can be changed.
func bound(list []tool.Database) tool.Tool {
	b := databaseList(list)
	t := tool.Declared(tool.SQLQuery, b.description(), b.params(), func(ctx context.Context, c tool.Call) (any, error) { return b.call(ctx, c.Arguments) })
	if len(list) == 0 {
		return t.WithEffect(tool.Reads)
	}
	effect := tool.Reads
	if slices.ContainsFunc(list, func(d tool.Database) bool { return d.Writes }) {
		effect = tool.Writes
	}
	return t.WithEffect(effect).WithProbe(b.reach)
}

// A databaseList has the databases of a tool.
type databaseList []tool.Database

func (b databaseList) description() string {
	var text strings.Builder
	text.WriteString("Run one SQL statement on a database.")
	for _, d := range b {
		kind, _ := tool.Kind(d.URL)
		fmt.Fprintf(&text, " %s:", d.Name)
		for _, part := range []string{kind, d.Description} {
			if part = strings.TrimRight(strings.TrimSpace(part), "."); part != "" {
				fmt.Fprintf(&text, " %s.", part)
			}
		}
		if d.Writes {
			text.WriteString(" Rows can be changed.")
		} else {
			text.WriteString(" Can only be read.")
		}
		fmt.Fprintf(&text, " At most %d rows.", d.MaxRows)
	}
	text.WriteString(" sqlite_schema (SQLite) or information_schema.columns (PostgreSQL) list the tables.")
	return text.String()
}

func (b databaseList) names() []any {
	names := []any{}
	for _, d := range b {
		names = append(names, d.Name)
	}
	return names
}

func (b databaseList) params() map[string]any {
	database := map[string]any{"type": "string", "description": "name of the database"}
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
			"values":   map[string]any{"type": "array", "maxItems": maxValues, "items": map[string]any{"type": []any{"string", "number", "boolean", "null"}}, "description": "values for ? (SQLite) or $1, $2 (PostgreSQL), in order"},
			"max_rows": map[string]any{"type": "integer", "minimum": 1, "description": "smaller maximum number of rows"},
		},
	}
}

// The limits of a call.
const (
	maxStatement = 100_000 // in characters
	maxValues    = 1000
)

// fileSlots limits the parallel statements on files in a process. A statement that does
// not stop in time occupies its slot until it ends.
var fileSlots = make(chan struct{}, 8)

// An openDatabase is a database with its expanded address.
type openDatabase struct {
	tool.Database
	address string // with the values of environment variables
	kind    string
}

// find returns the database with the name. The name may be empty if there is
// one database.
func (b databaseList) find(name string) (o openDatabase, err error) {
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

func (o openDatabase) named(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("database %s: %w", o.Name, err)
}

// file returns the path of an SQLite database.
func (o openDatabase) file() string {
	name := filepath.FromSlash(tool.File(o.address))
	if !filepath.IsAbs(name) {
		name = filepath.Join(filepath.FromSlash(o.Dir), name)
	}
	return name
}

// conceal replaces the secrets of the address in a text.
func (o openDatabase) conceal(text string) string {
	text = process.Conceal([]string{"=" + o.URL}, text)
	for _, secret := range secrets(o.address) {
		text = strings.ReplaceAll(text, secret, "[redacted]")
	}
	return text
}

func (b databaseList) call(ctx context.Context, arguments map[string]any) (any, error) {
	a, err := read(arguments)
	if err != nil {
		return nil, err
	}
	o, err := b.find(a.database)
	if err != nil {
		return nil, err
	}
	rows := newResult(o.Database, a.maxRows)
	s := databases.Statement{
		Text: a.query, Values: a.values, Writes: o.Writes, Exact: true, Timeout: o.Timeout,
		Columns: rows.columns, Row: rows.row,
	}
	changed, err := o.run(ctx, s)
	if err != nil {
		return nil, err
	}
	if o.Writes {
		rows.RowsAffected = &changed
	}
	return rows, nil
}

// run runs a statement within the timeout of the database.
func (o openDatabase) run(ctx context.Context, s databases.Statement) (int64, error) {
	late := fmt.Errorf("the statement took longer than %s", o.Timeout)
	inTime, cancel := context.WithTimeoutCause(ctx, o.Timeout, late)
	defer cancel()
	run := runServer
	if o.kind == tool.SQLite {
		run = runFile
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

// Reach returns an error if the database cannot be reached within its timeout.
// Maximum: 10 seconds.
func Reach(ctx context.Context, d tool.Database) error {
	o, err := databaseList{d}.find(d.Name)
	if err != nil {
		return err
	}
	o.Timeout, o.Writes = min(o.Timeout, 10*time.Second), false
	_, err = o.run(ctx, databases.Statement{Text: "SELECT 1", Columns: func([]string) {}, Row: newResult(d, 1).row})
	return err
}

// reach checks all databases in parallel.
func (b databaseList) reach(ctx context.Context) error {
	wrong := make([]error, len(b))
	var all sync.WaitGroup
	for i, d := range b {
		all.Go(func() { wrong[i] = Reach(ctx, d) })
	}
	all.Wait()
	return errors.Join(wrong...)
}
