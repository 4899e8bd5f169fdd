package expressions

import (
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/schema"
)

// wide is an output whose numbers neither int nor float64 has room for.
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
		`-2 - output.max < 0`, `sum(output.many) > 0`, `sum([output], .n) > 0`, `max(output.list) > 0`, `max(output.floats) > 0`, `len(output.price) == 4`,
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
