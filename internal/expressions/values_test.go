package expressions

import (
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/validators"
)

// TestExpressionValues checks that a failure without a reason lists the values that caused it.
func TestExpressionValues(t *testing.T) {
	s := validators.Subject{
		Content: strings.Repeat("x", 312), Turn: 2, Tool: "write_file",
		Output: map[string]any{"title": "Owls", "n": 3, "ok": false, "list": []any{1, "b"}, "long": []any{1, 2, 3, 4, 5, 6}, "of": map[string]any{"a": 1}},
		Input:  map[string]any{"min": 5, "text": "say \"hi\"\n" + strings.Repeat("é", 100)},
		State:  map[string]any{}, Outputs: map[string]any{}, Locals: map[string]any{"item": "fig"},
	}
	for source, want := range map[string]string{
		"len(content) >= 500":                             "len(content) is 312",
		"500 <= len(content)":                             "len(content) is 312",
		"len(content) < 9 || turn == 3":                   "len(content) is 312, turn is 2",
		"turn == 2 && output.n > input.min && turn == 99": "output.n is 3, input.min is 5",
		"turn == 2 and (turn == 1 or not (output.n < 5))": "turn is 2, output.n is 3",
		"!(turn == 2 && output.n == 3)":                   "turn is 2, output.n is 3",
		"1 < output.n < 3":                                "output.n is 3",
		"output.title == 'Bats'":                          `output.title is "Owls"`,
		"output.title in ['Bats', 'Rats']":                `output.title is "Owls"`,
		"'z' in output.list":                              `output.list is [1, "b"]`,
		"'z' in output.long":                              `output.long is a list of 6`,
		"output.of == output.list":                        `output.of is an object of 1 keys, output.list is [1, "b"]`,
		"output.ok":                                       "output.ok is false",
		"output.none != nil":                              "output.none is nil",
		"tool matches '^read'":                            `tool is "write_file"`,
		"content contains 'owl'":                          `content is "` + strings.Repeat("x", 60) + `…" (312 characters)`,
		"input.text == ''":                                `input.text is "say \"hi\"\n` + strings.Repeat("é", 51) + `…" (109 characters)`,
		"all(output.long, # > 2)":                         "output.long is a list of 6",
		"let n = len(content); n > 400 && n < 500":        "n is 312",
		"let n = 3; turn == 2 && (let m = n + 1; m > 9)":  "m is 4",
		"turn == 2 ? output.n > 5 : turn > 9":             "turn is 2, output.n is 3",
		"hasPrefix(content, 'a')":                         `content is "` + strings.Repeat("x", 60) + `…" (312 characters)`,
		"item == 'pear'":                                  `item is "fig"`,
		"turn > 0 && output.n / 2 > 4.5":                  "output.n / 2 is 1.5",
	} {
		e, err := Parse(source, "item")
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		v, err := e.Check("")(t.Context(), s)
		if got, all := v.Reason, source+": "+want; v.Valid || err != nil || got != all {
			t.Errorf("got %v, %v, %s\nwant %s", v.Valid, err, got, all)
		}
		if v, _ := e.Check("mine")(t.Context(), s); v.Reason != "mine" {
			t.Errorf("%s: the author's reason became %q", source, v.Reason)
		}
	}
}

// TestExpressionValuesBounded checks that the explanation is limited. Long expressions, long
// texts and expensive parts end soon, and the result remains false.
func TestExpressionValuesBounded(t *testing.T) {
	long := validators.Subject{Content: strings.Repeat("owl ", 5<<20)}
	many := "turn == 0" + strings.Repeat(" && turn == 0", 300) + " && len(content) == 1"
	wide := "turn == 1" + strings.Repeat(" || turn == 1", 300)
	deep := strings.Repeat("not (", 100) + "turn == 1" + strings.Repeat(")", 100)
	for _, source := range []string{many, wide, deep, "len(content) == 3 || any(1..1000, # == 5000)", "false"} {
		e, err := Parse(source)
		if err != nil {
			t.Errorf("%.60s: %v", source, err)
			continue
		}
		v, err := e.Check("")(t.Context(), long)
		if v.Valid || err != nil || len(v.Reason) > len(source)+2000 {
			t.Errorf("%.60s: %v, %v", source, v.Valid, err)
		}
	}
}

func BenchmarkExpressionNo(b *testing.B) {
	for name, reason := range map[string]string{"reason": "too short", "values": ""} {
		b.Run(name, func(b *testing.B) {
			check, err := checkOf("len(content) >= 500", reason)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				check(b.Context(), validators.Subject{Content: "short"})
			}
		})
	}
}
