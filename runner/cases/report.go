package cases

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/runner/junit"
)

// String tells the difference in a line.
func (d Difference) String() string {
	if d.Path == "" || strings.Contains(d.Message, string(d.Path)) {
		return d.Message
	}
	return string(d.Path) + ": " + d.Message
}

// Text tells the outcome as go test does: ok or FAIL, the case and the seconds,
// and below it each difference.
func (o Outcome) Text(w io.Writer) error {
	word := "ok  "
	if !o.OK() {
		word = "FAIL"
	}
	if _, err := fmt.Fprintf(w, "%s %s (%.2fs)\n", word, o.Dir, o.Elapsed.Seconds()); err != nil {
		return err
	}
	_, err := io.WriteString(w, o.details("    "))
	return err
}

// details are the differences, indented.
func (o Outcome) details(indent string) string {
	var b strings.Builder
	for _, d := range o.Differences {
		for line := range strings.Lines(ended(d.String())) {
			b.WriteString(indent + line)
		}
		for line := range strings.Lines(d.Diff) {
			b.WriteString(indent + "    " + strings.TrimSuffix(line, "\n") + "\n")
		}
	}
	return b.String()
}

// Summary counts the cases in a line.
func Summary(all []Outcome, took time.Duration) string {
	failed, updated := 0, 0
	for _, o := range all {
		switch {
		case o.Updated:
			updated++
		case !o.OK():
			failed++
		}
	}
	if updated > 0 {
		return fmt.Sprintf("%d ok, %d updated, %d failed (%.2fs)", len(all)-failed-updated, updated, failed, took.Seconds())
	}
	return fmt.Sprintf("%d ok, %d failed (%.2fs)", len(all)-failed, failed, took.Seconds())
}

// JSON writes {"ok", "cases": [{"name", "dir", "ok", "seconds", "differences",
// "unmeasured"}]}, the last where there are any.
func JSON(w io.Writer, all []Outcome) error {
	type one struct {
		Outcome
		OK      bool    `json:"ok"`
		Seconds float64 `json:"seconds"`
	}
	report := struct {
		OK    bool  `json:"ok"`
		Cases []one `json:"cases"`
	}{OK: true, Cases: []one{}}
	for _, o := range all {
		report.OK = report.OK && o.OK()
		o.Differences = append([]Difference{}, o.Differences...) // never null
		report.Cases = append(report.Cases, one{o, o.OK(), o.Elapsed.Seconds()})
	}
	_, err := fmt.Fprintf(w, "%s\n", indented(report))
	return err
}

// JUnit writes the test report that CI servers read. A case that cannot be read
// or was interrupted is an error there, any other difference a failure.
func JUnit(w io.Writer, all []Outcome) error {
	s := junit.Suite{Name: "capstan"}
	for _, o := range all {
		c := junit.Case{Name: o.Dir, Class: "capstan", Seconds: o.Elapsed.Seconds()}
		if !o.OK() {
			why := &junit.Why{Message: o.Differences[0].String(), Text: o.details("")}
			if about := o.Differences[0].About; about == Broken || about == Cancelled {
				c.Error = why
			} else {
				c.Failure = why
			}
		}
		s.Cases = append(s.Cases, c)
	}
	return s.Write(w)
}
