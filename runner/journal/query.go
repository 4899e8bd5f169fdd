package journal

import (
	"context"
	"database/sql/driver"
	"fmt"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/internal/databases"
	"github.com/seed61713e19/capstan/runner/journal/internal/codec"
	"github.com/seed61713e19/capstan/runner/journal/internal/stores"
)

// Query runs one read-only SQL statement over the views runs, phases, attempts,
// verdicts and calls. It returns at most limit rows; 0 means no limit.
func (j *Journal) Query(ctx context.Context, sql string, limit int) (*Table, error) {
	t := &Table{Columns: []string{}, Rows: [][]any{}}
	err := j.runQuery(ctx, sql, limit, t)
	if err == nil {
		err = j.insertTexts(ctx, t)
	}
	switch {
	case err == nil:
		return t, nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("sql: %w", ctx.Err())
	case j.db.Store.Wrong(err):
		return nil, fmt.Errorf("sql: %w", err)
	}
	return nil, j.db.Fault(err)
}

// runQuery runs a statement on its own connection.
func (j *Journal) runQuery(ctx context.Context, text string, limit int, t *Table) error {
	select {
	case j.db.ReadSlots <- struct{}{}:
		defer func() { <-j.db.ReadSlots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	err := j.db.Store.Query(ctx, databases.Statement{
		Text:    text,
		Columns: func(names []string) { t.Columns = append(t.Columns, names...) },
		Row: func(values []driver.Value) bool {
			t.Rows = append(t.Rows, tableRow(values))
			return limit <= 0 || len(t.Rows) < limit
		},
	})
	if err == nil {
		err = ctx.Err()
	}
	return err
}

// insertTexts replaces the names of long texts in a table by the texts, also
// within JSON.
func (j *Journal) insertTexts(ctx context.Context, t *Table) error {
	return j.db.Read(ctx, func(c *stores.Conn) error {
		for _, row := range t.Rows {
			for i, v := range row {
				if text, isText := v.(string); isText {
					row[i] = j.insertText(ctx, c, text)
				}
			}
		}
		return nil
	})
}

// insertText replaces the names in a text. A text that only looks like a name
// stays as it is.
func (j *Journal) insertText(ctx context.Context, c *stores.Conn, text string) string {
	name, alone := strings.CutPrefix(text, codec.Reference[1:])
	switch {
	case alone && len(name) == TextDigits:
		if d, err := codec.ParseDigest(name); err == nil {
			if found, err := j.text(ctx, c, d); err == nil {
				return codec.Unseal(found)
			}
		}
	case strings.Contains(text, codec.Reference[1:]):
		if raw, err := j.unpack(ctx, c, []byte(text), codec.RedactedView); err == nil {
			return string(raw)
		}
	}
	return text
}

// tableRow returns a row's values as a table has them.
func tableRow(values []driver.Value) []any {
	row := make([]any, len(values))
	for i, v := range values {
		switch v := v.(type) {
		case []byte:
			row[i] = strings.ToValidUTF8(string(v), "\uFFFD")
		case time.Time:
			row[i] = v.UTC().Format(time.RFC3339Nano)
		case string:
			row[i] = codec.Unseal(v)
		case bool: // as in SQLite
			if row[i] = int64(0); v {
				row[i] = int64(1)
			}
		default:
			row[i] = v
		}
	}
	return row
}
