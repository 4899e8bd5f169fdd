package jinja

import (
	"encoding/json"
	"testing"
)

// TestWideNumbers computes with numbers beyond 64 bits and beyond a float's own
// text, as CPython does. A number that the template only prints keeps its
// original text.
func TestWideNumbers(t *testing.T) {
	vars := map[string]any{
		"n": json.Number("12345678901234567890"), "m": json.Number("-12345678901234567890"), "one": json.Number("1.0"),
		"price": json.Number("1.10"), "e": json.Number("1e2"), "zero": json.Number("-0"), "tiny": json.Number("0.00001"),
		"over": json.Number("1e400"), "just": json.Number("1.00000000000000000001"), "max": 9223372036854775807,
	}
	vars["all"] = []any{vars["n"], vars["one"], vars["price"], vars["e"], vars["zero"], vars["over"]}
	for source, want := range map[string]string{
		"{{ n }} {{ one }} {{ price }} {{ e }} {{ zero }} {{ tiny }} {{ over }} {{ just }}":                                                               "12345678901234567890 1.0 1.10 1e2 -0 0.00001 1e400 1.00000000000000000001",
		"{{ all }} {{ all|tojson }} {{ all|join(' ') }}":                                                                                                  "[12345678901234567890, 1.0, 1.10, 1e2, -0, 1e400] [12345678901234567890, 1.0, 1.10, 1e2, -0, 1e400] 12345678901234567890 1.0 1.10 1e2 -0 1e400",
		"{{ {'k': price}|tojson }} {{ {n: 1}|tojson }}":                                                                                                   `{"k": 1.10} {"12345678901234567890": 1}`,
		"{{ n + 1 }} {{ n - n }} {{ -n }} {{ m|abs }}":                                                                                                    "12345678901234567891 0 -12345678901234567890 12345678901234567890",
		"{{ n * n }} {{ max + 1 }} {{ 2 ** 100 }}":                                                                                                        "152415787532388367501905199875019052100 9223372036854775808 1267650600228229401496703205376",
		"{{ n // 7 }} {{ n % 7 }} {{ m // 7 }} {{ m % 7 }} {{ n // -7 }} {{ n % -7 }}":                                                                    "1763668414462081127 1 -1763668414462081128 6 -1763668414462081128 -6",
		"{{ n / 10 }} {{ n + 0.5 }} {{ (2 ** 64) ** -1 }} {{ (-1) ** (2 ** 70) }}":                                                                        "1.2345678901234568e+18 1.2345678901234567e+19 5.421010862427522e-20 1",
		"{{ price + 1 }} {{ e * 2 }} {{ zero + 1 }} {{ -zero }} {{ one + 1 }}":                                                                            "2.1 200.0 1 0 2.0",
		"{{ n == 12345678901234567890 }} {{ n > max }} {{ m < 0 }} {{ n == n + 1 }} {{ n in all }} {{ 100 in all }}":                                      "True True True False True True",
		"{{ just > 1 }} {{ just == 1 }} {{ price == 1.1 }} {{ one == 1 }} {{ over > 1e308 }} {{ over == over }}":                                          "True False True True True True",
		"{{ 10 ** 23 == 1e23 }} {{ [n, 3, price, over, m]|sort }} {{ all|max }} {{ [1, one, 100, e]|unique|list }}":                                       "False [-12345678901234567890, 1.10, 3, 12345678901234567890, 1e400] 1e400 [1, 100]",
		"{{ n is integer }} {{ n is float }} {{ one is float }} {{ zero is integer }} {{ e is number }} {{ n is odd }}":                                   "True False True True True False",
		"{{ price|round(1) }} {{ n|round(-3) }} {{ m|round(-3) }} {{ price|int }} {{ n|int }} {{ n|float }} {{ e|int }} {{ '12345678901234567890'|int }}": "1.1 12345678901234568000 -12345678901234568000 1 12345678901234567890 1.2345678901234567e+19 100 12345678901234567890",
		"{{ '%d %s %.2f %x' % (n, price, price, n) }} {{ '{:,} {:.3f} {}'.format(n, e, one) }}":                                                           "12345678901234567890 1.10 1.10 ab54a98ceb1f0ad2 12,345,678,901,234,567,890 100.000 1.0",
		"{{ [n, 1]|sum }} {{ price|string ~ e }} {{ 1 if zero else 0 }} {{ 1 if n else 0 }} {{ one.is_integer() }}":                                       "12345678901234567891 1.101e2 0 1 True",
		"{{ {1: 'a'}[one] }} {{ {n: 'b'}[n] }} {{ {100: 'c'}[e] }} {{ [7, 8][zero] }}":                                                                    "a b c 7",
	} {
		if got, err := rendered(source, vars); err != nil || got != want {
			t.Errorf("%s\n got %s, %v\nwant %s", source, got, err, want)
		}
	}
	for _, source := range []string{"{{ over + 1 }}", "{{ over|float }}", "{{ over|round }}", "{{ 10 ** 400 / 3 }}", "{{ 10 ** 400 + 0.5 }}", "{{ '%.2f' % over }}"} {
		if got, err := rendered(source, vars); err == nil {
			t.Errorf("%s gives %s", source, got)
		}
	}
}
