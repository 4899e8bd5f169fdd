package postgres

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/seed61713e19/capstan/internal/databases"
	"github.com/seed61713e19/capstan/internal/patterns"
)

// Query runs one statement of a stranger, and of the schema that the address is of
// alone, whatever its user may do; it tells how many rows a statement that writes
// has changed. When ctx ends the server is told to stop, and one that does not
// answer that is taken for gone.
func Query(ctx context.Context, a *Address, s databases.Statement) (changed int64, err error) {
	if strings.ContainsRune(s.Text, 0) {
		return 0, errors.New("a statement has no NUL in it")
	}
	c, err := Dial(ctx, a, 0)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	stop := context.AfterFunc(ctx, func() {
		_ = c.pg.Conn().SetDeadline(time.Now().Add(lastWord))
		last, cancel := context.WithTimeout(context.Background(), lastWord)
		defer cancel()
		_ = c.pg.CancelRequest(last)
	})
	defer stop()
	if err := c.guard(s, a.schema); err != nil {
		return 0, err
	}
	begin := "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT 1"
	if s.Writes {
		begin = "BEGIN READ WRITE; SELECT 1"
	}
	if err := c.Script(begin + limited(s)); err != nil {
		return 0, err
	}
	as, err := c.pg.Prepare(context.Background(), "", s.Text, nil)
	if err != nil {
		return 0, err
	}
	changed, err = c.read(as, s)
	if err == nil && s.Writes {
		err = c.Script("COMMIT")
	}
	return changed, err
}

// lastWord is the time that a server has to stop after a request.
const lastWord = 5 * time.Second

// limited has the server itself end a transaction's statements.
func limited(s databases.Statement) string {
	if s.Timeout <= 0 {
		return ""
	}
	return fmt.Sprintf("; SET LOCAL statement_timeout = %d", max(s.Timeout.Milliseconds(), 1))
}

// read gives the rows until there are enough.
func (c *Conn) read(as *pgconn.StatementDescription, s databases.Statement) (changed int64, err error) {
	var names []string
	for _, f := range as.Fields {
		names = append(names, f.Name)
	}
	s.Columns(names)
	args := make([][]byte, len(s.Values))
	for i, v := range s.Values {
		args[i] = spelt(v)
	}
	r := c.pg.ExecStatement(context.Background(), as, args, nil, nil)
	more := true
	for (more || s.Writes) && r.NextRow() {
		if !more {
			continue // what is left of them was changed too
		}
		values := make([]driver.Value, len(as.Fields))
		for i, raw := range r.Values() {
			if values[i] = value(as.Fields[i].DataTypeOID, raw); s.Exact {
				values[i] = exact(as.Fields[i].DataTypeOID, raw)
			}
		}
		more = s.Row(values)
	}
	if !more && !s.Writes {
		return 0, nil // the rest is not read: the connection goes
	}
	tag, err := r.Close()
	if tag.Select() {
		return 0, err
	}
	return tag.RowsAffected(), err
}

// explains is what a statement begins with that asks for a plan. There is no room
// in it for a comment, which this might read otherwise than the server.
var explains = patterns.Lazy(`(?i)^[\s]*explain(\s*\([\s\w,]*\)|\s+analyze\b|\s+verbose\b)*\s`)

// reads is what one begins with that reads. The server's own reading has the last
// word.
var reads = patterns.Lazy(`(?i)^(\s|\(|--[^\n]*(\n|$)|(?s:/\*.*?\*/))*(select|with|values|table)\b`)

// changes is what one begins with that may write, where it may.
var changes = patterns.Lazy(`(?i)^(\s|\(|--[^\n]*(\n|$)|(?s:/\*.*?\*/))*(select|with|values|table|insert|update|delete|merge)\b`)

