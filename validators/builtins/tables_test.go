package builtins_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/builtins"
)

// rowChecks are the validators that the rows of a table belong to, with the parameters
// for a row's kind.
var rowChecks = map[string]struct {
	validator validators.Validator
	with      func(kind string) map[string]any
}{
	"presentable": {builtins.Presentable, func(kind string) map[string]any {
		others := slices.DeleteFunc([]any{"placeholder", "refusal", "self_reference", "thinking", "tool_call", "fence", "replacement"}, func(v any) bool { return v == kind })
		return map[string]any{"without": others}
	}},
	"injections": {builtins.InputSanitizer, func(string) map[string]any { return nil }},
	"lookalikes": {builtins.InputSanitizer, func(string) map[string]any { return nil }},
	"empty":      {builtins.SimpleValidator, func(string) map[string]any { return map[string]any{"min_length": 1} }},
	"pii":        {builtins.PII, func(kind string) map[string]any { return map[string]any{"kinds": []any{kind}} }},
	"cards":      {builtins.PII, func(string) map[string]any { return map[string]any{"kinds": []any{"card"}} }},
	"hours": {builtins.NumbersKept, func(kind string) map[string]any {
		return map[string]any{"source": map[string]string{"before noon": "12", "after noon": "3"}[kind]}
	}},
	"placeholders": {builtins.SameStructure, func(string) map[string]any { return map[string]any{"source": "a line"} }},
	"ibans":        {builtins.PII, func(string) map[string]any { return map[string]any{"kinds": []any{"iban"}} }},
}

// TestTables runs both lines of each row of each table.
func TestTables(t *testing.T) {
	files, err := filepath.Glob("tables/*.tsv")
	if err != nil || len(files) != len(rowChecks) {
		t.Fatalf("%d tables, %v; want %d", len(files), err, len(rowChecks))
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		table := strings.TrimSuffix(filepath.Base(file), ".tsv")
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		columns := strings.Split(lines[0], "\t")
		for i, line := range lines[1:] {
			cells := strings.Split(line, "\t")
			if len(cells) != len(columns) || slices.Contains(cells, "") {
				t.Errorf("%s:%d: %d cells, want %d that are not empty", file, i+2, len(cells), len(columns))
				continue
			}
			row := map[string]string{}
			for n, column := range columns {
				row[column] = cells[n]
			}
			if row["source"] == "" || row["match"] == "" || row["no"] == "" {
				t.Errorf("%s:%d: a row needs a source and two lines", file, i+2)
			}
			of := rowChecks[table]
			check, err := of.validator.Bind(of.with(row["kind"]))
			if err != nil {
				t.Fatal(err)
			}
			for _, column := range []string{"match", "no"} {
				v, err := check(t.Context(), validators.Subject{Content: row[column]})
				if err != nil || v.Valid != (column == "no") {
					t.Errorf("%s:%d: %s: %q: valid %v, %s, %v", file, i+2, column, row[column], v.Valid, v.Reason, err)
				}
			}
		}
	}
}
