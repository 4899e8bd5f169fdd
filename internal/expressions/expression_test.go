package expressions

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/internal/processor"
	"github.com/seed61713e19/capstan/validators"
)

func sample() validators.Subject {
	return validators.Subject{
		Content: "Grüße\nfrom the harbour",
		Output:  map[string]any{"title": "Harbour", "score": 4, "items": []any{map[string]any{"id": 1}, map[string]any{"id": 2}}},
		Input:   map[string]any{"topic": "harbour", "max": 30, "words": []any{"from", "the"}},
		State:   map[string]any{"done": true},
		Outputs: map[string]any{"outline": "one"},
		Turn:    1, Attempt: 2,
	}
}

func eval(t *testing.T, source string, s validators.Subject) (bool, error) {
	t.Helper()
	e, err := Parse(source)
	if err != nil {
		t.Fatalf("%s: %v", source, err)
	}
	return e.Eval(s)
}

func TestExpressionTrue(t *testing.T) {
	for _, source := range []string{
		`len(content) == 22`, // characters, not bytes
		`len("日本") == 2`,
		`content contains "harbour" and not (content contains "ship")`,
		`content startsWith "Grüße"`, `content endsWith "harbour"`,
		`content matches "(?i)HARB"`, `content matches input.topic`, `(input.none matches "x") == false`,
		`outputs.outline != ''`, `not (outputs.none != '')`, `outputs.none == ''`, `'' == input["none"]`, `output?.none == ""`, `(input.none?.deeper) == ''`,
		`outputs.none != 'x'`, `not (outputs.none == 'x')`, `outputs.none == nil`, `output.score != ''`, `not (output.items == '')`, `content != ''`,
		`all([nil, ""], # == '')`, `outputs.none in [nil]`,
		`input.missing == nil`, `input.missing?.deeper == nil`, `(input.missing ?? 3) == 3`, `input["topic"] == "harbour"`,
		`output.score > 3 && output.score <= 4.5`, `output.score in [3, 4]`, `"title" in output`, `"x" not in output`,
		`all(output.items, .id > 0)`, `any(output.items, #.id == 2)`, `one(output.items, .id == 1)`, `none(output.items, .id == 9)`,
		`count(output.items, .id > 1) == 1`, `count([true, false]) == 1`, `sum([1, 2.5]) == 3.5`, `sum(output.items, .id) == 3`,
		`find(output.items, .id == 2).id == 2`, `findIndex(output.items, .id == 2) == 1`, `findLast(output.items, true).id == 2`, `findLastIndex(output.items, .id < 2) == 0`,
		`map(output.items, .id) == [1, 2]`, `len(filter(1..10, # % 2 == 0)) == 5`, `filter([5, 6], # > 5) == [6]`,
		`min(3, 1, 2) == 1`, `max([1, 5]) == 5`, `mean([1, 3]) == 2`, `median([3, 1, 2]) == 2`, `abs(-2) == 2`, `round(1.5) == 2`, `floor(1.5) == 1`, `ceil(1.2) == 2`,
		`int("12") == 12`, `float("1.5") == 1.5`, `string(12) == "12"`, `type(input) == "map"`,
		`lower("ÄB") == "äb"`, `upper("äb") == "ÄB"`, `trim("  a ") == "a"`, `trim("xax", "x") == "a"`,
		`split(content, "\n")[0] == "Grüße"`, `split("a,b,c", ",", 2) == ["a", "b,c"]`, `join(["a", "b"], "-") == "a-b"`, `join(split("a b", " ")) == "ab"`,
		`replace("aaa", "a", "b") == "bbb"`, `replace("aaa", "a", "b", 1) == "baa"`, `indexOf("abc", "c") == 2`, `lastIndexOf("aba", "a") == 2`, `hasPrefix("abc", "a")`, `hasSuffix("abc", "c")`,
		`first([1, 2]) == 1`, `last([1, 2]) == 2`, `first([]) == nil`, `get(input, "max") == 30`, `take([1, 2, 3], 2) == [1, 2]`, `[1, 2, 3][-1] == 3`, `[1, 2, 3][1:] == [2, 3]`, `content[0:3] == "Gr\u00fc"[0:3]`,
		`"ééélo"[0:3] == "ééé"`, `let s = "ééélo"; s[len(s)-1:] == "o"`, `"ééélo"[-3:-1] == "él"`, `"ééélo"[-9:9] == "ééélo"`, `"ééélo"[3:1] == ""`, `"ééélo"[9:] == ""`, `""[:] == ""`, `"a\xffb"[1:] == "\xffb"`,
		`let s = "ééélo"; s[indexOf(s, "l"):] == "lo"`, `lastIndexOf("ééélé", "é") == 4`, `indexOf("ééé", "x") == -1`, `indexOf("é", "") == 0`, `content[indexOf(content, "ße"):][:2] == "ße"`,
		`output.title[0:2] == "Gr" || true`, `fromJSON('"éa"')[0] == "é"`, `fromJSON('"éa"')[-2] == "é"`, `fromJSON('"éa"')[1:] == "a"`, `fromJSON('["é", 1]')[1:] == [1]`, `fromJSON('["é", 1]')[-1] == 1`,
		`(input.missing?.deeper ?? "éx")[0:1] == "é"`, `[1, (input.missing?.[0] ?? 2), 3] == [1, 2, 3]`, `all(["éa", "éb"], #[0:1] == "é" && #[1:] in ["a", "b"])`,
		`all(split("éa|éb", "|"), #[0:1] == "é" && indexOf(#, "é") == 0 && len(#[1:]) == 1)`,
		`keys({"b": 1, "a": 2}) == ["a", "b"]`, `values({"b": 1, "a": 2}) == [2, 1]`, `uniq([1, 1.0, "1", nil, nil]) == [1, "1", nil]`,
		`len(uniq(map(output.items, .id))) == len(output.items)`,
		`toJSON({"b": [1, "<"], "a": nil}) == '{"a":null,"b":[1,"<"]}'`, `fromJSON('{"a": [1]}').a[0] == 1`,
		`content | lower() | split("\n") | len() == 2`, `let n = len(content); n > 3 && n < 30`, `if turn == 1 { attempt == 2 } else { false }`,
		`turn + attempt == 3`, `state.done`, `not (1 > 2) ? true : false`, `1 < 2 < 3`, `2 ** 3 == 8 and 7 % 4 == 3`, `"a" + "b" == "ab"`, `5 in 1..10`, `::len("ab") == 2`,
	} {
		if ok, err := eval(t, source, sample()); err != nil || !ok {
			t.Errorf("%s: got %v, %v", source, ok, err)
		}
	}
}

