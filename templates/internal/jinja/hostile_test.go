package jinja

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// hostile are templates that must end with an error, soon and without taking the process down.
var hostile = map[string]string{
	"nested ranges":       "{% for a in range(99999) %}{% for b in range(99999) %}{% for c in range(99999) %}{% endfor %}{% endfor %}{% endfor %}",
	"long range":          "{{ range(10**12) }}",
	"repetition":          "{{ 'a' * 10**9 }}",
	"list repetition":     "{{ [1] * 10**9 }}",
	"center":              "{{ 'x'|center(10**9) }}",
	"method center":       "{{ 'x'.center(10**9) }}",
	"ljust":               "{{ 'x'.ljust(10**18) }}",
	"zfill":               "{{ 'x'.zfill(10**9) }}",
	"expandtabs":          "{{ '\\t\\t'.expandtabs(10**9) }}",
	"indent":              "{{ 'x'|indent(10**9, true) }}",
	"many indents":        "{{ ('\\n' * 10**6)|indent(10**6, blank=true) }}",
	"percent width":       "{{ '%1000000000d' % 1 }}",
	"percent star":        "{{ '%*d' % (10**15, 1) }}",
	"percent precision":   "{{ '%.1000000000f' % 1 }}",
	"brace width":         "{{ '{:>1000000000}'.format(1) }}",
	"brace precision":     "{{ '{:.1000000000f}'.format(1.0) }}",
	"replace":             "{{ ('a' * 10**6).replace('a', 'b' * 10**6) }}",
	"replace nothing":     "{{ ('a' * 10**6)|replace('', 'b' * 10**5) }}",
	"join":                "{{ (['x'] * 10**5)|join('y' * 10**5) }}",
	"doubling":            "{% set ns = namespace(s='aaaaaaaa') %}{% for i in range(60) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}",
	"doubling list":       "{% set ns = namespace(s=[1]) %}{% for i in range(60) %}{% set ns.s = ns.s + ns.s %}{% endfor %}",
	"hoard":               "{% set ns = namespace(l=[]) %}{% for i in range(99999) %}{% set ns.l = ns.l + ['x' * 10**5 ~ i] %}{% endfor %}",
	"deep list":           "{% set ns = namespace(s=[1]) %}{% for i in range(99999) %}{% set ns.s = [ns.s] %}{% endfor %}{{ ns.s }}",
	"deep json":           "{% set ns = namespace(s=[1]) %}{% for i in range(99999) %}{% set ns.s = [ns.s] %}{% endfor %}{{ ns.s|tojson }}",
	"deep equality":       "{% set ns = namespace(s=[1], t=[1]) %}{% for i in range(9999) %}{% set ns.s = [ns.s] %}{% set ns.t = [ns.t] %}{% endfor %}{{ ns.s == ns.t }}",
	"deep order":          "{% set ns = namespace(s=[1], t=[2]) %}{% for i in range(9999) %}{% set ns.s = [ns.s] %}{% set ns.t = [ns.t] %}{% endfor %}{{ ns.s < ns.t }}",
	"deep key":            "{% set ns = namespace(s=(1,)) %}{% for i in range(9999) %}{% set ns.s = (ns.s,) %}{% endfor %}{{ {ns.s: 1} }}",
	"wide sharing":        "{% set ns = namespace(s=[1]) %}{% for i in range(60) %}{% set ns.s = [ns.s, ns.s] %}{% endfor %}{{ ns.s }}",
	"wide equality":       "{% set ns = namespace(s=[1], t=[1]) %}{% for i in range(60) %}{% set ns.s = [ns.s, ns.s] %}{% set ns.t = [ns.t, ns.t] %}{% endfor %}{{ ns.s == ns.t }}",
	"self namespace":      "{% set ns = namespace() %}{% set ns.a = ns %}{{ ns }}",
	"generator tower":     "{% set ns = namespace(g=[1]) %}{% for i in range(99999) %}{% set ns.g = ns.g|map('string') %}{% endfor %}{{ ns.g|list }}",
	"macro recursion":     "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
	"macro pair":          "{% macro a() %}{{ b() }}{% endmacro %}{% macro b() %}{{ a() }}{% endmacro %}{{ a() }}",
	"macro fan":           "{% macro m(n) %}{% for i in range(1000) %}{{ m(n - 1) if n }}{% endfor %}{% endmacro %}{{ m(50) }}",
	"caller recursion":    "{% macro m() %}{% call m() %}{% endcall %}{{ caller() }}{% endmacro %}{% call m() %}{% endcall %}",
	"power":               "{{ 10 ** 10 ** 10 ** 10 ** 10 }}",
	"float power":         "{{ 10.0 ** 400 }}",
	"wide product":        "{{ 9 ** 4000 * 9 ** 4000 }}",
	"batch":               "{{ [1]|batch(10**9, 0)|list }}",
	"slice":               "{{ [1]|slice(10**9)|list }}",
	"json indent":         "{{ [1]|tojson(10**9) }}",
	"output":              "{% for i in range(99999) %}{{ 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' * 10 }}{% endfor %}",
	"stripping":           "{% for i in range(9999) %}{{ ('a' * 10**6).strip('b' * 10**4 ~ 'a') }}{% endfor %}",
	"comments":            "{{ ('<!--' * 10**5 ~ '-->' * 10**5)|striptags ~ ('<!-- -->' * 10**5)|striptags }}",
	"unclosed":            strings.Repeat("{{", 1<<19),
	"tags":                strings.Repeat("{%", 1<<19),
	"comment openings":    strings.Repeat("{#", 1<<19),
	"raw openings":        strings.Repeat("{% raw %}", 1<<17),
	"raw in raw":          "{% raw %}" + strings.Repeat("{%", 1<<19),
	"parentheses":         "{{ " + strings.Repeat("(", 100_000) + "1" + strings.Repeat(")", 100_000) + " }}",
	"brackets":            "{{ " + strings.Repeat("[", 1<<20) + " }}",
	"braces":              "{{ " + strings.Repeat("{1:", 1<<18) + " }}",
	"subscripts":          "{{ " + strings.Repeat("a[", 1<<18) + " }}",
	"nots":                "{{ " + strings.Repeat("not ", 1<<18) + "1 }}",
	"minuses":             "{{ " + strings.Repeat("- ", 1<<18) + "1 }}",
	"conditions":          "{{ " + strings.Repeat("1 if 1 else ", 1<<16) + "1 }}",
	"sums":                "{{ 1" + strings.Repeat("+1", 1<<18) + " }}",
	"powers":              "{{ 1" + strings.Repeat("**1", 1<<18) + " }}",
	"ands":                "{{ 1" + strings.Repeat(" and 1", 1<<17) + " }}",
	"filters":             "{{ 1" + strings.Repeat("|string", 1<<17) + " }}",
	"tests":               "{{ 1" + strings.Repeat(" is defined", 1<<17) + " }}",
	"attributes":          "{{ a" + strings.Repeat(".b", 1<<18) + " }}",
	"calls":               "{{ a" + strings.Repeat("()", 1<<18) + " }}",
	"blocks":              strings.Repeat("{% if 1 %}", 100_000),
	"closed blocks":       strings.Repeat("{% if 1 %}", 10_000) + strings.Repeat("{% endif %}", 10_000),
	"targets":             "{% for " + strings.Repeat("(", 1<<18),
	"string":              "{{ '" + strings.Repeat("a", 1<<20),
	"nested loops":        strings.Repeat("{% for i in range(99999) %}", 90) + strings.Repeat("{% endfor %}", 90),
	"escapes":             "{{ '" + strings.Repeat(`\N`, 1<<18) + "' }}",
	"filter blocks":       strings.Repeat("{% filter upper %}", 100_000),
	"set filters":         "{% set a" + strings.Repeat("|upper", 1<<18) + " %}{% endset %}",
	"spread":              "{{ dict(*range(100000)) }}",
	"chains in brackets":  "{% macro m() %}{{ " + strings.Repeat("(", 45) + "m()|length" + strings.Repeat(strings.Repeat("+1", 999)+")", 45) + " }}{% endmacro %}{{ m() }}",
	"filters in brackets": "{% macro m() %}{{ " + strings.Repeat("(", 45) + "m()" + strings.Repeat(strings.Repeat("|string", 999)+")", 45) + " }}{% endmacro %}{{ m() }}",
	"chain in recursion":  "{% macro m() %}{{ m()|length" + strings.Repeat("+1", 999) + " }}{% endmacro %}{{ m() }}",
	"huge argument list":  "{{ range(" + strings.Repeat("1,", 1<<18) + ") }}",
}

// TestHostileTemplates has a generous time limit: a template without a limit
// runs for minutes or takes all memory.
func TestHostileTemplates(t *testing.T) {
	for name, source := range hostile {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			text, err := rendered(source, map[string]any{"a": nil})
			var positioned *Error
			if !errors.As(err, &positioned) {
				t.Fatalf("got %d bytes and the error %v", len(text), err)
			}
			if strings.Contains(positioned.Message, "internal fault") {
				t.Error(err)
			}
			if len(positioned.Message) > 500 {
				t.Errorf("a message of %d bytes", len(positioned.Message))
			}
			if took := time.Since(start); took > time.Minute {
				t.Errorf("took %v", took)
			}
		})
	}
}
