package jinja

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// rejected are templates that Parse refuses, with its error.
var rejected = []struct{ template, want string }{
	{`{% include "x" %}`, `line 1, column 4: the tag "include" is not supported: a template cannot reach other files`},
	{`{%- import "x" as y %}`, `line 1, column 5: the tag "import" is not supported: a template cannot reach other files`},
	{`{% from "x" import y %}`, `line 1, column 4: the tag "from" is not supported: a template cannot reach other files`},
	{`{% extends "x" %}`, `line 1, column 4: the tag "extends" is not supported: a template cannot reach other files`},
	{`{% block b %}{% endblock %}`, `line 1, column 4: the tag "block" is not supported: templates do not inherit`},
	{`{% ssi "/etc/passwd" %}`, `line 1, column 4: the tag "ssi" is not supported: a template cannot reach other files`},
	{`{% autoescape true %}{% endautoescape %}`, `line 1, column 4: the tag "autoescape" is not supported: nothing is escaped: use the filter "escape"`},
	{`{% do x.append(1) %}`, `line 1, column 4: the tag "do" is not supported: a template changes no value`},
	{`{% now "2006" %}`, `line 1, column 4: the tag "now" is not supported: its result would differ from run to run`},
	{`{% lorem %}`, `line 1, column 4: the tag "lorem" is not supported: its result would differ from run to run`},
	{`{% trans %}x{% endtrans %}`, `line 1, column 4: the tag "trans" is not supported: templates are not translated`},
	{`{% debug %}`, `line 1, column 4: the tag "debug" is not supported: templates show no internals`},
	{`{% for x in y %}{% break %}{% endfor %}`, `line 1, column 20: the tag "break" is not supported: loops run to their end: filter them with an inline if`},
	{`{% for x in y %}{% continue %}{% endfor %}`, `line 1, column 20: the tag "continue" is not supported: loops run to their end: filter them with an inline if`},
	{"text\n  {% unless x %}", `line 2, column 6: unknown tag "unless"`},
	{`{% fro x in y %}{% endfor %}`, `line 1, column 4: unknown tag "fro"; did you mean "for"?`},
	{`{% endif %}`, `line 1, column 4: "endif" without a block that is open`},
	{`{% if x %}{% endfor %}`, `line 1, column 14: "endfor" does not belong here: the open block is "if"`},
	{"{% if x %}\n{{ y }}\n{% for z in y %}{% endif %}", `line 3, column 20: "endif" does not belong here: the open block is "for"`},
	{`{% if x %}y`, `line 1, column 1: the block that begins here is never closed: "{% endif %}" is missing`},
	{"{% for x in y %}\ntext", `line 1, column 1: the block that begins here is never closed: "{% endfor %}" is missing`},
	{`{% else %}`, `line 1, column 4: "else" without a block that is open`},
	{`{% if %}x{% endif %}`, `line 1, column 7: expected an expression, got "%}"`},
	{`{% if x y %}{% endif %}`, `line 1, column 9: expected "%}", got "y"`},
	{`{% if x %}a{% else %}b{% else %}c{% endif %}`, `line 1, column 26: "else" does not belong here: the open block is "if"`},
	{`{% if x %}{% endif x %}`, `line 1, column 20: expected "%}", got "x"`},
	{`{% for x y %}{% endfor %}`, `line 1, column 10: expected "in", got "y"`},
	{`{% for in y %}{% endfor %}`, `line 1, column 8: cannot assign to "in"`},
	{`{% for x in %}{% endfor %}`, `line 1, column 13: expected an expression, got "%}"`},
	{`{% for x.y in z %}{% endfor %}`, `line 1, column 9: expected "in", got "."`},
	{`{% for loop in y %}{% endfor %}`, `line 1, column 8: "loop" is the loop's own variable and cannot be assigned`},
	{`{% set %}`, `line 1, column 8: expected the name of a variable, got "%}"`},
	{`{% set 1 = 2 %}`, `line 1, column 8: expected the name of a variable, got the number 1`},
	{`{% set x = %}`, `line 1, column 12: expected an expression, got "%}"`},
	{`{% set x == 1 %}`, `line 1, column 10: expected "%}", got "=="`},
	{`{% set true = 1 %}`, `line 1, column 8: cannot assign to "true"`},
	{`{% for i in y %}{% set loop = 1 %}{% endfor %}`, `line 1, column 24: "loop" is the loop's own variable and cannot be assigned`},
	{`{% macro %}{% endmacro %}`, `line 1, column 10: expected the name of a variable, got "%}"`},
	{`{% macro m(a=1, b) %}{% endmacro %}`, `line 1, column 17: the parameter "b" needs a default, as the one before it has one`},
	{`{% macro m(a, a) %}{% endmacro %}`, `line 1, column 15: the parameter "a" is declared twice`},
	{`{% macro m(caller) %}{% endmacro %}`, `line 1, column 12: "caller" is a macro's own variable and cannot be a parameter`},
	{`{% call x %}{% endcall %}`, `line 1, column 9: expected the call of a macro`},
	{`{% with x %}{% endwith %}`, `line 1, column 11: expected "=", got "%}"`},
	{`{% filter nope %}{% endfilter %}`, `line 1, column 11: unknown filter "nope"`},
	{`{% filter %}{% endfilter %}`, `line 1, column 11: expected the name of a filter, got "%}"`},
	{`{% raw %}never closed`, `line 1, column 1: the raw block that begins here is never closed with "{% endraw %}"`},
	{`{# never closed`, `line 1, column 1: the comment that begins here is never closed with "#}"`},
	{`{% `, `line 1, column 1: the tag that begins here is never closed: "%}" is missing`},
	{`{{ `, `line 1, column 1: the tag that begins here is never closed: "}}" is missing`},
	{`{{ x`, `line 1, column 1: the tag that begins here is never closed: "}}" is missing`},
	{`{{ x }`, `line 1, column 6: one } stands here: the tag is closed with }}`},
	{`{{ x %}`, `line 1, column 7: one } stands here: the tag is closed with }}`},
	{`{{ }}`, `line 1, column 4: expected an expression, got "}}"`},
	{`{% %}`, `line 1, column 4: expected the name of a tag, got "%}"`},
	{`{{ 1 + }}`, `line 1, column 8: expected an expression, got "}}"`},
	{`{{ (1 }}`, `line 1, column 7: unexpected "}", expected ")"`},
	{`{{ 1) }}`, `line 1, column 5: unexpected ")"`},
	{`{{ [1, 2 }}`, `line 1, column 10: unexpected "}", expected "]"`},
	{`{{ {"a": 1 }}`, `line 1, column 13: one } stands here: the tag is closed with }}`},
	{`{{ {"a" 1} }}`, `line 1, column 9: expected ":", got the number 1`},
	{`{{ (1] }}`, `line 1, column 6: unexpected "]", expected ")"`},
	{`{{ "abc }}`, `line 1, column 4: the string that begins here is never closed`},
	{`{{ 'a\x4' }}`, `line 1, column 6: the escape \x needs 2 hexadecimal digits`},
	{`{{ '\N{DASH}' }}`, `line 1, column 5: the escape \N is not supported: write the character`},
	{`{{ '\ud800' }}`, `line 1, column 5: the escape \ud800 is not a character`},
	{`{{ x ! y }}`, `line 1, column 6: unexpected character '!'`},
	{`{{ x $ }}`, `line 1, column 6: unexpected character '$'`},
	{`{{ a.b? }}`, `line 1, column 7: unexpected character '?'`},
	{`{{ ` + strings.Repeat("9", 5000) + ` }}`, `line 1, column 4: the integer 9999999999999999999999999999999999999999… has too many digits`},
	{`{{ a b }}`, `line 1, column 6: expected "}}", got "b"`},
	{`{{ a.1b }}`, `line 1, column 7: expected "}}", got "b"`},
	{`{{ 012 }}`, `line 1, column 5: expected "}}", got the number 12`},
	{`{{ a. }}`, `line 1, column 7: expected the name of an attribute, got "}}"`},
	{`{{ a[] }}`, `line 1, column 6: expected a subscript`},
	{`{{ a[1, 2] }}`, `line 1, column 7: a subscript of several values is not supported`},
	{`{{ not }}`, `line 1, column 8: expected an expression, got "}}"`},
	{`{{ a and }}`, `line 1, column 10: expected an expression, got "}}"`},
	{`{{ if }}`, `line 1, column 4: expected an expression, got "if"`},
	{`{{ a if }}`, `line 1, column 9: expected an expression, got "}}"`},
	{`{{ a | }}`, `line 1, column 8: expected the name of a filter, got "}}"`},
	{`{{ a | 1 }}`, `line 1, column 8: expected the name of a filter, got the number 1`},
	{`{{ a is }}`, `line 1, column 9: expected the name of a test, got "}}"`},
	{`{{ a is odd is even }}`, `line 1, column 13: one test cannot follow another: join them with and`},
	{`{{ a is odd if b }}`, `line 1, column 13: expected an expression, got "if"`},
	{`{{ a|uper }}`, `line 1, column 6: unknown filter "uper"; did you mean "upper"?`},
	{`{{ a|random }}`, `line 1, column 6: the filter "random" is not supported: its result would differ from run to run`},
	{`{{ a|pprint }}`, `line 1, column 6: the filter "pprint" is not supported: use tojson(indent=2)`},
	{`{{ a|date("Y") }}`, `line 1, column 6: the filter "date" is not supported: format the text where it is made`},
	{`{{ a|default:"x" }}`, `line 1, column 13: expected "}}", got ":": a filter has its arguments in parentheses, as in default("x")`},
	{`{{ a|join(sep=", ") }}`, `line 1, column 11: filter "join" has no argument "sep"`},
	{`{{ a|upper(1) }}`, `line 1, column 6: filter "upper" takes no arguments`},
	{`{{ a|replace("x") }}`, `line 1, column 6: filter "replace" needs the argument "new"`},
	{`{{ a|truncate(5, length=6) }}`, `line 1, column 18: the argument "length" of filter "truncate" is given twice`},
	{`{{ a|map("uper")|list }}`, `line 1, column 10: unknown filter "uper"; did you mean "upper"?`},
	{`{{ a|select("od")|list }}`, `line 1, column 13: unknown test "od"; did you mean "odd"?`},
	{`{{ a|selectattr("x", "equals", 1)|list }}`, `line 1, column 22: unknown test "equals"; did you mean "equalto"?`},
	{`{{ a is evn }}`, `line 1, column 9: unknown test "evn"; did you mean "even"?`},
	{`{{ a is divisibleby }}`, `line 1, column 9: test "divisibleby" needs the argument "num"`},
	{`{{ a is odd(1) }}`, `line 1, column 9: test "odd" takes no arguments`},
	{`{{ now() }}`, `line 1, column 4: unknown function "now"`},
	{`{{ rnge(3) }}`, `line 1, column 4: unknown function "rnge"; did you mean "range"?`},
	{`{{ lipsum() }}`, `line 1, column 4: unknown function "lipsum"`},
	{`{{ url_for("x") }}`, `line 1, column 4: unknown function "url_for"`},
	{`{{ a.append(1) }}`, `line 1, column 6: the method "append" of list is not supported: a template changes no value; add lists with +`},
	{`{{ a.update({}) }}`, `line 1, column 6: the method "update" of dict is not supported: a template changes no value; make a new one with dict(old, key=value)`},
	{`{{ a.pop() }}`, `line 1, column 6: the method "pop" of dict is not supported: a template changes no value`},
	{`{{ a.__class__ }}`, `line 1, column 6: the attribute "__class__" is private: write ["__class__"] for a key of that name`},
	{`{{ "".__class__.__mro__ }}`, `line 1, column 7: the attribute "__class__" is private: write ["__class__"] for a key of that name`},
	{`{{ a.encode() }}`, `line 1, column 6: the method "encode" of str is not supported`},
	{`{{ a.uper() }}`, `line 1, column 6: unknown method "uper"; did you mean "upper"?`},
	{`{{ a.format_map({}) }}`, `line 1, column 6: the method "format_map" of str is not supported`},
	{`{{ input.items }}`, `line 1, column 10: "items" is a method of dicts: write ["items"] for the key, or items() to call it`},
	{`{% for x in input.items %}{% endfor %}`, `line 1, column 19: "items" is a method of dicts: write ["items"] for the key, or items() to call it`},
	{`{{ outputs.draft.copy }}`, `line 1, column 18: "copy" is a method of dicts: write ["copy"] for the key, or copy() to call it`},
	{`{{ f(a=1, 2) }}`, `line 1, column 5: arguments in the wrong order: values come first, then key=value`},
	{`{{ f(a=1, a=2) }}`, `line 1, column 11: the argument "a" is given twice`},
	{`{{ f(**a, b=1) }}`, `line 1, column 5: arguments in the wrong order: values come first, then key=value`},
	{`{{ f(1 2) }}`, `line 1, column 8: expected "," or ")", got the number 2`},
	{`日本 {{ 語語 語 }}`, `line 1, column 10: expected "}}", got "語"`},
	{"a\r\nb\r{{ x y }}", `line 3, column 6: expected "}}", got "y"`},
	{"{% if a %}\n  {% if b %}\n    {{ c|nope }}\n{% endif %}{% endif %}", `line 3, column 10: unknown filter "nope"`},
	{"{{ 1 +\n  2 +\n  }}", `line 3, column 3: expected an expression, got "}}"`},
}

