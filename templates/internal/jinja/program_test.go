package jinja

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
)

// failing are templates that Parse accepts and Render refuses, with its error.
var failing = []struct{ template, want string }{
	{`{{ topik }}`, `line 1, column 4: "topik" is undefined; did you mean "topic"?`},
	{"a\n{{ 1 }} {{ input.topik }}", `line 2, column 18: "input.topik" is undefined; did you mean "topic"?`},
	{`{{ input["topik"] }}`, `line 1, column 10: "input.topik" is undefined; did you mean "topic"?`},
	{`{{ input.a.b }}`, `line 1, column 10: "input.a" is undefined`},
	{`{{ rows[7] }}`, `line 1, column 9: a list has no "7"`},
	{`{{ rows[0].nope }}`, `line 1, column 12: "rows.nope" is undefined`},
	{`{{ zebra|upper }}`, `line 1, column 4: "zebra" is undefined`},
	{`{% if zebra %}{% endif %}`, `line 1, column 7: "zebra" is undefined`},
	{`{% for x in zebra %}{% endfor %}`, `line 1, column 13: "zebra" is undefined`},
	{`{{ [zebra] }}`, `line 1, column 5: "zebra" is undefined`},
	{`{% set x = zebra %}` + "\n{{ x }}", `line 1, column 12: "zebra" is undefined`},
	{`{% for x in n %}{% endfor %}`, `line 1, column 4: a int cannot be iterated over`},
	{`{{ n / 0 }}`, `line 1, column 6: division by zero`},
	{`{{ n + "a" }}`, `line 1, column 6: the operator + does not take a int and a str`},
	{`{{ n < topic }}`, `line 1, column 6: a int and a str have no order`},
	{`{{ huge ** 200 }}`, `line 1, column 9: an integer of more than 4300 digits cannot be used in a template`},
	{`{{ rows[huge] }}`, `line 1, column 9: a list has no "12345678901234567890123"`},
	{`{{ rows|map(topic)|list }}`, `line 1, column 9: unknown filter "gophers"`},
	{`{{ rows|map("upper") }}`, `line 1, column 4: the result of a filter such as map, select or reverse has no text: add |list or |join`},
	{`{{ topic.upper }}`, ``},
	{`{{ rows[0].keys }}`, ``},
	{`{{ (rows|first).keys }}`, `line 1, column 4: "keys" is a method of dict: call it with (), or write ["keys"] for a key of that name`},
	{`{{ topic["upper"] }}`, `line 1, column 4: "upper" is a method of str: call it with (), or write ["upper"] for a key of that name`},
	{`{{ (rows|list).append }}`, `line 1, column 16: list.append is not supported in a template`},
	{`{{ topic["__class__"] }}`, `line 1, column 10: the attribute "__class__" is private`},
	{`{{ topic._private }}`, `line 1, column 10: the attribute "_private" is private`},
	{`{{ input._topic }}`, `line 1, column 10: "input._topic" is undefined; did you mean "topic"?`},
	{`{% for x in rows %}{{ loop(rows) }}{% endfor %}`, `line 1, column 27: only a recursive loop can be called: write {% for … in … recursive %}`},
	{`{% for x in rows recursive %}{{ loop() }}{% endfor %}`, `line 1, column 37: loop() takes one value: what to loop over`},
	{`{% for x in rows recursive %}{{ loop(rows) }}{% endfor %}`, `line 1, column 37: a loop calls itself deeper than 100`},
	{`{{ topic|attr("__class__") }}`, `line 1, column 10: the attribute "__class__" is private`},
	{`{{ rows|map(attribute="x.__class__")|list }}`, `line 1, column 9: a dict has no "x"`},
	{`{{ range }}`, `line 1, column 4: a function has no text: call it with ()`},
	{`{{ topic() }}`, `line 1, column 4: unknown function "topic"`},
	{`{% macro m(a) %}{{ a }}{% endmacro %}{{ m() }}`, `line 1, column 12: the macro's parameter "a" was not given`},
	{`{% macro m(a) %}{% endmacro %}{{ m(1, b=2) }}`, `line 1, column 35: the macro "m" has no parameter "b"`},
	{`{% set a, b = rows %}`, `line 1, column 8: not enough values to unpack: 2 expected, 1 found`},
	{`{{ upper }}`, `line 1, column 4: a value of the Go type chan int cannot be used in a template`},
}

