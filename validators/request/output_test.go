package request_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/validators/request"
)

// TestToolsTable: each row matches its line and not the similar one, and the reader draws
// a result from the line.
func TestToolsTable(t *testing.T) {
	table, err := os.ReadFile("tables/tools.tsv")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(table)) {
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if cells[0] == "tool" {
			continue
		}
		rows++
		if len(cells) != 10 || cells[9] == "" {
			t.Errorf("%q has %d columns", cells, len(cells))
			continue
		}
		pattern, match, no := regexp.MustCompile(cells[1]), cells[7], cells[8]
		if !pattern.MatchString(match) || pattern.MatchString(no) {
			t.Errorf("%s: %s matches %q: %v, %q: %v", cells[0], pattern, match, pattern.MatchString(match), no, pattern.MatchString(no))
		}
		if cells[2]+cells[3]+cells[4]+cells[5]+cells[6] == "-----" {
			t.Errorf("%s: %s means nothing", cells[0], pattern)
		}
		got := request.ReadOutput(match)
		switch cells[6] {
		case "failed":
			if got.Failure != match {
				t.Errorf("%s: %q reports no failure", cells[0], match)
			}
		case "none":
			if !got.None() {
				t.Errorf("%s: %q is a run of tests", cells[0], match)
			}
		case "ran":
			if got.None() || got.Failure != "" || got.Counted {
				t.Errorf("%s: %q: %+v", cells[0], match, got)
			}
		default:
			if got.Passed+got.Failed+got.Skipped == 0 {
				t.Errorf("%s: %q has no count", cells[0], match)
			}
		}
	}
	if rows < 20 {
		t.Errorf("the table has %d rows", rows)
	}
}

// TestReadOutput: the counts of whole outputs.
func TestReadOutput(t *testing.T) {
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
		got := request.ReadOutput(c.output)
		if got.Passed != c.passed || got.Failed != c.failed || got.Skipped != c.skipped || got.Failure != c.failure || got.None() != c.none {
			t.Errorf("%s: %+v, none %v", name, got, got.None())
		}
	}
}
