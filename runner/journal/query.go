package journal

import (
	"context"
	"database/sql/driver"
	"fmt"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/runner/journal/statements"
)

// Query runs one read-only SQL statement over the views runs, phases, attempts,
// verdicts and calls. It gives at most limit rows, 0 being no limit, and ends
// with ctx.
func (j *Journal) Query(ctx context.Context, sql string, limit int) (*Table, error) {
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
	err := j.store.query(ctx, statements.Statement{
		Text:    text,
		Columns: func(names []string) { t.Columns = append(t.Columns, names...) },
		Row: func(values []driver.Value) bool {
			t.Rows = append(t.Rows, shown(values))
			return limit <= 0 || len(t.Rows) < limit
		},
	})
	if err == nil {
		err = ctx.Err()
	}
	return err
}

// spellOut puts long texts where a table has only their digests: within JSON,
// or taken out of it.
func (j *Journal) spellOut(ctx context.Context, t *Table) error {
	return j.reading(ctx, func(c *conn) error {
		for _, row := range t.Rows {
			for i, v := range row {
				if said, isText := v.(string); isText {
					row[i] = j.spelt(ctx, c, said)
				}
			}
		}
		return nil
	})
}

// spelt is a text with the long ones that it names. One that only looks as if it named
// some stays as it is.
func (j *Journal) spelt(ctx context.Context, c *conn, said string) string {
	list, inParts := strings.CutPrefix(said, partly)
	name, alone := strings.CutPrefix(said, reference[1:])
	switch {
	case inParts:
		if whole, err := j.joined(ctx, c, list); err == nil {
			return bare(whole)
		}
	case alone && len(name) == TextDigits:
		if found, err := j.text(ctx, c, []byte(name)); err == nil {
			return bare(found)
		}
	case strings.Contains(said, reference[1:]):
		if raw, err := j.unpack(ctx, c, []byte(said), people); err == nil {
			return string(raw)
		}
	}
	return said
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
