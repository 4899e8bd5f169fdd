package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// sampleRows is the number of rows of each task in the tests.
const sampleRows = 40

func sample(t *testing.T, rates Rates) map[string]Count {
	t.Helper()
	tasks, err := readTasks()
	if err != nil {
		t.Fatal(err)
	}
	counts, err := measured(t.Context(), tasks, sampleRows, rates)
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]Count{}
	for _, c := range counts {
		byName[c.task+", "+c.setup] = c
	}
	for _, s := range setups() {
		byName[s.name] = sum(counts, s.name)
	}
	return byName
}

// TestRightTextsPass checks that the gates of a task pass its right texts, and that a judge
// without errors passes all texts.
func TestRightTextsPass(t *testing.T) {
	for name, c := range sample(t, Rates{}) {
		if c.released != c.rows || c.allBad() > 0 {
			t.Errorf("%s: %d of %d right texts are released, %d as bad", name, c.released, c.rows, c.allBad())
		}
	}
}

// TestWrongTexts checks a model that is always wrong, so that every text is bad. A judge without
// errors releases no bad text, and the gates catch two thirds of the faults of form in every
// task.
func TestWrongTexts(t *testing.T) {
	counts := sample(t, Rates{Wrong: 1, Form: 1})
	for name, c := range counts {
		task, setup, _ := strings.Cut(name, ", ")
		switch setup {
		case "no gates":
			if c.bad[Form] != sampleRows {
				t.Errorf("%s: %d of %d texts are bad", task, c.bad[Form], c.rows)
			}
		case "one judge":
			if c.released > 0 {
				t.Errorf("%s: the judge passed %d bad texts", task, c.released)
			}
		case "computed gates":
			if c.released > sampleRows/3 {
				t.Errorf("%s: the gates passed %d of %d faults of form: %v", task, c.released, c.rows, c.passed)
			}
		}
	}
}

// TestFaultsHavePlaces checks that faults of both kinds can be planted in every task, and that a
// fault changes the text.
func TestFaultsHavePlaces(t *testing.T) {
	tasks, err := readTasks()
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		used := map[string]bool{}
		for n := range 60 {
			rng := rand.New(rand.NewPCG(1, uint64(n)))
			row := task.row(rng)
			if left := choice().FindString(row.right + row.given); left != "" || strings.Contains(row.right+row.given, "<<") {
				t.Fatalf("%s: a choice is left: %q", task.Name, left)
			}
			for kind := range operators {
				b, err := row.bad(kind, rng)
				if err != nil || b.text == row.right || b.kind != kind {
					t.Fatalf("%s: %v, %+v", task.Name, err, b)
				}
				used[b.operator] = true
			}
		}
		if len(used) < 8 {
			t.Errorf("%s: only the faults %v", task.Name, used)
		}
	}
}

var tableRow = regexp.MustCompile(`(?m)^\| ([a-z ,]+) \| (\d+) \| (\d+) \| ([\d.]+) \|$`)

// TestDocuments checks that the documents contain the table of the command. A sample must agree
// with the table, within the range that chance explains in 999 of 1,000 cases.
func TestDocuments(t *testing.T) {
	var table string
	for i, file := range documents {
		text, err := os.ReadFile(filepath.Join("..", file))
		if err != nil {
			t.Fatal(err)
		}
		found, there := inside(string(text))
		switch {
		case i == 0 && !there:
			t.Fatalf("%s has no table between %s and %s", file, begin, end)
		case there && i > 0 && found != table:
			t.Errorf("%s has another table than %s: run go run ./benefit -update", file, documents[0])
		case i == 0:
			table = found
		}
	}
	if os.Getenv("CAPSTAN_SLOW") != "" {
		wholeTable(t, table)
		return
	}
	counts := sample(t, stated)
	rows := tableRow.FindAllStringSubmatch(table, -1)
	if len(rows) != len(setups()) {
		t.Fatalf("%d rows in\n%s", len(rows), table)
	}
	for i, s := range setups() {
		c := counts[s.name]
		if rows[i][1] != s.name {
			t.Fatalf("row %d is %q, want %q", i+1, rows[i][1], s.name)
		}
		agrees(t, s.name+": bad texts", c.allBad(), c.released, rows[i][2])
		agrees(t, s.name+": tasks without a text", c.rows-c.released, c.rows, rows[i][3])
		calls, _ := strconv.ParseFloat(rows[i][4], 64)
		if got := float64(c.calls) / float64(c.released); got < 0.8*calls || got > 1.25*calls {
			t.Errorf("%s: %.2f model calls for an accepted text, the table has %.2f", s.name, got, calls)
		}
	}
}

// wholeTable computes the whole table.
func wholeTable(t *testing.T, want string) {
	tasks, err := readTasks()
	if err != nil {
		t.Fatal(err)
	}
	counts, err := measured(t.Context(), tasks, fullRows, stated)
	if err != nil {
		t.Fatal(err)
	}
	if got := tableOf(counts, fullRows); got != want {
		t.Errorf("the documents have\n%s\nthe command makes\n%s\nrun go run ./benefit -update", want, got)
	}
}

// agrees compares a count of the sample with the table's share of 1,000.
func agrees(t *testing.T, what string, k, n int, thousandths string) {
	t.Helper()
	share, err := strconv.ParseFloat(thousandths, 64)
	if err != nil {
		t.Fatal(err)
	}
	b := distuv.Binomial{N: float64(n), P: max(share/1000, 1e-9)}
	if below, above := b.CDF(float64(k)), 1-b.CDF(float64(k)-1); below < 0.0005 || above < 0.0005 {
		t.Errorf("%s: %d of %d, the table has %s of 1,000", what, k, n, thousandths)
	}
}