// guard sees that a statement is one, and that it does not leave what it may see. A
// transaction that only reads is not enough: the server has functions that read and
// write its files, end other people's sessions and keep locks. The server itself
// reads the statement, as the body of a function that is never called; the tree that
// it keeps of it names each function and relation.
func (c *Conn) guard(s databases.Statement, schema string) error {
	as, err := c.pg.Prepare(context.Background(), "", s.Text, nil)
	if err != nil {
		return err // one with several in it too
	}
	if len(as.ParamOIDs) > len(s.Values) {
		return fmt.Errorf("the statement takes %d values and has no $%d", len(s.Values), len(as.ParamOIDs))
	}
	body := s.Text[len(explains().FindString(s.Text)):]
	switch {
	case s.Writes && !changes().MatchString(body):
		return errors.New("only SELECT, WITH, VALUES, TABLE, INSERT, UPDATE, DELETE, MERGE and their EXPLAIN are allowed")
	case !s.Writes && !reads().MatchString(body):
		return errors.New("only SELECT, WITH, VALUES, TABLE and their EXPLAIN are allowed")
	}
	if _, err = c.pg.Prepare(context.Background(), "", body, nil); err != nil {
		return err
	}
	given, err := c.types(as.ParamOIDs)
	if err == nil {
		err = c.Script("BEGIN READ WRITE" + limited(s))
	}
	if err != nil {
		return err
	}
	_, err = c.pg.Exec(context.Background(), "CREATE FUNCTION pg_temp.capstan_statement("+given+") RETURNS void LANGUAGE sql BEGIN ATOMIC "+body+"\n; END").ReadAll()
	if err != nil {
		return fmt.Errorf("the server cannot look into the statement: %w", err)
	}
	leaves, allowed := "", "1"
	if s.Writes {
		allowed = "12345" // a function has no other in its body
	}
	err = c.Each(context.Background(), func(row []driver.Value) error {
		leaves, _ = row[0].(string)
		return nil
	}, leaving, schema, allowed)
	if err == nil {
		err = c.Script("ROLLBACK")
	}
	if err == nil && leaves != "" {
		err = errors.New(leaves + ": only " + map[bool]string{true: "the tables of the database", false: "the journal"}[schema == ""] + " can be read, with what computes")
	}
	return err
}

// types are those of a statement's values, as a function has them.
func (c *Conn) types(oids []uint32) (list string, err error) {
	if len(oids) == 0 {
		return "", nil
	}
	var numbers []string
	for _, oid := range oids {
		numbers = append(numbers, fmt.Sprint(oid))
	}
	err = c.Each(context.Background(), func(row []driver.Value) error {
		list, _ = row[0].(string)
		return nil
	}, "SELECT string_agg(format_type(t::oid, NULL), ', ' ORDER BY n) FROM unnest(string_to_array(?, ',')) WITH ORDINALITY AS given(t, n)", strings.Join(numbers, ","))
	return list, err
}

// leaving gives what in the tree of a statement is not of the schema, or, where
// none is named, is the server's own. A function
// computes if the same arguments give the same within a statement, and it does not
// look at the server (pg_…, settings) or run a statement of its own (…_to_xml).
const leaving = `
	WITH tree AS (SELECT prosqlbody::text AS body FROM pg_proc WHERE oid = 'pg_temp.capstan_statement'::regproc),
	function AS (SELECT p.* FROM tree, regexp_matches(body, ':(funcid|opfuncid|aggfnoid|winfnoid) ([0-9]+)', 'g') AS m JOIN pg_proc p ON p.oid = m[2]::oid),
	relation AS (SELECT r.*, nspname FROM tree, regexp_matches(body, ':relid ([0-9]+)', 'g') AS m JOIN pg_class r ON r.oid = m[1]::oid JOIN pg_namespace n ON n.oid = relnamespace)
	SELECT 'a statement that writes' FROM tree, regexp_matches(body, ':commandType ([0-9]+)', 'g') AS m WHERE strpos(?2, m[1]) = 0
	UNION ALL
	SELECT 'the function ' || proname FROM function
	WHERE provolatile = 'v' AND proname NOT IN ('random', 'clock_timestamp', 'timeofday', 'gen_random_uuid')
	OR proname LIKE 'pg\_%' AND proname NOT IN ('pg_typeof', 'pg_column_size', 'pg_size_pretty')
	OR proname LIKE '%\_to\_xml%' OR proname = 'current_setting'
	UNION ALL
	SELECT 'the table ' || nspname || '.' || relname FROM relation
	WHERE nspname <> 'information_schema' AND CASE WHEN ?1 = '' THEN nspname LIKE 'pg\_%' ELSE nspname <> ?1 END
	LIMIT 1`
