package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

// fullRows is the number of rows of each task in the table of the documents.
const fullRows = 1000

// The markers of the table in a document.
const (
	begin = "<!-- table of bench/benefit -->"
	end   = "<!-- end of table of bench/benefit -->"
)

// tableOf returns the table with its caption as Markdown.
func tableOf(counts []Count, rows int) string {
	var b strings.Builder
	fmt.Fprintln(&b, "| gates | bad texts in 1,000 released | tasks in 1,000 without a text | model calls for an accepted text |")
	fmt.Fprintln(&b, "|---|---|---|---|")
	for _, s := range setups() {
		c := sum(counts, s.name)
		unreleased := 1000 * float64(c.rows-c.released) / float64(c.rows)
		fmt.Fprintf(&b, "| %s | %.0f | %.0f | %.2f |\n", s.name, c.badShare(), unreleased, float64(c.calls)/float64(c.released))
	}
	fmt.Fprintf(&b, "\nModel and judge are simulated; engine and gates are real; %d tasks have %d texts each. ", len(order), rows)
	fmt.Fprintf(&b, "%.0f %% of the texts are wrong, %.0f %% of these in form.\n", 100*stated.Wrong, 100*stated.Form)
	fmt.Fprintf(&b, "The judge passes %.0f %% of wrong texts and rejects %.0f %% of right ones.\n", 100*stated.FalsePass, 100*stated.FalseFail)
	return b.String()
}

// sum adds the tasks of a setup.
func sum(counts []Count, setup string) Count {
	total := Count{setup: setup, bad: map[Kind]int{}}
	for _, c := range counts {
		if c.setup != setup {
			continue
		}
		total.rows, total.released, total.calls = total.rows+c.rows, total.released+c.released, total.calls+c.calls
		for kind, n := range c.bad {
			total.bad[kind] += n
		}
	}
	return total
}

func (c Count) allBad() int { return c.bad[Form] + c.bad[Meaning] }

// badShare returns the number of bad texts among 1,000 released texts.
func (c Count) badShare() float64 { return 1000 * float64(c.allBad()) / float64(c.released) }

// printDetails writes each task with the faults that its gates passed.
func printDetails(out io.Writer, counts []Count) {
	fmt.Fprintln(out)
	for _, c := range counts {
		fmt.Fprintf(out, "%s, %s: %d of %d released, bad: %d in form, %d in meaning; %.2f calls\n",
			c.task, c.setup, c.released, c.rows, c.bad[Form], c.bad[Meaning], float64(c.calls)/float64(max(c.released, 1)))
		for _, name := range slices.Sorted(maps.Keys(c.passed)) {
			fmt.Fprintf(out, "  %s %d\n", name, c.passed[name])
		}
	}
}

// inside returns the table of a document, or false if the document has no
// markers.
func inside(text string) (table string, found bool) {
	_, rest, began := strings.Cut(text, begin)
	table, _, ended := strings.Cut(rest, end)
	return strings.TrimSpace(table) + "\n", began && ended
}

// write writes the table between the markers of a document. It does not change
// a document without markers.
func write(file, table string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, rest, began := strings.Cut(string(text), begin)
	_, after, ended := strings.Cut(rest, end)
	if !began || !ended {
		return nil
	}
	return os.WriteFile(file, []byte(before+begin+"\n\n"+table+"\n"+end+after), 0o644)
}
