package openai

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

// rebuilt reads JSON by walking it, as far as walking goes.
func rebuilt(raw []byte) any {
	switch raw = bytes.TrimSpace(raw); raw[0] {
	case '{':
		object := map[string]any{}
		for name, value := range members(raw) {
			object[string(name)] = rebuilt(value)
		}
		return object
	case '[':
		list := []any{}
		for _, value := range elements(raw) {
			list = append(list, rebuilt(value))
		}
		return list
	case '"':
		said, _ := text(raw)
		return said
	}
	var v any
	_ = json.Unmarshal(raw, &v)
	return v
}

// Walking JSON finds what encoding/json finds.
func FuzzWalk(f *testing.F) {
	for _, text := range []string{
		`{}`, `[]`, ` { "a" : [ 1 , -2.5e3 , "x\"]}\\" , null , { } , [ ] ] , "b":{"c":"\u0041\ud83d\ude00"} } `, `"\\"`, `1`, `null`, `[[[]]]`, `{"":""}`,
		"{\"a\xff\":\"\xff\"}", "{\"\":{\"\xb2\xb2\":0}}", `{"a":1,"a":{"b":2}}`, `["",""]`, "[\"\u2028\"]",
		`"\ud800"`, `"\ud800\u0041"`, ` 01`, `-`, `1e400`, "\ufeff{}", `nul`, `{} {}`, ``, `"\u00g0"`, "\"\x00\"", `[1,]`, `"\/\b"`, `.5`,
		strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000), strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001),
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if got := valid(raw); got != json.Valid(raw) {
			t.Fatalf("%q: valid is %v", raw, got)
		}
		var want any
		if !json.Valid(raw) || json.Unmarshal(raw, &want) != nil {
			return
		}
		if got := rebuilt(raw); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %v, want %v", raw, got, want)
		}
	})
}

func TestCount(t *testing.T) {
	for raw, want := range map[string]int{
		`0`: 0, `12`: 12, `12.0`: 12, `1.2e1`: 12, `"12"`: 12, `9223372036854775807`: most, `9223372036854775808`: most, `1e400`: most, `1099511627777`: most,
		`-1`: -1, `-0.5`: -1, `12.5`: -1, `"12 tokens"`: -1, `""`: -1, `null`: -1, `true`: -1, `[]`: -1, `{}`: -1, `"NaN"`: -1, `-9223372036854775808`: -1, `-1e400`: -1,
	} {
		if n, ok := count([]byte(raw)); ok != (want >= 0) || ok && n != want {
			t.Errorf("%s: got %d, %t", raw, n, ok)
		}
	}
	for raw, want := range map[string]float64{`0`: 0, `0.25`: 0.25, `"0.25"`: 0.25, `1e400`: math.MaxFloat64, `-1`: -1, `"NaN"`: -1, `{}`: -1} {
		if usd, ok := number([]byte(raw)); ok != (want >= 0) || ok && usd != want {
			t.Errorf("%s: got %v, %t", raw, usd, ok)
		}
	}
}

// A list of millions costs nothing beside its text.
func TestListsCostNothing(t *testing.T) {
	text := append(bytes.Repeat([]byte("{},"), 1<<18), "{}]"...)
	for _, start := range []string{`{"choices":[`, `{"choices":[{"message":{"content":[`, `{"choices":[{"message":{"tool_calls":[`} {
		raw := append([]byte(start), text...)
		for range bytes.Count([]byte(start), []byte("{")) {
			raw = append(raw, '}')
		}
		raw = bytes.ReplaceAll(raw, []byte("]}}}"), []byte("]}}]}"))
		if !json.Valid(raw) {
			t.Fatalf("%s is no JSON", start)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		a := assembly{whole: true}
		if _, err := a.take(raw); err != nil {
			t.Fatal(err)
		}
		a.draft()
		runtime.ReadMemStats(&after)
		allocated := after.TotalAlloc - before.TotalAlloc
		if most := uint64(8 << 20); allocated > most {
			t.Errorf("%s: %d bytes for %d", start, allocated, len(raw))
		}
	}
}
