package query

import (
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/internal/clips"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner/tool"
)

// A result is the result of a statement.
type result struct {
	Database     string           `json:"database"`
	Columns      []string         `json:"columns"` // in order; a second column of the same name is name_2
	Rows         []map[string]any `json:"rows"`
	RowCount     int              `json:"row_count"` // the length of Rows
	MaxRows      int              `json:"max_rows"`  // the limit of the call
	Truncated    bool             `json:"truncated"` // reports whether there are more rows
	CutValues    int              `json:"cut_values,omitempty"`
	RowsAffected *int64           `json:"rows_affected,omitempty"` // only for a database that can be changed

	most, bytes int
}

// maxValue is the maximum size of one value in bytes. Longer values are cut.
const maxValue = 32 << 10

func newResult(d tool.Database, maxRows int) *result {
	a := &result{Database: d.Name, Columns: []string{}, Rows: []map[string]any{}, MaxRows: d.MaxRows, most: d.MaxBytes}
	if maxRows > 0 {
		a.MaxRows = min(maxRows, d.MaxRows)
	}
	return a
}

// columns sets the names of the columns.
func (a *result) columns(names []string) {
	a.Columns, a.Rows, a.RowCount, a.Truncated, a.CutValues, a.bytes = []string{}, []map[string]any{}, 0, false, 0, 0 // the statement may run again
	taken := map[string]bool{}
	for _, name := range names {
		name = strings.ToValidUTF8(name, "\uFFFD")
		own := name
		for n := 2; taken[own]; n++ {
			own = fmt.Sprintf("%s_%d", name, n)
		}
		taken[own] = true
		a.Columns = append(a.Columns, own)
	}
}

// row appends a row. It returns false if the result is full. The first row after the
// limit sets Truncated.
func (a *result) row(values []driver.Value) bool {
	if len(a.Rows) >= a.MaxRows {
		a.Truncated = true
		return false
	}
	row, size, cut := map[string]any{}, 2, 0
	for i, v := range values {
		if i >= len(a.Columns) {
			break
		}
		plain, long := plainValue(v)
		if long {
			cut++
		}
		encoded, err := json.Marshal(plain)
		if err != nil {
			plain, encoded = fmt.Sprint(plain), []byte(fmt.Sprint(plain))
		}
		size += len(a.Columns[i]) + len(encoded) + 4
		row[a.Columns[i]] = plain
	}
	if a.bytes += size; a.bytes > a.most {
		a.Truncated = true
		return false
	}
	a.Rows, a.RowCount, a.CutValues = append(a.Rows, row), len(a.Rows)+1, a.CutValues+cut
	return true
}

// plainValue returns a value of a database as a JSON value, and reports whether
// it was cut.
func plainValue(v driver.Value) (plain any, cut bool) {
	switch v := v.(type) {
	case []byte:
		return fmt.Sprintf("[%d bytes: hex(…) or encode(…, 'hex') gives them]", len(v)), false
	case string:
		return short(v)
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano), false
	case float64:
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0):
			return fmt.Sprint(v), false
		case math.Abs(v) >= 1<<53: // with an exponent, because not all digits are exact
			return json.Number(strconv.FormatFloat(v, 'e', -1, 64)), false
		}
	case json.Number:
		if _, err := schema.Parse([]byte(v)); err != nil {
			return short(string(v)) // more digits than a number can have
		}
	case json.RawMessage:
		if value, err := schema.Parse(v); err == nil && len(v) <= maxValue {
			return value, false
		}
		return short(string(v))
	}
	return v, false
}

func short(text string) (string, bool) {
	text = strings.ToValidUTF8(text, "\uFFFD")
	return clips.Sized(text, maxValue), len(text) > maxValue
}

// The arguments of a call.
type arguments struct {
	database, query string
	values          []any
	maxRows         int
}

// read decodes the arguments of a call, which may not match the schema of the
// tool.
func read(given map[string]any) (a arguments, err error) {
	var in struct {
		Database string `json:"database"`
		Query    string `json:"query"`
		Values   []any  `json:"values"`
		MaxRows  int    `json:"max_rows"`
	}
	text, err := json.Marshal(given)
	if err == nil {
		err = schema.Unmarshal(text, &in)
	}
	switch {
	case err != nil:
		return a, fmt.Errorf("arguments: %w", err)
	case strings.TrimSpace(in.Query) == "":
		return a, errors.New("arguments: query is missing")
	case len(in.Query) > maxStatement || len(in.Values) > maxValues:
		return a, fmt.Errorf("arguments: a query has at most %d bytes and %d values", maxStatement, maxValues)
	}
	for i, v := range in.Values {
		if in.Values[i], err = bindable(v); err != nil {
			return a, fmt.Errorf("arguments: values[%d] %w", i, err)
		}
	}
	return arguments{in.Database, in.Query, in.Values, in.MaxRows}, nil
}

// bindable returns a value that a database accepts.
func bindable(v any) (any, error) {
	switch v := v.(type) {
	case nil, bool, string, float64:
		return v, nil
	case int:
		return int64(v), nil
	case json.Number:
		return string(v), nil // the database converts the digits to the type of the column
	}
	return nil, fmt.Errorf("must be a text, a number, true, false or null, not %s", schema.Kind(v))
}
