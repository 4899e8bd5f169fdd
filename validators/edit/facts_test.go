package edit

import (
	"strings"
	"testing"
)

func TestMarkFormat(t *testing.T) {
	for _, test := range []struct {
		format, marker string
		want           grade
	}{
		{"[GAP: <what is missing>]", "[GAP:who says so]", gradePass},
		{"[GAP: <what is missing>]", "[GAP: ]", gradeFail},
		{"[GAP: <what is missing>]", "[gap: who says so]", gradeFail},
		{"<!-- GAP {id}: {reason} -->", "<!-- GAP 7: who says so -->", gradePass},
		{"<!-- GAP {id}: {reason} -->", "<!-- GAP: who says so -->", gradeFail},
		{"Open: …", "Open: who says so", gradePass},
		{"Open: …", "(open: who says so)", gradeFail},
		{"[GAP]", "[GAP]", gradePass},
		{"[GAP]", "[GAP: who says so]", gradeFail},
	} {
		d := newDesk(t)
		d.change("status.yaml", `mark_format: "[GAP: <what is missing>]"`, "mark_format: '"+test.format+"'")
		d.change("candidates/d-04.1.md", "The third is about silence,", "The third is about silence,\n"+test.marker+"\n")
		if r := d.verify(); r.GapPolicy.Result != test.want {
			t.Errorf("%s: %s: got %+v", test.format, test.marker, r.GapPolicy)
		}
	}
}

func TestGapSection(t *testing.T) {
	d := newDesk(t)
	d.change("candidates/d-04.1.md", "The third is about silence,", "[GAP: who says so] The third is about silence,")
	if r := d.wants(Accept, ""); len(r.GapPolicy.Notes) != 1 || !strings.Contains(r.GapPolicy.Notes[0], "who says so") {
		t.Errorf("got %+v", r.GapPolicy)
	}
	d.change("status.yaml", `mark_format: "[GAP: <what is missing>]"`, "mark_format:")
	d.change("candidates/d-04.1.md", "[GAP: how often", "[GAP, how often")
	if r := d.wants(NeedsHumanReview, "no mark_format"); r.GapPolicy.Result != gradeWarn {
		t.Errorf("got %+v", r.GapPolicy)
	}
}
