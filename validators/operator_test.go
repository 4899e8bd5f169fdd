package validators_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/validators"
)

// TestFixed checks that the operator's parameters are neither shown nor accepted, whether they
// are set or not.
func TestFixed(t *testing.T) {
	type params struct {
		Most   int    `json:"most"`
		Policy string `json:"policy,omitempty"`
		Word   string `json:"word,omitempty"`
	}
	v := validators.New("v", "tell its parameters", func(_ context.Context, p params, _ validators.Subject) (validators.Verdict, error) {
		return validators.Pass("%d %q %q", p.Most, p.Policy, p.Word), nil
	}, validators.Operator("policy"))
	text := func(v validators.Validator, with map[string]any) string {
		check, err := v.Bind(with)
		if err != nil {
			return err.Error()
		}
		verdict, err := check(t.Context(), validators.Subject{})
		if err != nil {
			return err.Error()
		}
		return verdict.Reason
	}
	all := map[string]any{"most": 1, "policy": "soft", "word": "w"}
	for _, row := range []struct {
		v        validators.Validator
		with     map[string]any
		want     string
		seen     string
		required bool
	}{
		{v, all, `1 "soft" "w"`, "most policy word", true},
		{v.Fixed(nil), map[string]any{"most": 1}, `1 "" ""`, "most word", true},
		{v.Fixed(nil), all, "policy is the operator's to set", "most word", true},
		{v.Fixed(map[string]any{"policy": "strict"}), map[string]any{"most": 1}, `1 "strict" ""`, "most word", true},
		{v.Fixed(map[string]any{"policy": "strict"}), map[string]any{"most": 1, "policy": nil}, "policy is the operator's to set", "most word", true},
		{v.Fixed(map[string]any{"most": 7}), nil, `7 "" ""`, "word", false},
		{v.Fixed(map[string]any{"most": 7}), map[string]any{"most": 8}, "most is the operator's to set", "word", false},
		{v.Fixed(map[string]any{"most": "x"}), nil, "must be an integer, is a string", "word", false},
		{v.Fixed(map[string]any{"most": 7}).Fixed(map[string]any{"word": "z"}), nil, `7 "" "z"`, "", false},
	} {
		if got := text(row.v, row.with); !strings.Contains(got, row.want) {
			t.Errorf("%v: %s, want %s", row.with, got, row.want)
		}
		schema, _ := json.Marshal(row.v.Params())
		for _, name := range []string{"most", "policy", "word"} {
			if strings.Contains(string(schema), `"`+name+`":`) != strings.Contains(row.seen, name) {
				t.Errorf("%s: %s", name, schema)
			}
		}
		if (row.v.Params()["required"] != nil) != row.required {
			t.Errorf("%s", schema)
		}
	}
	if v.Params()["properties"].(map[string]any)["policy"] == nil {
		t.Error("the validator itself was changed")
	}
}
