package reports_test

import (
	"testing"

	"github.com/seed61713e19/capstan/internal/reports"
)

func TestFit(t *testing.T) {
	for text, want := range map[string]string{
		"":                  "",
		" a \n\tb ":         "a b",
		"abcde":             "abcde",
		"abcdef":            "abcd…",
		"abcd e":            "abcd…",
		"abc d ":            "abc d",
		"abcde ":            "abcde",
		"a\x1b[1mb":         "a[1mb",
		"a\u202eb\xffc":     "abc",
		"ab\u200b\u200bcde": "abcde",
	} {
		if got := reports.Fit(text, 5); got != want {
			t.Errorf("%q: got %q, not %q", text, got, want)
		}
	}
}