func TestRejected(t *testing.T) {
	for _, c := range rejected {
		_, err := Parse(c.template)
		var positioned *Error
		if !errors.As(err, &positioned) {
			t.Errorf("%q: got %v, want an *Error", c.template, err)
		} else if err.Error() != c.want {
			t.Errorf("%q\n got %s\nwant %s", c.template, err, c.want)
		}
	}
}

// TestEveryMistake checks that the first mistake of a source hides neither the
// other mistakes nor the names.
func TestEveryMistake(t *testing.T) {
	for source, want := range map[string]string{
		"{{ a|uper|tirm }} {{ b is evn }}\n{% if c|lowr %}{{ d.uper() }}{% endif %}{{ rnge(2) }}": `1:6 uper upper, 1:11 tirm trim, 1:27 evn even, 2:9 lowr lower, 2:21 uper upper, 2:44 rnge range`,
		"{{ a b }} {{ c | }} {{ d }} {{ [e }} {{ f }}":                                            `1:6  , 1:18  , 1:35  `,
		"{{ a|uper }} {% fro x in y %}{{ z|tirm }}{% endfor %}":                                   `1:6 uper upper, 1:17 fro for`,
		"{{ a|uper }} {{ b": `1:6 uper upper, 1:14  `,
	} {
		parsed, err := Parse(source)
		var first *Error
		if !errors.As(err, &first) {
			t.Fatalf("%s: %v", source, err)
		}
		var got []string
		for _, e := range append([]*Error{first}, first.Further...) {
			got = append(got, fmt.Sprintf("%d:%d %s %s", e.Line, e.Column, e.Word, e.Suggestion))
		}
		if all := strings.Join(got, ", "); all != want {
			t.Errorf("%s:\ngot  %s\nwant %s", source, all, want)
		}
		if parsed != nil && len(parsed.Names()) == 0 {
			t.Errorf("%s: no names", source)
		}
	}
	if _, err := Parse(strings.Repeat("{{ a|uper }}", 1000)); len(err.(*Error).Further) != maxMistakes-1 {
		t.Error(len(err.(*Error).Further))
	}
}
