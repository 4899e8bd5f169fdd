package journal

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Query runs one read-only SQL statement over the views runs, phases, attempts,
// verdicts and calls. It gives at most limit rows, 0 being no limit, and ends
// with ctx.
func (j *Journal) Query(ctx context.Context, sql string, limit int) (*Table, error) {
	if strings.ContainsRune(sql, 0) {
		return nil, errors.New("sql: a statement has no NUL in it")
	}
	t := &Table{Columns: []string{}, Rows: [][]any{}}
	err := j.guarded(ctx, sql, limit, t)
	if err == nil {
		err = j.spellOut(ctx, t)
	}
	switch {
	case err == nil:
		return t, nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("sql: %w", ctx.Err())
	case j.store.wrong(err):
		return nil, fmt.Errorf("sql: %w", err)
	}
	return nil, j.fault(err)
}

// guarded runs a statement on a connection of its own.
func (j *Journal) guarded(ctx context.Context, text string, limit int, t *Table) error {
	select {
	case j.reads <- struct{}{}:
		defer func() { <-j.reads }()
	case <-ctx.Done():
		return ctx.Err()
	}
	full := func() bool { return limit > 0 && len(t.Rows) >= limit }
	err := j.store.query(ctx, text, t, full, func(values []driver.Value) { t.Rows = append(t.Rows, shown(values)) })
	if err == nil {
		err = ctx.Err()
	}
	return err
}

// spellOut puts long texts where a table has only their digests: within JSON,
// or taken out of it.
func (j *Journal) spellOut(ctx context.Context, t *Table) error {
	sign := reference[1:]
	return j.reading(ctx, func(c *conn) error {
		for _, row := range t.Rows {
			for i, v := range row {
				said, isText := v.(string)
				if !isText || !strings.Contains(said, sign) && !strings.HasPrefix(said, partly) {
					continue
				}
				if list, ok := strings.CutPrefix(said, partly); ok {
					if whole, err := j.joined(ctx, c, list); err == nil {
						row[i] = bare(whole)
					}
				} else if name, ok := strings.CutPrefix(said, sign); ok && len(name) == 2*len(digest{}) {
					if found, err := j.text(ctx, c, []byte(name)); err == nil {
						row[i] = bare(found) // else it is a text that only looks so
					}
				} else if raw, err := j.unpack(ctx, c, []byte(said), bare); err == nil {
					row[i] = string(raw)
				}
			}
		}
		return nil
	})
}

// shown is a row's values as a table has them.
func shown(values []driver.Value) []any {
	row := make([]any, len(values))
	for i, v := range values {
		switch v := v.(type) {
		case []byte:
			row[i] = strings.ToValidUTF8(string(v), "\uFFFD")
		case time.Time:
			row[i] = v.UTC().Format(time.RFC3339Nano)
		case string:
			row[i] = bare(v)
		case bool: // as SQLite has it
			if row[i] = int64(0); v {
				row[i] = int64(1)
			}
		default:
			row[i] = v
		}
	}
	return row
}

// single gives the one statement that a text holds, without what ends it.
func single(sql string) (string, error) {
	said, end := false, -1 // of the statement
	for i := 0; i < len(sql); {
		n := lexeme(sql[i:])
		blank := strings.TrimSpace(sql[i:i+n]) == "" || strings.HasPrefix(sql[i:], "--") || strings.HasPrefix(sql[i:], "/*")
		switch {
		case blank:
		case sql[i] == ';' && end < 0:
			end = i
		case end >= 0 && sql[i] != ';':
			return "", errors.New("want one statement, not several")
		case sql[i] != ';':
			said = true
		}
		i += n
	}
	if end >= 0 {
		sql = sql[:end]
	}
	if !said {
		return "", errors.New("there is no statement")
	}
	return sql, nil
}

// lexeme is how many bytes the quoted name, string or comment takes that s
// begins with, or 1.
func lexeme(s string) int {
	until := ""
	switch {
	case strings.HasPrefix(s, "--"):
		until = "\n"
	case strings.HasPrefix(s, "/*"):
		until = "*/"
	case s[0] == '[':
		until = "]"
	case s[0] == '\'' || s[0] == '"' || s[0] == '`':
		until = s[:1]
	default:
		return 1
	}
	skip := len(until)
	if skip > 1 || until == "\n" || until == "]" {
		skip = min(2, len(s))
		if until == "]" {
			skip = 1
		}
	}
	if n := strings.Index(s[skip:], until); n >= 0 {
		return skip + n + len(until)
	}
	return len(s)
}