func TestExpressionRefused(t *testing.T) {
	for source, want := range map[string]string{
		``:                             "1:1: the expression ends here",
		`len(content) >`:               "1:14: the expression ends here",
		"turn == 1 &&\n  contnt != ''": "2:3: unknown name contnt",
		`len(content)`:                 "expected bool, but got int",
		`content`:                      "expected bool",
		`content > 5`:                  "1:9: invalid operation: > (mismatched types string and int)",
		"content == 'a\nb'":            `1:14: the text in quotes does not end on its line: a line's end in it is written \n, which is \\n in`,
		`content == "a`:                "1:14: the text in quotes does not end",
		`'x' in content`:               "1:5: in looks for an element of a list: write content contains 'x'",
		`len(turn) > 1`:                "invalid argument for len (type int)",
		`input(1)`:                     "is not callable",
		`content matches "("`:          "missing closing )",
		`now() != nil`:                 "1:1: now is not available in expressions",
		`true && repeat("a", 9) != ""`: "1:9: repeat is not available in expressions",
		`groupBy([1], #) == nil`:       "groupBy is not available",
		`reduce([1], # + #acc) > 1`:    "reduce is not available",
		`$env.content == ""`:           "$env is not available",
		`$env["content"] == ""`:        "$env is not available",
		`len($env) > 0`:                "$env is not available",
		`input.now() == 1`:             "only the functions of the language can be called",
		`input["now"]() == 1`:          "1:13: unexpected token",
		`output?.f(1) == 1`:            "only the functions of the language can be called",
		`nosuch(1)`:                    "unknown name nosuch",
		`::split("a", "b") == []`:      "split is not available",
		`split(1, "a") == []`:          "argument 1 of split must be a string, not int",
		`join() == ""`:                 "join takes 1 to 2 arguments, not 0",
		`keys(input, 1) == []`:         "keys takes 1 arguments, not 2",
		`let content = 1; true`:        "cannot redeclare",
		`true; 1`:                      "expected bool",
	} {
		_, err := Parse(source)
		var at *Error
		if !errors.As(err, &at) {
			t.Errorf("%s: got %v", source, err)
			continue
		}
		text := strings.NewReplacer("expression: line ", "", ", column ", ":").Replace(err.Error())
		if !strings.Contains(text, want) {
			t.Errorf("%s: got %s, want %s", source, text, want)
		}
	}
}

