package testcases

import (
	"fmt"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/internal/reports"
)

// String returns the difference in one line.
func (d Difference) String() string {
	if d.Path == "" || strings.Contains(d.Message, string(d.Path)) {
		return d.Message
	}
	return string(d.Path) + ": " + d.Message
}

// Text returns the outcome in the form of go test: ok or FAIL, the folder and the seconds, then the
// differences.
func (o Outcome) Text() (t reports.Text) {
	word := "ok  "
	if !o.OK() {
		word = "FAIL"
	}
	t.Line("%s %s (%.2fs)", word, o.Dir, o.Elapsed.Seconds())
	for line := range strings.Lines(o.details()) {
		t.Line("    %s", strings.TrimSuffix(line, "\n"))
	}
	return t
}

// details returns the differences, each followed by its diff.
func (o Outcome) details() string {
	var b strings.Builder
	for _, d := range o.Differences {
		b.WriteString(withNewline(d.String()))
		for line := range strings.Lines(d.Diff) {
			b.WriteString("    " + strings.TrimSuffix(line, "\n") + "\n")
		}
	}
	return b.String()
}

// Summary counts the test cases in one line.
func Summary(all []Outcome, took time.Duration) string {
	failed, updated := 0, ""
	n := 0
	for _, o := range all {
		switch {
		case o.Updated:
			n++
			updated = fmt.Sprintf("%d updated, ", n)
		case !o.OK():
			failed++
		}
	}
	return fmt.Sprintf("%d ok, %s%d failed (%.2fs)", len(all)-failed-n, updated, failed, took.Seconds())
}

// Report returns the outcomes in every format except text, for which see [Outcome.Text]. In JUnit,
// a test case that cannot be read or was interrupted is an error. Any other difference is a
// failure.
func Report(all []Outcome) *reports.Report {
	type one struct {
		Outcome
		OK      bool    `json:"ok"`
		Seconds float64 `json:"seconds"`
	}
	data := struct {
		OK    bool  `json:"ok"`
		Cases []one `json:"cases"`
	}{OK: true, Cases: []one{}}
	out := &reports.Report{Name: "capstan"}
	for _, o := range all {
		c := reports.Case{Name: o.Dir, Class: "capstan", Seconds: o.Elapsed.Seconds()}
		if !o.OK() {
			data.OK = false
			c.Status, c.Message, c.Detail = reports.Failed, o.Differences[0].String(), o.details()
			if about := o.Differences[0].About; about == Broken || about == Cancelled {
				c.Status = reports.Broken
			}
		}
		out.Cases = append(out.Cases, c)
		o.Differences = append([]Difference{}, o.Differences...) // not null in JSON
		data.Cases = append(data.Cases, one{o, o.OK(), c.Seconds})
	}
	out.Data = data
	return out
}
