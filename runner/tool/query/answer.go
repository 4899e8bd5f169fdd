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
	"unicode/utf8"

	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators/schema"
)

// An answer is what a statement gave.
type answer struct {
	Database     string           `json:"database"`
	Columns      []string         `json:"columns"` // in their order; one that stands twice is called name_2
	Rows         []map[string]any `json:"rows"`
	RowCount     int              `json:"row_count"` // of Rows
	MaxRows      int              `json:"max_rows"`  // how many were asked for
	Truncated    bool             `json:"truncated"` // there are more rows
	CutValues    int              `json:"cut_values,omitempty"`
	RowsAffected *int64           `json:"rows_affected,omitempty"` // of a database that may be written

	most, bytes int
}

// maxValue bounds one value of an answer, in bytes: what is longer is cut, and says
// how long it was.
const maxValue = 32 << 10

func newAnswer(d tool.Database, maxRows int) *answer {
	a := &answer{Database: d.Name, Columns: []string{}, Rows: []map[string]any{}, MaxRows: d.MaxRows, most: d.MaxBytes}
	if maxRows > 0 {
		a.MaxRows = min(maxRows, d.MaxRows)
	}
	return a
}

// columns takes the columns' names.
func (a *answer) columns(names []string) {
	a.Columns, a.Rows, a.RowCount, a.Truncated, a.CutValues, a.bytes = []string{}, []map[string]any{}, 0, false, 0, 0 // it may be asked anew
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

// row takes a row, and tells whether another is wanted: one more than there is
// room for, to know that it is there.
func (a *answer) row(values []driver.Value) bool {
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
		said, err := json.Marshal(plain)
		if err != nil {
			plain, said = fmt.Sprint(plain), []byte(fmt.Sprint(plain))
		}
		size += len(a.Columns[i]) + len(said) + 4
		row[a.Columns[i]] = plain
	}
	if a.bytes += size; a.bytes > a.most {
		a.Truncated = true
		return false
	}
	a.Rows, a.RowCount, a.CutValues = append(a.Rows, row), len(a.Rows)+1, a.CutValues+cut
	return true
}

// plainValue is a database's value as JSON has it, and whether it is cut.
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
		case math.Abs(v) >= 1<<53: // no whole number, whose digits these would be taken for
			return json.Number(strconv.FormatFloat(v, 'e', -1, 64)), false
		}
	case json.Number:
		if _, err := schema.Parse([]byte(v)); err != nil {
			return short(string(v)) // of more digits than a number has
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
	if len(text) <= maxValue {
		return text, false
	}
	end := maxValue
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return fmt.Sprintf("%s… [cut: %d bytes in all]", text[:end], len(text)), true
}

// arguments are those of a call.
type arguments struct {
	database, query string
	values          []any
	maxRows         int
}

// read takes the arguments of a call, which the tool's schema may not have been
// held against yet.
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

// bindable is a value as a database takes it.
func bindable(v any) (any, error) {
	switch v := v.(type) {
	case nil, bool, string, float64:
		return v, nil
	case int:
		return int64(v), nil
	case json.Number:
		return string(v), nil // more digits than a number of either has: compared as the column is
	}
	return nil, fmt.Errorf("must be a text, a number, true, false or null, not %s", schema.Kind(v))
}