func TestExpressionBreaks(t *testing.T) {
	for source, want := range map[string]string{
		`input.missing.deeper == 1`:                  "line 1, column 15: cannot fetch deeper from nil",
		`input.missing > 3`:                          "nil",
		`input.topic`:                                "the result must be true or false, not a string",
		`input.missing`:                              "not nil",
		`input.topic && true`:                        "got string, want bool",
		`1 % (turn - 1) == 0`:                        "division by zero",
		`output.items[7] == nil`:                     "index out of range",
		`int(content) == 1`:                          "int takes a text of digits",
		`fromJSON('"éa"')[2] == "x"`:                 "index out of range",
		`fromJSON('"éa"')[-3] == "x"`:                "index out of range",
		`fromJSON('1')[0:1] == "x"`:                  "cannot slice",
		`fromJSON('"é"')["a"] == "x"`:                "",
		`join([1, 2]) == ""`:                         "join takes strings, not a whole number",
		`keys(output.items) == []`:                   "want a map, not a list",
		`uniq([[1]]) == []`:                          "uniq takes numbers",
		`content matches output.pat + "("`:           "",
		`content matches string("(")`:                "missing closing )",
		`input.max matches "3"`:                      "matches looks into a string",
		`trim(output.score) == ""`:                   "argument 1 must be a string, not a whole number",
		`fromJSON("{") == nil`:                       "ends too early",
		`output.n == 123456789012345678901234567890`: `fromJSON("123456789012345678901234567890")`,
		`all(input, true)`:                           "",
	} {
		e, err := Parse(source)
		if err == nil {
			_, err = e.Eval(sample())
		}
		var at *Error
		if !errors.As(err, &at) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", source, err, want)
		}
	}
}

func TestExpressionOutput(t *testing.T) {
	for _, c := range []struct {
		content, source string
		want            bool
	}{
		{"Here:\n```json\n{\"score\": 5}\n```", "output.score == 5", true},
		{"no JSON", "output == nil", true},
		{"no JSON", "(output?.score ?? 0) > 3", false},
		{`{"a": 1}`, "output == {'a': 1}", true},
	} {
		if got, err := eval(t, c.source, validators.Subject{Content: c.content}); err != nil || got != c.want {
			t.Errorf("%s on %q: got %v, %v", c.source, c.content, got, err)
		}
	}
}

