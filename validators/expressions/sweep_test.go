package expressions

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/compiler"
	"github.com/expr-lang/expr/vm"

	"github.com/seed61713e19/capstan/validators"
)

// outcome is all that can be told of an evaluation: what it gave or where it broke,
// what it paid, and how often it asked whether to go on.
func outcome(program *vm.Program, s validators.Subject, least, stops int) string {
	asked := 0
	saw, _ := (&Expression{}).scope(func() error {
		if asked++; asked > stops {
			return errors.New("stopped")
		}
		return nil
	}, s)
	saw.Meter.left, saw.Meter.next = least, max(least-askEvery, 0)
	v, err := vm.Run(program, saw)
	if err != nil {
		err = located(err)
	}
	return fmt.Sprintf("%#v, %v, %d left, asked %d times", v, err, saw.Meter.left, asked)
}

// bothWays compiles an expression with its sweeps and without. swept tells whether
// it has any.
func bothWays(source string) (with, without *vm.Program, swept bool, err error) {
	config := language()
	config.Expect = reflect.Invalid
	tree, err := parse(source, config)
	if err != nil {
		return nil, nil, false, err
	}
	if with, _, err = compiled(tree, config, nil); err != nil {
		return nil, nil, false, err
	}
	swept = strings.Contains(with.Disassemble(), "sweep ")
	config = language()
	config.Expect = reflect.Invalid
	tree, _ = parse(source, config)
	if _, err = paid(tree, config, nil); err != nil {
		return nil, nil, false, err
	}
	config.Expect = reflect.Invalid
	if _, err = checker.Check(tree, config); err != nil {
		return nil, nil, false, err
	}
	without, err = compiler.Compile(tree, config)
	return with, without, swept, err
}

var sweptQuestions = []string{
	`len(#) < 3`, `len(#) >= 3`, `3 > len(#)`, `len(#) == 5`, `len(#) != 0`, `len(#) <= 4`, `3 == 3`,
	`# == ""`, `# != "zebra"`, `"" != #`, `# == #`, `# contains "a"`, `"a word and words" contains #`, `# startsWith "# "`, `# endsWith "ß"`,
	`not (# contains "a")`, `!(# == "é")`, `# not contains "a"`, `# matches "^[a-z]+$"`, `# matches "TODO|b"`, `# not matches "(?i)A"`,
	`trim(#) == ""`, `len(trim(#)) > 2`, `lower(#) == #`, `upper(#) contains "A"`, `lower(trim(#)) startsWith "x"`, `true`, `false`,
	`# == "" or # startsWith "-" and len(#) < 9`, `len(#) > 0 && len(#) < 80 || # == "x"`, `# == "a text that is longer than thirty-two bytes"`,
	`# contains "a text that is longer than thirty-two bytes" or len(trim(#)) == 0`,
	`# != input.word`, `input.word == #`, `# contains input.word or len(#) > input.max`, `len(#) <= input.max`, `len(trim(#)) == input.max`,
	`content contains #`, `# startsWith input["word"]`, `lower(#) in input.banned`, `# not in input.banned and # != input.long`, `# in ["word", "", "ß"]`,
	`len(#) < 3 or # in ["a", "a text that is longer than thirty-two bytes"] or # == input.word`, `# in []`, `# in input.mixed`, `# in ["b", "c", "d", "e", "f", "g", "word", "h", "", "é"]`,
}

// asks are inputs that questions are asked with.
func asks(banned ...any) map[string]any {
	return map[string]any{
		"word": "a", "max": 3, "long": strings.Repeat("long ", 50), "banned": banned,
		"mixed": []any{"a", 1, nil, json.Number("2"), []any{"word"}, map[string]any{"é": 1}},
	}
}

// deep is a list in a list, and so on.
func deep(n int) any {
	var v any = "a"
	for range n {
		v = []any{v}
	}
	return v
}

