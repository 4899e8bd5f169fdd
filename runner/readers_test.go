package runner_test

import (
	"cmp"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const mib = 1 << 20

// A reader takes texts of an untrusted party. SECURITY.md has a row for each.
type reader struct {
	name   string
	row    string                        // its row in the table; "": its name
	limit  int                           // the bytes that it accepts; 0: as many as come
	inputs map[string]func(n int) string // the inputs of n bytes that cost it the most, by name
	read   func(t testing.TB, text string) error
	exempt string // why its time and memory are not compared

	refused string // what the error says if a large input has more than the reader accepts
}

// TestReadersTable compares the readers with the rows of the table in
// SECURITY.md.
func TestReadersTable(t *testing.T) {
	page, err := os.ReadFile("../SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Readers of untrusted input\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var rows []string
	for _, row := range regexp.MustCompile(`(?m)^\| ([^|]*) \| .*\[([a-z0-9_/]+)\]`).FindAllStringSubmatch(section, -1) {
		rows = append(rows, row[1])
		if _, err := os.Stat("../" + row[2]); err != nil {
			t.Errorf("%s: %v", row[1], err)
		}
	}
	var names []string
	for _, r := range readers() {
		names = append(names, cmp.Or(r.row, r.name))
	}
	slices.Sort(rows)
	slices.Sort(names)
	names = slices.Compact(names)
	if !slices.Equal(rows, names) {
		t.Errorf("SECURITY.md has the readers\n%s\nand this test\n%s", strings.Join(rows, "\n"), strings.Join(names, "\n"))
	}
}

// TestReadersSmall checks that every reader accepts small texts of the most
// expensive kinds.
func TestReadersSmall(t *testing.T) {
	for _, r := range readers() {
		t.Run(r.name, func(t *testing.T) {
			for name, input := range r.inputs {
				if err := r.read(t, input(16<<10)); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
}

// filled returns a function that makes texts of about n bytes: open, each as often as
// fits, end.
func filled(open, each, end string) func(n int) string {
	return func(n int) string {
		return open + strings.Repeat(each, max(n-len(open)-len(end), 0)/len(each)) + end
	}
}