// TestExpressionHostile checks expressions that would run for hours or use all memory without a
// budget. The test uses a quarter of the budget.
func TestExpressionHostile(t *testing.T) {
	big := validators.Subject{Content: strings.Repeat("ab(", 10<<20/3), Input: map[string]any{"bad": strings.Repeat("(a{1,30}){1,30}", 20), "list": make([]any, 100_000)}}
	grow := "let a0 = content; "
	lists := "let a0 = [1]; "
	for i := range 40 {
		grow += strings.NewReplacer("X", string(rune('a'+i/10))+string(rune('0'+i%10)), "Y", string(rune('a'+(i+1)/10))+string(rune('0'+(i+1)%10))).Replace("let Y = X + X; ")
		lists += strings.NewReplacer("X", string(rune('a'+i/10))+string(rune('0'+i%10)), "Y", string(rune('a'+(i+1)/10))+string(rune('0'+(i+1)%10))).Replace("let Y = [X, X]; ")
	}
	for _, source := range []string{
		`len(1..1000000000) > 1`,
		`1 in 1..1000000000`,
		`all(1..1000, all(1..1000, all(1..1000, true)))`,
		`let a = 1..1000; all(a, all(a, all(a, all(a, true))))`,
		`let a = 1..1000; len(map(a, map(a, map(a, #)))) > 0`,
		`let a = 1..1000; len(filter(a, any(a, content contains "zz"))) > 0`,
		`let a = 1..100000; any(a, content == content + "a")`,
		`let a = 1..100000; any(a, len(content) < 0)`,
		`let a = 1..100000; any(a, lower(content) == "")`,
		`let a = 1..100000; any(a, sum(a) < 0)`,
		`let a = 1..100000; any(a, # + 200000 in a)`,
		`let a = 1..100000; any(a, max(a) < 0)`,
		`let a = 1..100000; any(a, count(input.list) > 0)`,
		`any(1..1000000, len(keys(fromJSON('{"a": 1}'))) == 0)`,
		`let a = 1..100000; any(a, any(a, input.list == []))`,
		grow + `e0 == ""`,
		lists + `string(e0) == ""`, lists + `toJSON(e0) == ""`, lists + `max(e0) == 2`, lists + `e0 == [e0]`, lists + `len(uniq(e0)) == 3`,
		`replace(content, "a", content) == ""`,
		`replace(content, "", content) == ""`,
		`join(split(content, ""), content) == ""`,
		`len(split(content, "")) == 1`,
		`trim(content, content) == ""`,
		`content matches "(a|b|\\(){1,500}(a?){400}$"`,
		`content matches input.bad`,
		`any(1..100000, content matches "zz.*$")`,
		`len(fromJSON("[" + content + "]")) == 1`,
		`len(join(map(1..1000, content))) == 1`,
		`string(map(1..1000, content)) == ""`,
		`let f = [content, content]; any(1..1000, toJSON(f) == "")`,
	} {
		e, err := Parse(source)
		if err != nil {
			t.Fatalf("%s: %v", source, err)
		}
		start, asked := processor.Time(), 0
		ok, err := e.EvalUntil(func() error {
			if asked++; asked > budget/askEvery/4 {
				return errBudget
			}
			return nil
		}, big)
		if took := processor.Time() - start; took > 15*time.Second {
			t.Errorf("%.60s: took %s", source, took)
		}
		if err == nil {
			t.Errorf("%.60s: answered %v", source, ok)
		}
	}
}

func TestExpressionHostileSource(t *testing.T) {
	double := "1"
	for range 60 {
		double = "0 < (" + double + ") < 3 ? 1 : 2"
	}
	for name, source := range map[string]string{
		"parentheses": strings.Repeat("(", 1<<20),
		"brackets":    strings.Repeat("[", maxExpression),
		"not":         strings.Repeat("!", maxExpression-4) + "true",
		"minus":       strings.Repeat("-", maxExpression),
		"comparisons": double,
		"overloads":   strings.Repeat("join([", 400) + "'a'" + strings.Repeat("])", 400) + " == ''",
		"members":     "input" + strings.Repeat(".a", 8000),
		"lets":        strings.Repeat("let a = ", 1000),
		"conditions":  strings.Repeat("true ? ", 2000) + "1",
		"pattern":     `content matches "` + strings.Repeat("(", 9000) + `"`,
		"invalid":     "content == \"\xff\xfe\x00",
		"predicates":  strings.Repeat("all(input.a, ", 1000) + "true" + strings.Repeat(")", 1000),
	} {
		start := time.Now()
		e, err := Parse(source)
		if took := time.Since(start); took > time.Minute {
			t.Errorf("%s: took %s", name, took)
		}
		if err == nil {
			e.Eval(sample())
		}
	}
}

