package edit_test

import (
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/faults"
	"github.com/seed61713e19/capstan/validators/edit"
)

// TestCandidateText plants faults of every kind into a candidate. The verdict
// of each check must be the same for a candidate in candidate_text and for a
// candidate that is the judged text.
func TestCandidateText(t *testing.T) {
	candidate := strings.Replace(text(t, "source.md"), "The first is about order.", "The first is about order, and R1 rests on it.", 1)
	for name, w := range map[string]with{
		"computed": texts(t, with{"judgement": nil, "check": "computed"}),
		"decided":  texts(t, nil),
	} {
		planted, refused := 0, 0
		rng := rand.New(rand.NewPCG(1, 1))
		for _, o := range slices.Concat(faults.General(), edit.Validator.Faults(w)) {
			list := o.Apply(faults.Read(candidate, faults.Known{Given: text(t, "source.md")}), rng)
			for _, f := range list[:min(1, len(list))] {
				planted++
				as := judge(t, w, f.Text)
				given := maps.Clone(w)
				given["candidate_text"] = f.Text
				if got := judge(t, given, candidate); !reflect.DeepEqual(got, as) {
					t.Errorf("%s, %s: given as candidate_text it is %q, as the text %q", name, f.Note, got.Reason, as.Reason)
				}
				if !as.Valid {
					refused++
				}
			}
		}
		if t.Logf("%s: %d planted, %d refused", name, planted, refused); planted < 20 || refused < 5 {
			t.Errorf("%s: only %d faults were planted, %d of them refused", name, planted, refused)
		}
	}
}
