package reports_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner/reports"
)

func TestReport(t *testing.T) {
	var b strings.Builder
	r := reports.To(&b)
	r.Line("%s of %s", reports.Count(1, "run"), reports.Count(2, "cascade"))
	r.Table([][]string{{"CHECK", "NO", "YES"}, {"long", reports.Cell(0), reports.Cell(12)}})
	if want := "1 run of 2 cascades\nCHECK  NO  YES\nlong   ·   12\n"; b.String() != want || r.Err() != nil {
		t.Errorf("got %q, %v", b.String(), r.Err())
	}
}

// full is a disk without room.
type full struct{ asked int }

func (f *full) Write([]byte) (int, error) { f.asked++; return 0, errors.New("full") }

// What cannot be written is told at the end, and not tried again.
func TestReportThatFails(t *testing.T) {
	out := &full{}
	r := reports.To(out)
	r.Line("a")
	r.Line("b")
	r.Table([][]string{{"c"}})
	if r.Err() == nil || out.asked != 1 {
		t.Errorf("asked %d times, %v", out.asked, r.Err())
	}
}
