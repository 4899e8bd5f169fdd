package expressions

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/validators"
)

// wide is an output with numbers that neither int nor float64 can represent.
const wide = `{"n": 12345678901234567890, "same": 1.234567890123456789e19, "next": 12345678901234567891, "big": 9007199254740993,
	"max": 9223372036854775807, "price": 1.10, "one": 1.0, "just": 1.00000000000000000001, "e": 1e2, "zero": -0, "over": 1e400,
	"list": [12345678901234567890, 1.0, 1e2], "floats": [9007199254740992.0, 9007199254740993], "text": "1.10", "many": [9223372036854775807, 1]}`

func TestExpressionNumbers(t *testing.T) {
	output, err := schema.Parse([]byte(wide))
	if err != nil {
		t.Fatal(err)
	}
	s := validators.Subject{Output: output, State: map[string]any{"copy": output}, Turn: 1}
	for _, source := range []string{
		`output.n == output.same`, `output.n != output.next`, `output.n < output.next`, `output.next >= output.n`, `output.n > output.max`,
		`output.n > 1e19`, `output.n < 1.3e19`, `not (output.n == 12345678901234567000.0)`, `output.big != 9007199254740992.0`, `output.big > 9007199254740992`,
		`output.n == fromJSON("12345678901234567890")`, `output.price < 1_0.5e1`, `output.price >= .5 and output.n > 1.5E3`, `output.just > 1`, `output.just != 1`, `output.just != output.one`, `not (output.just <= 1)`, `output.over > output.n`, `output.over == output.over`,
		`output.price == 1.1`, `output.price * 2 == 2.2`, `output.one == 1`, `output.one + turn == 2`, `output.e == 100`, `output.zero == 0`, `-output.price < 0`,
		`output.n in output.list`, `100 in output.list`, `output.one in [1]`, `output.n not in [1, 2]`, `output.e in 1..100`, `output.n not in 1..3`,
		`output.list == [output.n, 1, 100]`, `{"a": output.n} == {"a": output.same}`, `output == state.copy`, `any(output.list, # == output.n)`,
		`string(output.price) == "1.10"`, `output.text != output.price`, `toJSON(output.list) == "[12345678901234567890,1.0,1e2]"`,
		`len(uniq([output.n, output.same, output.next, output.big, 9007199254740992])) == 4`, `len(uniq([1, output.one, 1.0])) == 1`,
		`int(output.one) == 1`, `float(output.e) == 100`, `abs(output.zero) == 0`, `round(output.price) == 1`, `type(output.one) == "float"`,
		`type(output.zero) == "int"`, `max(output.one, output.e) == 100`, `min(output.price, 2) == 1.1`, `mean([output.one, 3]) == 2`,
		`max(output.list) == output.n`, `max(output.floats) == 9007199254740993`, `min(output.over, output.n) == output.n`,
		`sum([output.price, output.one]) == 2.1`, `sum([output], .e) == 100`, `sum([output.big, 1]) == 9007199254740994`, `sum([]) == 0`,
		`turn * 4611686018427387903 + 4611686018427387904 == 9223372036854775807`, `turn * -4611686018427387904 - 4611686018427387904 + 9223372036854775807 == -1`, `turn * 2147483648 * 2147483648 == 4611686018427387904`,
		`findLast([1, 2, 3], # < 3) == 2`, `[findLast([5], true), 7] == [5, 7]`, `findLastIndex([1, 2, 3, 4], # < 3) == 1`, `findLastIndex([1], # > 3) == nil`,
		`all([3, 1], findLastIndex([1, 2, 3], # < 3) == 1)`, `findLast([[1, 2], [3]], findLast(#, # < 3) == 2) == [1, 2]`,
	} {
		e, err := Parse(source)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if got, err := e.Eval(s); !got || err != nil {
			t.Errorf("%s: %v, %v", source, got, err)
		}
	}
	for _, source := range []string{`output.n > 12345678901234567889`, `output.big == 9007199254740993.0`, `output.just == 1.00000000000000000001`} {
		if _, err := Parse(source); err == nil {
			t.Errorf("%s is read", source)
		}
	}
	for _, source := range []string{
		`output.n + 1 > 0`, `output.n * 2 > 1`, `-output.n < 0`, `output.over / 2 > 1`, `int(output.n) > 0`, `output.max + 1 > 0`, `output.max * 2 > 0`,
		`turn * 4611686018427387904 + 4611686018427387904 > 0`, `turn * -4611686018427387905 - 4611686018427387904 < 0`, `turn * 4294967296 * 2147483648 > 0`,
		`-2 - output.max < 0`, `sum(output.many) > 0`, `sum([output], .n) > 0`, `mean(output.floats) > 0`, `len(output.price) == 4`,
		`output.price contains "1"`, `output.text < output.price`, `output.n ? true : false`,
	} {
		e, err := Parse(source)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		got, err := e.Eval(s)
		if err == nil || got {
			t.Errorf("%s: %v, want an error", source, got)
		} else if strings.Contains(err.Error(), "validators.") {
			t.Errorf("%s: %v", source, err)
		}
	}
}

