package schedule

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/validatorstest"
)

func TestGoodWeekPasses(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, dsn string) {
		h := newHouse(t, dsn)
		w := h.certified(week(54))
		if v := h.verdict(preflightGate, w, nil); !v.Valid || v.Status != statusReady {
			t.Errorf("preflight: %+v", v)
		}
		for _, gate := range []string{selectionGate, qualityGate, certificateGate, varietyGate, anomalyGate} {
			if v := h.verdict(gate, w, nil); !v.Valid || v.Status != statusApproved {
				t.Errorf("%s: %s %s", gate, v.Status, v.Reason)
			}
		}
		if r := h.call(saveTool, saving(w)); r.Failed {
			t.Errorf("save: %s", r.Text())
		}
	})
}

// TestSuite puts each gate through the suite of every validator.
func TestSuite(t *testing.T) {
	h := newHouse(t, sqliteDSN(t))
	w := h.certified(week(54))
	bare := h.verdict(qualityGate, w, map[string]any{"policy": "v2", "signing_key": string(testPrivate)})
	v2 := maps.Clone(w)
	v2["validation_certificate"] = details(bare)["validation_certificate"]
	good, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	review := `{"strategic_score": 78, "revenue_aggressiveness": 65, "subscriber_health": 72, "brand_consistency": 85}`
	for _, v := range Validators(h.Options) {
		content := string(good)
		if v.Name == criticGate {
			content = review
		}
		reason := "INVALID_INPUT"
		if v.Name == preflightGate {
			reason = "CREATOR_NOT_FOUND"
		}
		t.Run(v.Name, func(t *testing.T) {
			validatorstest.Run(t, v,
				validatorstest.Case{Name: "good", Content: content, Valid: true},
				validatorstest.Case{Name: "parsed", Subject: validators.Subject{Output: copied(t, json.RawMessage(content))}, Valid: true},
				validatorstest.Case{Name: "v2", With: map[string]any{"policy": "v2"}, Subject: validators.Subject{Output: v2}, Valid: true},
				validatorstest.Case{Name: "no JSON", Content: "A fine week.", Reason: reason},
			)
		})
	}
}
