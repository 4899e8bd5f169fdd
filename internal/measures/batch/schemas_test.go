package batch_test

import (
	"encoding/json"
	"testing"

	"github.com/seed61713e19/capstan/internal/measures/batch"
	"github.com/seed61713e19/capstan/internal/schema"
)

// Rows and results are valid for their schemas.
func TestSchemas(t *testing.T) {
	follows := func(source map[string]any, v any) {
		t.Helper()
		s, err := schema.Compile(source)
		if err != nil {
			t.Fatal(err)
		}
		if broken, err := s.Check(nil, v); err != nil || len(broken) > 0 {
			t.Errorf("%v: %v %v", v, err, broken)
		}
	}
	text := "{\"topic\": \"owl\", \"expect\": \"owl\"}\n" + topics("a bat", "breaks") + "nonsense\n{\"input\": {\"topic\": \"owl\"}, \"expect\": {\"expr\": \"true\"}}\n"
	follows(batch.DatasetSchema(), value(t, `{"topic": "owl", "expect": {"value": 1}}`))
	known, _ := batch.ResultSchema()["properties"].(map[string]any)
	b := &batch.Batch{Cascade: parsed(t, gated), Dataset: written(t, "s.jsonl", text), Times: 2, Result: func(o batch.Outcome) error {
		line, err := json.Marshal(o)
		if err != nil {
			return err
		}
		v := value(t, string(line))
		follows(batch.ResultSchema(), v)
		for key := range v.(map[string]any) {
			if known[key] == nil {
				t.Errorf("the schema does not tell of %s", key)
			}
		}
		return nil
	}}
	if _, err := b.Evaluate(t.Context(), newBench(t), nil); err != nil {
		t.Error(err)
	}
}
