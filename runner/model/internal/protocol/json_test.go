package protocol

import (
	"math"
	"testing"

	"github.com/seed61713e19/capstan/runner/model/internal/jsontree"
)

func TestTokens(t *testing.T) {
	for raw, want := range map[string]int{
		`0`: 0, `12`: 12, `12.0`: 12, `1.2e1`: 12, `"12"`: 12, `9223372036854775807`: maxTokens, `9223372036854775808`: maxTokens, `1e400`: maxTokens, `1099511627777`: maxTokens,
		`-1`: -1, `-0.5`: -1, `12.5`: -1, `"12 tokens"`: -1, `""`: -1, `null`: -1, `true`: -1, `[]`: -1, `{}`: -1, `"NaN"`: -1, `-9223372036854775808`: -1, `-1e400`: -1,
	} {
		if n, ok := tokens(parsed(t, raw)); ok != (want >= 0) || ok && n != want {
			t.Errorf("%s: got %d, %t", raw, n, ok)
		}
	}
	for raw, want := range map[string]float64{`0`: 0, `0.25`: 0.25, `"0.25"`: 0.25, `1e400`: math.MaxFloat64, `-1`: -1, `"NaN"`: -1, `{}`: -1} {
		if usd, ok := number(parsed(t, raw)); ok != (want >= 0) || ok && usd != want {
			t.Errorf("%s: got %v, %t", raw, usd, ok)
		}
	}
}

func parsed(t *testing.T, text string) jsontree.Value {
	t.Helper()
	v, err := jsontree.Parse(t.Context(), []byte(text), jsontree.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return v
}