func TestExpressionLargeText(t *testing.T) {
	s := validators.Subject{Content: strings.Repeat("word and ", 10<<20/9) + "\xff"}
	for _, source := range []string{
		`len(content) > 1000`, `content contains "word and"`, `not (content contains "zebra")`, `lower(content) endsWith "x" == false`,
		`not (content matches "(?i)zebra|quagga")`, `content != ""`, `all(["a", "b", "c"], content contains #) == false`,
	} {
		if ok, err := eval(t, source, s); err != nil || !ok {
			t.Errorf("%s: got %v, %v", source, ok, err)
		}
	}
}

func TestExpr(t *testing.T) {
	check, err := checkOf("len(content) > 3", "")
	if err != nil {
		t.Fatal(err)
	}
	v, err := check(t.Context(), validators.Subject{Content: "abc"})
	if err != nil || v.Valid || v.Reason != "len(content) > 3: len(content) is 3" {
		t.Errorf("got %+v, %v", v, err)
	}
	check, _ = checkOf("len(content) > 3", "100% too short")
	if v, _ := check(t.Context(), validators.Subject{}); v.Reason != "100% too short" {
		t.Errorf("got %+v", v)
	}
	if v, _ := check(t.Context(), validators.Subject{Content: "abcd"}); !v.Valid {
		t.Errorf("got %+v", v)
	}
	if _, err := checkOf("len(", ""); err == nil {
		t.Error("no error")
	}
	check, _ = checkOf("input.a.b", "")
	if v, err := check(t.Context(), validators.Subject{}); err == nil || v.Valid {
		t.Errorf("got %+v, %v", v, err)
	}
}

func FuzzExpression(f *testing.F) {
	for _, s := range []string{
		`len(content) > 1 && input.a?.b ?? true`, `all(split(content, ""), # in keys(output))`, `let a = [1]; string({"a": a}) matches "["`,
		`if true { 1..3 == [] } else { false }`, `filter(output, .x)[1:].y | first()`, `1 < (2 < (3 < 4 ? 1 : 2) < 5 ? 1 : 2) < 3`,
	} {
		f.Add(s, "text [1, {\"a\": null}]")
	}
	f.Fuzz(func(t *testing.T, source, content string) {
		start := time.Now()
		e, err := Parse(source)
		if err == nil {
			s := sample()
			s.Content, s.Output = content, nil
			one, err1 := e.Eval(s)
			two, err2 := e.Eval(s)
			if one != two || (err1 == nil) != (err2 == nil) {
				t.Errorf("%s: %v, %v and then %v, %v", source, one, err1, two, err2)
			}
		}
		if took := time.Since(start); took > time.Minute {
			t.Errorf("%s: took %s", source, took)
		}
	})
}

// BenchmarkExpressions runs ten checks of a text of 100 KB, which must take less than a
// millisecond together.
func BenchmarkExpressions(b *testing.B) {
	s := sample()
	s.Content = strings.Repeat("word and ", 100<<10/9)
	var checks []validators.Check
	for _, source := range []string{
		`len(content) > 1000`, `len(content) < 200000`, `content contains "and word"`, `not (content contains "zebra")`, `outputs.outline != ""`,
		`output.score > 3`, `all(output.items, .id > 0)`, `content startsWith "word"`, `attempt < 5 && turn < 3`, `input.topic in ["harbour", "ship"]`,
	} {
		check, err := checkOf(source, "")
		if err != nil {
			b.Fatal(err)
		}
		checks = append(checks, check)
	}
	for b.Loop() {
		for _, check := range checks {
			if v, err := check(b.Context(), s); err != nil || !v.Valid {
				b.Fatal(v, err)
			}
		}
	}
}

func BenchmarkParse(b *testing.B) {
	for b.Loop() {
		if _, err := Parse(`len(content) > 1000 && all(split(content, "\n"), len(#) < 80)`); err != nil {
			b.Fatal(err)
		}
	}
}

// checkOf returns the check that an expression is true, see [Expression.Check].
func checkOf(source, reason string) (validators.Check, error) {
	e, err := Parse(source)
	if err != nil {
		return nil, err
	}
	return e.Check(reason), nil
}
