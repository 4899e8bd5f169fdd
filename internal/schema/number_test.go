package schema

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
)

// spellings are numbers that a float64, or the encoding of Go, would change.
var spellings = []string{
	"0", "-0", "-0.0", "0.0", "1", "1.0", "1.10", "0.1000", "1e2", "1E+2", "1e-7", "0.0000001", "100000000000000000000", "1e21", "1e400",
	"-1e-400", "12345678901234567890", "-12345678901234567890", "9007199254740993", "9007199254740993.0", "9223372036854775807",
	"9223372036854775808", "3.141592653589793238462643383279", "0.1", "1234.5", "1e10000", "12345678901234567.5", strings.Repeat("7", 4000),
}

func TestNumbersEncodeAsTheyWereWritten(t *testing.T) {
	for _, text := range spellings {
		for _, document := range []string{text, `{"n":[` + text + `]}`} {
			v, err := Parse([]byte(document))
			if err != nil {
				t.Errorf("%s: %v", document, err)
				continue
			}
			again, err := Plain(v)
			out, wrong := json.Marshal(again)
			if err != nil || wrong != nil || string(out) != document {
				t.Errorf("%s became %s, %v, %v", document, out, err, wrong)
			}
		}
	}
}

func TestUnmarshalKeepsNumbers(t *testing.T) {
	type inner struct{ Any any }
	for _, text := range spellings {
		var into struct {
			Any     any
			Object  map[string]any
			Structs map[string]inner
			List    []inner
			Pointer *inner
			Raw     json.RawMessage
		}
		document := `{"Any":[` + text + `],"Object":{"a":` + text + `},"Structs":{"a":{"Any":` + text + `}},"List":[{"Any":{"b":` + text +
			`}}],"Pointer":{"Any":` + text + `},"Raw":` + text + `}`
		err := Unmarshal([]byte(document), &into)
		out, wrong := json.Marshal(into)
		if err != nil || wrong != nil || string(out) != document {
			t.Errorf("%s became %s, %v, %v", document, out, err, wrong)
		}
		if text == "12" && into.Object["a"] != 12 {
			t.Errorf("got %#v", into.Object["a"])
		}
	}
}

func TestPlainIsWhatEncodes(t *testing.T) {
	for f, want := range map[float64]string{5: "5", -3: "-3", 0: "0", 1e20: "100000000000000000000", 1e21: "1e+21", 1e-7: "1e-7", 0.5: "0.5"} {
		for _, v := range []any{f, []any{f}} {
			made, err := Plain(v)
			out, _ := json.Marshal(made)
			if err != nil || strings.Trim(string(out), "[]") != want {
				t.Errorf("%v: got %s, %v, want %s", v, out, err, want)
			}
		}
	}
	for _, f := range []float64{math.NaN(), math.Inf(1)} {
		if made, err := Plain(f); err == nil {
			t.Errorf("%v became %v", f, made)
		}
	}
}

func TestCompare(t *testing.T) {
	ordered := []any{ // in ascending order
		json.Number("-1e400"), math.MinInt64, json.Number("-1.00000000000000000001"), -1, json.Number("-1e-9999"), json.Number("-0"),
		json.Number("1e-9999"), 0.1, json.Number("0.10000000000000000001"), 1, json.Number("1.00000000000000000001"), 9007199254740992,
		9007199254740993, math.MaxInt64, json.Number("9223372036854775808"), json.Number("12345678901234567890"), json.Number("12345678901234567890.5"),
		1e300, json.Number("1e400"), json.Number("1e401"),
	}
	for i, a := range ordered {
		for j, b := range ordered {
			order, ok := Compare(a, b)
			if want := map[bool]int{i < j: -1, i == j: 0, i > j: 1}[true]; !ok || order != want {
				t.Errorf("%v and %v: got %d, %v, want %d", a, b, order, ok, want)
			}
		}
	}
	for _, same := range [][]any{
		{1, 1.0, json.Number("1.0"), json.Number("1e0"), json.Number("10E-1")}, {0, json.Number("-0"), json.Number("0e5"), 0.0},
		{0.1, json.Number("0.10"), json.Number("1e-1")}, {1e21, json.Number("1000000000000000000000")},
	} {
		for _, v := range same {
			a, _ := Digits(v)
			b, _ := Digits(same[0])
			if order, ok := Compare(v, same[0]); order != 0 || !ok || a != b {
				t.Errorf("%v and %v: %d, %v; %s, %s", v, same[0], order, ok, a, b)
			}
		}
	}
	for _, none := range []any{nil, "1", true, math.NaN(), math.Inf(1), json.Number("1e99999"), json.Number("0x10"), []any{}} {
		if _, ok := Compare(none, 1); ok {
			t.Errorf("%v has an order", none)
		}
	}
}

func TestDecodeTakesWholeNumbersForIntegers(t *testing.T) {
	type params struct {
		N   int
		Any any
	}
	for text, want := range map[string]int{"5": 5, "5.0": 5, "5e0": 5, "50e-1": 5, "-0": 0, "1e2": 100} {
		v, _ := Parse([]byte(`{"N":` + text + `,"Any":12345678901234567890}`))
		p, err := Decode[params](v)
		if err != nil || p.N != want || p.Any != json.Number("12345678901234567890") {
			t.Errorf("%s: got %+v, %v", text, p, err)
		}
	}
	for _, text := range []string{"5.5", "12345678901234567890", "1e400", "1e-400"} {
		v, _ := Parse([]byte(`{"N":` + text + `}`))
		if p, err := Decode[params](v); err == nil {
			t.Errorf("%s: got %+v", text, p)
		}
	}
}

func TestNumbersPassTheirSchema(t *testing.T) {
	s := compile(t, `{"type": "object", "properties": {"n": {"type": "number", "minimum": -1e9999}}}`)
	for _, text := range spellings {
		v, err := Parse([]byte(`{"n": ` + text + `}`))
		if broken := check(t, s, v); err != nil || len(broken) > 0 {
			t.Errorf("%.40s: %v %v", text, broken, err)
		}
	}
	whole := compile(t, `{"type": "integer", "maximum": 12345678901234567889}`)
	for text, valid := range map[string]bool{"1.0": true, "1e2": true, "1.5": false, "12345678901234567889": true, "12345678901234567890": false} {
		v, _ := Parse([]byte(text))
		if broken := check(t, whole, v); (len(broken) == 0) != valid {
			t.Errorf("%s: %v", text, broken)
		}
	}
}