func TestRenderErrors(t *testing.T) {
	vars := map[string]any{"input": map[string]any{"topic": "x"}, "topic": "gophers", "n": 3, "big": math.MaxInt64,
		"huge": json.Number("12345678901234567890123"), "rows": []map[string]any{{"a": 1}}, "upper": make(chan int)}
	for _, c := range failing {
		text, err := rendered(c.template, vars)
		var positioned *Error
		if !errors.As(err, &positioned) {
			t.Errorf("%q: got %q and %v, want an *Error", c.template, text, err)
		} else if c.want != "" && err.Error() != c.want {
			t.Errorf("%q\n got %s\nwant %s", c.template, err, c.want)
		}
	}
}

func TestNames(t *testing.T) {
	list := func(source string) string {
		parsed, err := Parse(source)
		if err != nil {
			t.Fatalf("%q: %v", source, err)
		}
		var b strings.Builder
		for _, n := range parsed.Names() {
			guard := ""
			if n.Guarded {
				guard = "?"
			}
			if needed := len(n.Path) - n.Spared; n.Guarded && needed > 0 {
				guard += fmt.Sprintf(" %d", needed)
			}
			fmt.Fprintf(&b, "%d:%d %s%s; ", n.Line, n.Column, strings.Join(n.Path, "."), guard)
		}
		return strings.TrimSuffix(b.String(), "; ")
	}
	for source, want := range map[string]string{
		"plain": "",
		"{{ outputs.draft.title }}\n{{ input['a b'].c }}":                                          "1:4 outputs.draft.title; 2:4 input.a b.c",
		"{{ a[0].b }} {{ a[k].b }} {{ a.b[0].c }}":                                                 "1:4 a; 1:19 k; 1:17 a; 1:30 a.b",
		"{{ a.upper() }} {{ a.b.get('x') }} {{ (a.b)[1:c] }} {{ {a: b}|length }}":                  "1:4 a; 1:20 a.b; 1:40 a.b; 1:47 c; 1:57 a; 1:60 b",
		"{{ a.b|upper }} {{ a|replace(b, c) }}":                                                    "1:4 a.b; 1:20 a; 1:30 b; 1:33 c",
		"{{ a.b|default('x') }} {{ a|d(c) }} {{ a|items }}":                                        "1:4 a.b? 1; 1:27 a?; 1:31 c; 1:40 a?",
		"{{ a is defined }} {{ a.b is undefined }} {{ a is none }}":                                "1:4 a?; 1:23 a.b? 1; 1:46 a",
		"{% if a is defined %}{{ a.b }}{{ c }}{% else %}{{ a }}{% endif %}":                        "1:7 a?; 1:25 a.b?; 1:34 c; 1:51 a",
		"{% if a is undefined %}{{ a }}{% elif b %}{{ a }}{% endif %}{{ a }}":                      "1:7 a?; 1:27 a; 1:39 b; 1:46 a?; 1:64 a",
		"{{ a is defined and a > 1 }} {{ a is undefined or a }} {{ not a is defined and a }}":      "1:4 a?; 1:21 a?; 1:33 a?; 1:51 a?; 1:63 a?; 1:80 a",
		"{{ a if a is defined else b }} {{ b if a is undefined else a }}":                          "1:9 a?; 1:4 a?; 1:27 b; 1:40 a?; 1:35 b; 1:60 a?",
		"{% for x in xs %}{{ x.y }}{{ loop.index }}{{ z }}{% endfor %}{{ x }}":                     "1:13 xs; 1:46 z; 1:65 x",
		"{% for k, v in d.items() if v > lim %}{{ k }}{% else %}{{ v }}{% endfor %}":               "1:16 d; 1:33 lim; 1:59 v",
		"{% set a = b %}{{ a }}{% set c %}{{ d }}{% endset %}{{ c }}":                              "1:12 b; 1:37 d",
		"{% set a = a|default(1) %}{{ a }}":                                                        "1:12 a?",
		"{% if c %}{% set a = 1 %}{% endif %}{{ a }}":                                              "1:7 c",
		"{% with a = b %}{{ a }}{{ c }}{% endwith %}{{ a }}":                                       "1:13 b; 1:27 c; 1:47 a",
		"{% macro m(a, b=c) %}{{ a }}{{ d }}{{ varargs }}{% endmacro %}{{ m(e) }}":                 "1:17 c; 1:32 d; 1:68 e",
		"{% filter replace(a, b) %}{{ c }}{% endfilter %}":                                         "1:30 c; 1:19 a; 1:22 b",
		"{{ range(n) }} {{ dict(a=b) }} {% set ns = namespace(x=y) %}{% set ns.x = z %}{{ ns.x }}": "1:10 n; 1:26 b; 1:56 y; 1:75 z",
		"{{ a.b.c|default(1) }} {{ a.b[0]|default(1) }} {{ a|default(1) }}":                        "1:4 a.b.c? 2; 1:27 a.b? 2; 1:51 a?",
		"{% if a.b is defined %}{{ a.b.c }}{{ a.b.c|d(1) }}{% endif %}":                            "1:7 a.b? 1; 1:27 a.b.c?; 1:38 a.b.c?",
		"日本 {{ x }}": "1:7 x",
		"{# {{ no }} #}{% raw %}{{ no }}{% endraw %}{{ '{{ no }}' }}": "",
	} {
		if got := list(source); got != want {
			t.Errorf("%q\n got %s\nwant %s", source, got, want)
		}
	}
}