// A sweep answers, pays and breaks off as the library's loop does. Of the long text some
// questions are asked once whether to go on, some are stopped, and of the budgets each
// ends somewhere within.
func TestSweeps(t *testing.T) {
	texts := []string{"", "a", "a\nword\n\n  \n# x\n- Grüße\n\xff\nß", strings.Repeat("word and é\n", 100)}
	lists := []string{`split(content, "\n")`, `split(content, "\n", 3)`, `split(content, "")`}
	for name := range sweeps {
		for _, list := range lists {
			for _, question := range sweptQuestions {
				for _, source := range []string{
					name + "(" + list + ", " + question + ")",
					"let l = " + list + ";\n[len(l),  " + name + "(l, " + question + ")]",
				} {
					with, without, swept, err := bothWays(source)
					if err != nil || !swept {
						t.Fatal(source, swept, err)
					}
					for _, text := range texts {
						for _, least := range []int{budget, 20, 1000} {
							s := validators.Subject{Content: text, Input: asks("word", "b")}
							if got, want := outcome(with, s, least, 1), outcome(without, s, least, 1); got != want {
								t.Fatalf("%s of %.20q with %d:\ngot  %.200s\nwant %.200s", source, text, least, got, want)
							}
						}
					}
				}
			}
		}
	}
}

// What is no plain question of a text, or not surely of one, is left to the library.
func TestNoSweeps(t *testing.T) {
	for _, source := range []string{
		`all(input.words, # != "x")`, `all(split(content, "\n"), # in input.words)`, `all(split(content, "\n"), any(split(#, " "), len(#) > 9) and # matches input.max)`,
		`let l = input.words; all(l, # contains "the" or len(#) > 3)`, `let l = [1, 2]; count(l, # > 1) == 1`, `let l = [nil, "a"]; filter(l, # == "a")`,
		`let l = "a"; all(split(l, l), # == l)`, `count(map(split(content, "\n"), len(#)), # > 3)`, `all(split(content, "\n"), true ? # == "a" : false)`,
		`let l = filter(split(content, "\n"), # != ""); all(l, len(#) > 3)`, `all(split(content, "\n"), trim(#, "a") == "" or len(#) in 3..9)`,
		`all(split(content, "\n"), # != input.word and len(#) < input.max)`, `all(split(content, "\n"), # not in input.banned)`, `any(split(content, "\n"), # == input.none.more)`,
		`all(split(content, ""), # != input.none.more)`, `let l = input.none; all(l, # != input.word)`, `let l = input.max; count(l, # in input.banned)`, `any(split(content, "\n"), # in [input.word, "b"])`,
		`all(split(content, "\n"), # == "a" or # == input.none.more)`, `let w = input.word; all(split(content, " "), # != w)`, `any(split(content, "\n"), len(#) == turn or len(#) < attempt)`,
		`all(split(content, "\n"), any(split(#, ""), # in input.banned or # in ["b", "c"]) or # == input.word)`, `let l = ["a"]; all(split(content, " "), let x = #; x in l and # in l)`,
		`count(split("a b", " "), # == "a") + count(split(content, ""), true) * 2`, `all(split(content, "\n"), all(split(#, ""), # != "x"))`,
	} {
		with, without, _, err := bothWays(source)
		if err != nil {
			t.Fatal(source, err)
		}
		for i, s := range []validators.Subject{
			sample(), {Content: "a\nb", Input: map[string]any{"word": 1, "words": "a b", "max": json.Number("1.5"), "banned": "a"}},
			{Content: "a", Input: asks(deep(20_000))}, {Input: asks("a")},
		} {
			if got, want := outcome(with, s, budget, 9), outcome(without, s, budget, 9); got != want {
				t.Errorf("%s of subject %d:\ngot  %s\nwant %s", source, i, got, want)
			}
		}
	}
}

func FuzzSweeps(f *testing.F) {
	for i, question := range sweptQuestions {
		f.Add([]string{"all", "any", "none", "one", "count", "filter"}[i%6]+`(split(content, "\n"), `+question+")", "a\nword\n\nGrüße", 1000)
	}
	f.Fuzz(func(t *testing.T, source, content string, least int) {
		with, without, _, err := bothWays(source)
		if err != nil {
			return
		}
		s := sample()
		s.Input = asks("word", "b")
		s.Content, least = content, min(max(least, 0), 1_000_000)
		if got, want := outcome(with, s, least, 2), outcome(without, s, least, 2); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", source, got, want)
		}
	})
}
