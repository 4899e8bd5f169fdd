package request

import (
	"math/rand/v2"
	"testing"

	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/faults"
	"github.com/seed61713e19/capstan/validators/schema"
)

// TestPlanted holds that each gate of the chain finds each of its own faults in a
// good text: it says no, or that there is no verdict.
func TestPlanted(t *testing.T) {
	for _, c := range []struct {
		gate validators.Validator
		with map[string]any
		good string
	}{
		{PromiseValidator, nil, `{"promise_id": "p", "summary": "done", "acceptance_criteria": [{"id": "AC-1", "description": "it works", "met": true, "evidence": "the tests pass"}]}`},
		{JudgeValidator, nil, `{"verdict": "PASS", "reasoning": "it is borne out"}`},
	} {
		check, err := c.gate.Bind(c.with)
		if err != nil {
			t.Fatal(err)
		}
		says := func(text string) (bool, error) {
			s := validators.Subject{Content: text}
			s.Output, _ = schema.Parse([]byte(text))
			v, err := check(t.Context(), s)
			return v.Valid, err
		}
		if ok, err := says(c.good); !ok || err != nil {
			t.Fatalf("%s of the good text: %v %v", c.gate.Name, ok, err)
		}
		for _, op := range c.gate.Faults {
			found := op.Apply(faults.Read(c.good, faults.Known{}), rand.New(rand.NewPCG(1, 1)))
			if len(found) == 0 {
				t.Errorf("%s is not planted", op.Name)
			}
			for _, f := range found {
				if ok, _ := says(f.Text); ok {
					t.Errorf("%s passes: %s", op.Name, f.Text)
				}
			}
		}
	}
}
