package postgres

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/seed61713e19/capstan/validators/patterns"
)

// Query runs one statement of a person, which can only read, and of the journal's
// schema alone, whatever the user of the address may do. It calls row with each row
// until it is full. When ctx ends the server is told to stop.
func Query(ctx context.Context, a *Address, text string, columns func([]string), full func() bool, row func([]driver.Value)) error {
	c, err := Dial(ctx, a, 0)
	if err != nil {
		return err
	}
	defer c.Close()
	stop := context.AfterFunc(ctx, func() {
		last, cancel := context.WithTimeout(context.Background(), a.config.ConnectTimeout)
		defer cancel()
		_ = c.pg.CancelRequest(last)
	})
	defer stop()
	if err := c.guard(text, a.schema); err != nil {
		return err
	}
	if err := c.Script("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT 1"); err != nil {
		return err
	}
	as, err := c.pg.Prepare(context.Background(), "", text, nil)
	if err != nil {
		return err
	}
	return c.read(as, columns, full, row)
}

func (c *Conn) read(as *pgconn.StatementDescription, columns func([]string), full func() bool, row func([]driver.Value)) error {
	var names []string
	for _, f := range as.Fields {
		names = append(names, f.Name)
	}
	columns(names)
	r := c.pg.ExecStatement(context.Background(), as, nil, nil, nil)
	for !full() && r.NextRow() {
		values := make([]driver.Value, len(as.Fields))
		for i, raw := range r.Values() {
			values[i] = value(as.Fields[i].DataTypeOID, raw)
		}
		row(values)
	}
	if full() {
		return nil // the rest is not read: the connection goes
	}
	_, err := r.Close()
	return err
}

// explains is what a statement begins with that asks for a plan. There is no room
// in it for a comment, which this might read otherwise than the server.
var explains = patterns.Lazy(`(?i)^[\s]*explain(\s*\([\s\w,]*\)|\s+analyze\b|\s+verbose\b)*\s`)

// reads is what one begins with that reads. The server's own reading has the last
// word.
var reads = patterns.Lazy(`(?i)^(\s|\(|--[^\n]*(\n|$)|(?s:/\*.*?\*/))*(select|with|values|table)\b`)

// guard sees that a statement is one, and that it does not leave the journal. A
// transaction that only reads is not enough: the server has functions that read and
// write its files, end other people's sessions and keep locks. The server itself
// reads the statement, as the body of a function that is never called; the tree that
// it keeps of it names each function and relation.
func (c *Conn) guard(text, schema string) error {
	as, err := c.pg.Prepare(context.Background(), "", text, nil)
	if err != nil {
		return err // one with several in it too
	}
	if len(as.ParamOIDs) > 0 {
		return errors.New("a statement has no $1 or the like in it")
	}
	body := text[len(explains().FindString(text)):]
	if !reads().MatchString(body) {
		return errors.New("only SELECT, WITH, VALUES, TABLE and EXPLAIN of one can be asked")
	}
	if _, err = c.pg.Prepare(context.Background(), "", body, nil); err == nil {
		err = c.Script("BEGIN")
	}
	if err != nil {
		return err
	}
	_, err = c.pg.Exec(context.Background(), "CREATE FUNCTION pg_temp.capstan_statement() RETURNS void LANGUAGE sql BEGIN ATOMIC "+body+"\n; END").ReadAll()
	if err != nil {
		return fmt.Errorf("the server cannot look into the statement: %w", err)
	}
	leaves := ""
	err = c.Each(context.Background(), func(row []driver.Value) error {
		leaves, _ = row[0].(string)
		return nil
	}, leaving, schema)
	if err == nil {
		err = c.Script("ROLLBACK")
	}
	if err == nil && leaves != "" {
		err = errors.New(leaves + ": only the journal can be read, with what computes")
	}
	return err
}

// leaving gives what in the tree of a statement is not of the journal. A function
// computes if the same arguments give the same within a statement, and it does not
// look at the server (pg_…, settings) or run a statement of its own (…_to_xml).
const leaving = `
	WITH tree AS (SELECT prosqlbody::text AS said FROM pg_proc WHERE oid = 'pg_temp.capstan_statement'::regproc),
	function AS (SELECT p.* FROM tree, regexp_matches(said, ':(funcid|opfuncid|aggfnoid|winfnoid) ([0-9]+)', 'g') AS m JOIN pg_proc p ON p.oid = m[2]::oid),
	relation AS (SELECT r.*, nspname FROM tree, regexp_matches(said, ':relid ([0-9]+)', 'g') AS m JOIN pg_class r ON r.oid = m[1]::oid JOIN pg_namespace n ON n.oid = relnamespace)
	SELECT 'a statement that writes' FROM tree, regexp_matches(said, ':commandType ([0-9]+)', 'g') AS m WHERE m[1] <> '1'
	UNION ALL
	SELECT 'the function ' || proname FROM function
	WHERE provolatile = 'v' AND proname NOT IN ('random', 'clock_timestamp', 'timeofday', 'gen_random_uuid')
	OR proname LIKE 'pg\_%' AND proname NOT IN ('pg_typeof', 'pg_column_size', 'pg_size_pretty')
	OR proname LIKE '%\_to\_xml%' OR proname = 'current_setting'
	UNION ALL
	SELECT 'the table ' || nspname || '.' || relname FROM relation WHERE nspname NOT IN (?, 'information_schema')
	LIMIT 1`
