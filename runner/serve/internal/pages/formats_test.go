package pages

import (
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/internal/reports"
)

func FuzzLine(f *testing.F) {
	f.Add("a\x00\x1b[2J\u202e\xff")
	f.Add("00\xb2\xb2\xb2\xb2")
	f.Fuzz(func(t *testing.T, in string) {
		if l := reports.Name(in); strings.ContainsAny(l, "\n\t") {
			t.Fatalf("%q is not a line", l)
		}
		for at := -1; at < len(in)+2; at += 3 {
			if b := runeStart(in, at); b < 0 || b > len(in) || b < at-3 && at <= len(in) {
				t.Fatalf("boundary %d of %q is %d", at, in, b)
			}
		}
	})
}

func TestFigures(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "", -1: "", 500: "< 1 ms", 42 * time.Millisecond: "42 ms", 1500 * time.Millisecond: "1.5 s", 59990 * time.Millisecond: "59.9 s",
		time.Minute: "1 m 00 s", 125 * time.Second: "2 m 05 s", 26*time.Hour + 3*time.Minute: "26 h 03 m",
	} {
		if got := formatDuration(d); got != want {
			t.Errorf("%v: got %q, want %q", d, got, want)
		}
	}
	for usd, want := range map[float64]string{0: "", 0.00001: "< $0.0001", 0.0123: "$0.0123", 1.5: "$1.50", 1234.5: "$1234.50"} {
		if got := formatMoney(usd); got != want {
			t.Errorf("%v: got %q, want %q", usd, got, want)
		}
	}
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1\u202f000", 1234567: "1\u202f234\u202f567", -1000: "-1\u202f000", -100: "-100"} {
		if got := formatCount(n); got != want {
			t.Errorf("%d: got %q, want %q", n, got, want)
		}
	}
	if got := formatPercent(999, 1000); got != "99.9 %" {
		t.Error(got)
	}
	if got := formatPercent(9999, 10000); got != "99.9 %" { // rounded down
		t.Error(got)
	}
}