// TestExpressionNumbersNotExact checks calculations without an exact or finite
// result. The condition and its negation are both errors.
func TestExpressionNumbersNotExact(t *testing.T) {
	output, err := schema.Parse([]byte(wide))
	if err != nil {
		t.Fatal(err)
	}
	s := validators.Subject{Output: output, Turn: 1, State: map[string]any{
		"nan": math.NaN(), "inf": math.Inf(1), "list": []any{math.NaN(), 1}, "min": math.MinInt64, "huge": 1e308, "i": 1.5, "three": []any{1, 2, 3}, "none": []any{},
	}}
	for _, value := range []string{
		`1 / 0`, `1.5 / 0.0`, `0 / 0`, `turn / (turn - 1)`, `turn % (turn - 1)`, `-1 / 0`, `1 / -0.0`,
		`state.huge * 10`, `state.huge + state.huge`, `-state.huge - state.huge`, `state.huge / 0.001`, `sum([state.huge, state.huge])`, `sum([1, 2], state.huge)`,
		`mean([state.huge, state.huge])`, `median([state.huge, state.huge])`,
		`10 ** 400`, `2 ** 1024`, `10.0 ^ 309`, `0 ** -1`, `(-8) ** (1 / 3)`, `3 ** 41`, `2 ** 64`, `(-3) ** 41`, `9007199254740993 ** 0.5`,
		`abs(state.min)`, `-state.min`, `0 - state.min`, `state.min * -1`, `state.min - 1`,
		`int(1e30)`, `int(-1e30)`, `int(9.3e18)`, `int("9223372036854775808")`, `int("1.5")`, `int(output.over)`, `int(output.just)`,
		`float("inf")`, `float("NaN")`, `float("1e999")`, `float("-Infinity")`, `float("9007199254740993")`, `float("+9007199254740993.")`, `float("0x1p-2")`,
		`float("1e-999999999")`, `float("")`, `float("-")`, `float(".")`, `float("e5")`, `float(".e5")`, `float("+")`, `float("00.10000000000000000001")`, `float(9007199254740993)`, `float(4611686018427387904)`, `float(output.just)`,
		`9007199254740993 / 1`, `9007199254740993 + 0.5`, `0.5 - 9007199254740993`, `9007199254740993 * 1.0`, `1.0 / 9007199254740993`,
		`mean([9007199254740993])`, `mean([9007199254740992, 9007199254740993])`, `median([9007199254740992, 9007199254740993])`, `mean([])`, `median([])`, `mean(state.none)`,
		`output.just + 0`, `-output.just`, `output.just * 1`, `sum([output.just])`, `round(output.just)`, `abs(output.just)`, `ceil(output.n)`, `floor(output.over)`,
		`state.nan`, `state.inf`, `state.nan + 1`, `abs(state.nan)`, `max(state.nan, 1)`, `min(state.list)`, `round(state.inf)`, `int(state.inf)`, `mean(state.list)`, `sum(state.list)`,
		`len(1..9223372036854775807)`, `len(-9223372036854775807..9223372036854775807)`, `sum(1..2.5)`, `len(1..state.i)`, `len(1..output.n)`,
		`state.three[state.i]`, `state.three[1.5]`, `[1, 2, 3][state.i]`, `state?.three?.[state.i]`, `get(state.three, state.i)`, `len(state.three[state.i:])`, `len([1, 2, 3][:state.i])`, `state.three[int(1e30)]`,
	} {
		for _, source := range []string{value + ` > 0`, `not (` + value + ` > 0)`, value + ` == 1`, value + ` != 1`} {
			e, err := Parse(source)
			if err == nil {
				_, err = e.Eval(s)
			}
			if at := (*Error)(nil); !errors.As(err, &at) {
				t.Errorf("%s: got %v, want an error", source, err)
			}
		}
	}
	for _, source := range []string{`state.nan == state.nan`, `state.nan in [1, 2]`, `state.list == [1, 1]`, `[state.inf] != [1]`, `{"a": state.nan} == {"a": 1}`, `state.inf in state.list`} {
		if got, err := mustParse(t, source).Eval(s); err == nil {
			t.Errorf("%s: got %v, want an error", source, got)
		}
	}
	for _, source := range []string{
		`7 / 2 == 3.5`, `2 ** 10 == 1024`, `3 ** 39 == 4052555153018976267`, `10 ** 23 == 1e23`, `2 ** -1 == 0.5`, `4 ** 0.5 == 2`, `(-2) ^ 63 == state.min`,
		`(-1) ** 9223372036854775807 == -1`, `0 ** 0 == 1`, `1 ** 9223372036854775807 == 1`, `7 % 3 == 1`, `-7 % 3 == -1`, `state.min % -1 == 0`, `abs(-3) == 3`, `abs(-2.5) == 2.5`, `abs(-output.price) == 1.1`,
		`round(9007199254740993) == 9007199254740993`, `ceil(1.2) == 2`, `floor(-1.2) == -2`, `round(2.5) == 3`, `int(2.9) == 2`, `int(-2.9) == -2`, `int("007") == 7`, `int(output.e) == 100`,
		`int(9.223372036854775e18) == 9223372036854775000`, `float("+05.50") == 5.5`, `float(".5") == 0.5`, `float("-5.") == -5`, `float("1e3") == 1000`, `float("5.e1") == 50`, `float("0") == 0`, `float(9007199254740994) == 9007199254740994`,
		`mean([1, 2]) == 1.5`, `mean(1, [2, [3.5, 1..3]]) == 12.5 / 6`, `median([3, 1, 2]) == 2`, `median(4, [1, 2, 3]) == 2.5`, `max([]) == nil`, `max(1..3, 2.5) == 3`, `type(output.just) == "float"`, `type(output.n) == "int"`, `type("a") == "string"`,
		`len(1..3) == 3`, `state.three[output.one] == 2`, `get(state.three, output.one) == 2`, `state.three[output.one:] == [2, 3]`, `sum(1..output.e) == 5050`, `output["one"] == 1`, `get(output, "one") == 1`, `[1, 2, 3][state.three[0]] == 2`, `state?.three?.[1] == 2`,
	} {
		if got, err := mustParse(t, source).Eval(s); !got || err != nil {
			t.Errorf("%s: %v, %v", source, got, err)
		}
	}
}

func mustParse(t *testing.T, source string) *Expression {
	t.Helper()
	e, err := Parse(source)
	if err != nil {
		t.Fatalf("%s: %v", source, err)
	}
	return e
}
