package spellings_test

import (
	"testing"

	"github.com/seed61713e19/capstan/internal/spellings"
)

func TestNear(t *testing.T) {
	for _, c := range []struct {
		word  string
		known []string
		want  string
		alone bool
	}{
		{"retires", []string{"retries", "wards"}, "retries", true},
		{"Wards", []string{"wards"}, "wards", true},
		{"wrds", []string{"wards", "words"}, "wards", false}, // the first of two
		{"wrds", []string{"words", "words"}, "words", true},
		{"max_atempt", []string{"max_attempts", "max_time"}, "max_attempts", true},
		{"max_atem", []string{"max_attempts"}, "", false},
		{"wrad", []string{"ward"}, "ward", true}, // a swap of neighbours is one mistake
		{"abc", []string{"xyc"}, "", false},      // two letters are too many in a short word
		{"x", []string{"y"}, "", false},          // all are equally near
		{"x", []string{"X"}, "X", true},
		{"naïve", []string{"naive"}, "naive", true},
		{"", []string{"a"}, "", false},
	} {
		if got, alone := spellings.Near(c.word, c.known); got != c.want || got != "" && alone != c.alone {
			t.Errorf("%q among %q: %q, alone %t", c.word, c.known, got, alone)
		}
	}
}
