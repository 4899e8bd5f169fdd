package faultoperators_test

import (
	"math/rand/v2"
	"os"
	"testing"

	"github.com/seed61713e19/capstan/internal/faults"
	"github.com/seed61713e19/capstan/validators/schedule/internal/faultoperators"
)

// Every operator finds its place in a complete schedule, changes the text there and
// describes the change.
func TestSpoilings(t *testing.T) {
	items, err := os.ReadFile("../../testdata/certificate/items.json")
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := os.ReadFile("../../testdata/certificate/certificate.json")
	if err != nil {
		t.Fatal(err)
	}
	good := `{"creator_id": "ada", "confidence_score": 0.8, "strategy_metadata": {}, "items": ` + string(items) + `, "validation_certificate": ` + string(certificate) + `,
		"review": {"strategic_score": 80, "revenue_aggressiveness": 50, "subscriber_health": 70, "brand_consistency": 80},
		"validation_proof": {"vault_types_fetched": ["travel", "music"], "avoid_types_fetched": ["pottery"]}}`
	for _, list := range [][]faults.Operator{faultoperators.Quality(), faultoperators.Certificate(), faultoperators.Variety(), faultoperators.Critic(), faultoperators.Anomaly()} {
		for _, o := range list {
			made := o.Apply(faults.Read(good, faults.Known{}), rand.New(rand.NewPCG(1, 2)))
			if len(made) == 0 || made[0].Text == good || made[0].Place == "" || made[0].Note == "" {
				t.Errorf("%s makes %d faults: %.1v", o.Name, len(made), made)
			}
		}
	}
}
