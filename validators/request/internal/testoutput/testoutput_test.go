package testoutput_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/tables"
	"github.com/seed61713e19/capstan/validators/request/internal/testoutput"
)

// TestToolsTable checks that each row matches its line and not the similar
// line, and that the line has a result.
func TestToolsTable(t *testing.T) {
	table, err := os.ReadFile("tables/tools.tsv")
	if err != nil {
		t.Fatal(err)
	}
	err = tables.Check(string(table), func(row tables.Row, line string) bool { return regexp.MustCompile(row["line"]).MatchString(line) })
	if err != nil {
		t.Error(err)
	}
	rows := tables.Rows(string(table))
	for _, row := range rows {
		tool, match := row["tool"], row["match"]
		if row["passed"]+row["failed"]+row["skipped"]+row["total"]+row["means"] == "" {
			t.Errorf("%s: %s means nothing", tool, row["line"])
		}
		got := testoutput.Read(match)
		switch row["means"] {
		case "failed":
			if got.Failure != match {
				t.Errorf("%s: %q reports no failure", tool, match)
			}
		case "none":
			if !got.None() {
				t.Errorf("%s: %q is a run of tests", tool, match)
			}
		case "ran":
			if got.None() || got.Failure != "" || got.Counted {
				t.Errorf("%s: %q: %+v", tool, match, got)
			}
		default:
			if got.Passed+got.Failed+got.Skipped == 0 {
				t.Errorf("%s: %q has no count", tool, match)
			}
		}
	}
	if len(rows) < 20 {
		t.Errorf("the table has %d rows", len(rows))
	}
}

// TestRead checks the counts of complete outputs.
func TestRead(t *testing.T) {
	for name, c := range map[string]struct {
		output                  string
		passed, failed, skipped int
		failure                 string
		none                    bool
	}{
		"go":         {"--- PASS: TestA (0.00s)\n    --- FAIL: TestB/x (0.00s)\n--- SKIP: TestC (0.00s)\nFAIL\nexit status 1\nFAIL\tm/a\t0.01s\n", 1, 1, 1, "    --- FAIL: TestB/x (0.00s)", false},
		"go, silent": {"ok  \tm/a\t0.3s\nok  \tm/b\t(cached)\n", 0, 0, 0, "", false},
		"cargo":      {"test result: ok. 4 passed; 0 failed; 1 ignored; 0 measured\n\ntest result: ok. 2 passed; 0 failed; 0 ignored; 0 measured\n", 6, 0, 1, "", false},
		"jest":       {"Test Suites: 1 failed, 1 passed, 2 total\nTests:       2 failed, 3 passed, 1 skipped, 6 total\n", 3, 2, 1, "Tests:       2 failed, 3 passed, 1 skipped, 6 total", false},
		"surefire":   {"Tests run: 3, Failures: 0, Errors: 0, Skipped: 1, Time elapsed: 0.1 s\n\nTests run: 3, Failures: 0, Errors: 0, Skipped: 1\n", 2, 0, 1, "", false},
		"ctest":      {"90% tests passed, 1 tests failed out of 10\r\n", 9, 1, 0, "90% tests passed, 1 tests failed out of 10", false},
		"unittest":   {"Ran 0 tests in 0.000s\n\nOK\n", 0, 0, 0, "", true},
		"prose":      {"3 tests failed last week, 2 passed\n", 0, 0, 0, "", false},
		"empty":      {"", 0, 0, 0, "", false},
		"a flood":    {strings.Repeat("x\n", 1<<19) + "=== 5 passed in 0.1s ===\n", 5, 0, 0, "", false},
	} {
		got := testoutput.Read(c.output)
		if got.Passed != c.passed || got.Failed != c.failed || got.Skipped != c.skipped || got.Failure != c.failure || got.None() != c.none {
			t.Errorf("%s: %+v, none %v", name, got, got.None())
		}
	}
}