// The time is linear in the length of the line. Counting the column of each
// name from the start of the line took a minute.
func TestNamesOfALongLine(t *testing.T) {
	const n = 60_000
	parsed, err := Parse(strings.Repeat("{{ a[k].b }}", n))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan []Name)
	go func() { done <- parsed.Names() }()
	select {
	case names := <-done:
		if last := names[len(names)-1]; len(names) != 2*n || last.Line != 1 || last.Column != 12*(n-1)+4 || last.Path[0] != "a" {
			t.Errorf("%d names, the last %+v", len(names), last)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("still running")
	}
}

// TestValues renders values of the caller's types and compares the text with
// Python's output.
func TestValues(t *testing.T) {
	type status string
	type bag map[string]int
	cycle := map[string]any{}
	cycle["self"] = cycle
	loopback := []any{nil}
	loopback[0] = loopback
	deep := any("x")
	for range 100_000 {
		deep = []any{deep}
	}
	for _, c := range []struct {
		value any
		want  string // "" for an error
	}{
		{nil, "None"}, {true, "True"}, {3, "3"}, {int8(-3), "-3"}, {uint16(7), "7"}, {int64(math.MinInt64), "-9223372036854775808"},
		{uint64(math.MaxUint64), "18446744073709551615"}, {3.0, "3.0"}, {float32(0.5), "0.5"}, {1e16, "1e+16"}, {math.Inf(-1), "-inf"},
		{math.NaN(), "nan"}, {math.Copysign(0, -1), "-0.0"},
		{json.Number("3"), "3"}, {json.Number("3.0"), "3.0"}, {json.Number("1e3"), "1e3"}, {json.Number("-0"), "-0"}, {json.Number("1e400"), "1e400"}, {json.Number("1e99999"), ""},
		{json.Number("99999999999999999999"), "99999999999999999999"}, {json.Number("x"), ""}, {json.Number(""), ""}, {json.Number(" 1"), ""},
		{json.Number(strings.Repeat("9", 5000)), ""},
		{"é\x00", "é\x00"}, {"bad \xff utf8", "bad \xff utf8"}, {[]string{"a", "b\xff"}, `['a', 'b\udcff']`}, {status("s"), "s"},
		{[]any{1, "a", []int{2}}, "[1, 'a', [2]]"}, {[2]bool{true, false}, "[True, False]"}, {[]map[string]any{{"b": 1, "a": nil}}, "[{'a': None, 'b': 1}]"},
		{map[string]any{"z": 1, "a": map[string]string{"k": "v"}}, "{'a': {'k': 'v'}, 'z': 1}"}, {bag{"x": 1}, "{'x': 1}"},
		{[]byte("ab"), "[97, 98]"}, {map[int]string{1: "x"}, ""}, {struct{ A int }{1}, ""}, {&struct{ A int }{1}, ""}, {errors.New("x"), ""},
		{func() string { return "called" }, ""}, {[]any{func() {}}, ""}, {complex(1, 2), ""}, {(*int)(nil), ""}, {reflect.ValueOf(1), ""},
		{cycle, ""}, {loopback, ""}, {deep, ""},
	} {
		got, err := rendered("{{ v }}", map[string]any{"v": c.value})
		if (err != nil) != (c.want == "") || got != c.want {
			t.Errorf("%T: got %q, %v; want %q", c.value, got, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "internal fault") {
			t.Error(err)
		}
		for _, source := range []string{"{{ v|tojson }}", "{{ v == v }}", "{{ v|string|length }}", "{{ v is mapping }}", "{{ [v]|sort }}", "{{ v.x|d }}", "{{ v in [v] }}"} {
			if _, err := rendered(source, map[string]any{"v": c.value}); err != nil && strings.Contains(err.Error(), "internal fault") {
				t.Errorf("%s with %T: %v", source, c.value, err)
			}
		}
	}
}

func TestDataIsNeverATemplate(t *testing.T) {
	text := "{{ secret }} {% include 'x' %} {# c #} {{ 1 + 1 }}"
	for _, source := range []string{"{{ v }}", "{{ v|string }}", "{% set x %}{{ v }}{% endset %}{{ x }}", "{{ [v]|join }}", "{{ v|safe }}"} {
		got, err := rendered(source, map[string]any{"v": text, "secret": "s"})
		if err != nil || got != text {
			t.Errorf("%s: %q, %v", source, got, err)
		}
	}
}

func TestRenderKeepsVars(t *testing.T) {
	vars := map[string]any{"a": []any{3, 1}, "d": map[string]any{"k": []string{"x"}}, "s": "x"}
	before := fmt.Sprint(vars)
	source := "{% set s = 1 %}{% set b = a|sort %}{{ a|reverse|list }}{{ a + [2] }}{% for k in d %}{% set d = 1 %}{% endfor %}{{ dict(d, z=1) }}"
	if _, err := rendered(source, vars); err != nil {
		t.Fatal(err)
	}
	if after := fmt.Sprint(vars); after != before {
		t.Errorf("%s became %s", before, after)
	}
}

func TestMaxOutput(t *testing.T) {
	long := strings.Repeat("x", maxOutput)
	if got, err := rendered("{{ v }}", map[string]any{"v": long}); err != nil || len(got) != maxOutput {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	for _, source := range []string{"{{ v }}y", "y{{ v }}", "{{ v ~ 'y' }}", "{% filter trim %}y{{ v }}{% endfilter %}"} {
		if got, err := rendered(source, map[string]any{"v": long}); err == nil {
			t.Errorf("%s: %d bytes", source, len(got))
		}
	}
	if got, err := rendered(long+"y", nil); err == nil {
		t.Errorf("plain: %d bytes", len(got))
	}
}

func TestRenderIsDeterministic(t *testing.T) {
	vars := map[string]any{"d": map[string]any{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6}}
	source := "{{ d }}{% for k in d %}{{ k }}{% endfor %}{{ d|tojson }}{{ d.values()|list }}{{ d|list }}{{ d|items|list }}{{ d|urlencode }}"
	first, err := rendered(source, vars)
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		if again, _ := rendered(source, vars); again != first {
			t.Fatalf("%q and %q", first, again)
		}
	}
}
