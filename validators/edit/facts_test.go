package edit

import (
	"strings"
	"testing"
)

func TestGapSection(t *testing.T) {
	d := newDesk(t)
	d.change("candidates/d-04.1.md", "The third is about silence,", "[GAP: who says so] The third is about silence,")
	if r := d.wants(Accept, ""); len(r.GapPolicy.Notes) != 1 || !strings.Contains(r.GapPolicy.Notes[0], "who says so") {
		t.Errorf("got %+v", r.GapPolicy)
	}
	d.change("status.yaml", `mark_format: "[GAP: <what is missing>]"`, "mark_format:")
	d.change("candidates/d-04.1.md", "[GAP: how often", "[GAP, how often")
	if r := d.wants(NeedsHumanReview, "no mark_format"); r.GapPolicy.Result != Warn {
		t.Errorf("got %+v", r.GapPolicy)
	}
}
