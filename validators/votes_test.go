package validators

import "testing"

func TestMajority(t *testing.T) {
	yes, no := Pass("fine"), Fail("dull")
	other := Fail("long")
	other.Fix = "cut it"
	for _, c := range []struct {
		votes    []Verdict
		valid    bool
		score    float64
		reason   string
		warnings int
	}{
		{[]Verdict{yes, yes, yes}, true, 1, "3 of 3 votes say yes: fine", 0},
		{[]Verdict{yes, no, yes, other, yes}, true, 0.6, "3 of 5 votes say yes: fine", 2},
		{[]Verdict{no, yes, other}, false, 1.0 / 3, "2 of 3 votes say no: dull; long", 1},
		{[]Verdict{no, no, no}, false, 0, "3 of 3 votes say no: dull", 0},
	} {
		v := Majority(c.votes)
		if v.Valid != c.valid || *v.Score != c.score || v.Reason != c.reason || len(v.Warnings) != c.warnings {
			t.Errorf("got %+v (score %v), want %+v", v, *v.Score, c)
		}
	}
}
