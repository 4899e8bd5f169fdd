package builtins_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/tables"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/builtins"
)

// builtin returns the built-in validator with the name.
func builtin(name string) validators.Validator {
	v, err := builtins.Default().Find(name)
	if err != nil {
		panic(err)
	}
	return v
}

// rowChecks are the validators for the rows of a table, with the parameters for
// the kind of a row.
var rowChecks = map[string]struct {
	validator validators.Validator
	with      func(kind string) map[string]any
}{
	"presentable": {builtin("presentable"), func(kind string) map[string]any {
		others := slices.DeleteFunc([]any{"placeholder", "refusal", "self_reference", "thinking", "tool_call", "fence", "replacement"}, func(v any) bool { return v == kind })
		return map[string]any{"without": others}
	}},
	"injections": {builtin("input_sanitizer"), func(string) map[string]any { return nil }},
	"lookalikes": {builtin("input_sanitizer"), func(string) map[string]any { return nil }},
	"empty":      {builtin("simple_validator"), func(string) map[string]any { return map[string]any{"min_length": 1} }},
	"pii":        {builtin("pii"), func(kind string) map[string]any { return map[string]any{"kinds": []any{kind}} }},
	"cards":      {builtin("pii"), func(string) map[string]any { return map[string]any{"kinds": []any{"card"}} }},
	"hours": {builtin("numbers_kept"), func(kind string) map[string]any {
		return map[string]any{"source": map[string]string{"before noon": "12", "after noon": "3"}[kind]}
	}},
	"placeholders": {builtin("same_structure"), func(string) map[string]any { return map[string]any{"source": "a line"} }},
	"ibans":        {builtin("pii"), func(string) map[string]any { return map[string]any{"kinds": []any{"iban"}} }},
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
		of := rowChecks[strings.TrimSuffix(filepath.Base(file), ".tsv")]
		err = tables.Check(string(text), func(row tables.Row, line string) bool {
			check, err := of.validator.Bind(of.with(row["kind"]))
			if err != nil {
				t.Fatal(err)
			}
			v, err := check(t.Context(), validators.Subject{Content: line})
			if err != nil {
				t.Errorf("%s: %q: %v", file, line, err)
			}
			return !v.Valid
		})
		if err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}
