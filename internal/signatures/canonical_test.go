package signatures_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/signatures"
)

func TestCanonical(t *testing.T) {
	for want, v := range map[string]any{
		`{"a":1,"b":[true,null,"\n\u0001\"\\</é"]}`: map[string]any{"b": []any{true, nil, "\n\x01\"\\</é"}, "a": 1.0},
		`[0,15,0.1,1e-7,9007199254740992]`:          []any{math.Copysign(0, -1), json.Number("15.00"), 0.1, 1e-7, 1 << 53},
		// U+1F600 sorts before U+FB33 by UTF-16 code units, and after U+FB33 by UTF-8.
		"{\"\u20ac\":1,\"\U0001F600\":2,\"\ufb33\":3}": map[string]any{"\ufb33": 3, "\U0001F600": 2, "\u20ac": 1},
	} {
		if got, err := signatures.Canonical(v); err != nil || string(got) != want {
			t.Errorf("%s, %v; want %s", got, err, want)
		}
	}
	for _, v := range []any{
		math.NaN(), math.Inf(1), 1e300, float64(1 << 53), 1<<53 + 1, -(1<<53 + 1), int64(math.MaxInt64), "\xff", map[string]any{"\xff": 1}, []any{map[string]any{"a": 1<<53 + 1}},
		json.Number("9007199254740993"), json.Number("9007199254740993.0"), json.Number("1e400"), json.Number("123456789012345678901"), json.Number(""), struct{}{}, []string{"x"},
	} {
		if got, err := signatures.Canonical(v); err == nil || len(err.Error()) > 300 {
			t.Errorf("%v gives %s, %v", v, got, err)
		}
	}
	if err := signatures.UnambiguousNumber(strings.Repeat("1", 1000)); err == nil || len(err.Error()) > 300 {
		t.Error(err)
	}
}
