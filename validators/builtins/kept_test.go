package builtins

import (
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/validators"
)

type keptCase struct {
	content string
	with    map[string]any
	output  any
	reason  string // of a rejection; "" for a pass
}

func judgeKept(t *testing.T, v validators.Validator, cases []keptCase) {
	t.Helper()
	for _, c := range cases {
		check, err := v.Bind(c.with)
		if err != nil {
			t.Fatal(err)
		}
		got, err := check(t.Context(), validators.Subject{Content: c.content, Output: c.output})
		if err != nil || got.Valid != (c.reason == "") || !strings.Contains(got.Reason, c.reason) {
			t.Errorf("%s of %q with %v: %v %q, %v; want %q", v.Name, c.content, c.with, got.Valid, got.Reason, err, c.reason)
		}
	}
}

type with = map[string]any

func TestCites(t *testing.T) {
	source := "# On checks\n\nA check that nobody runs is no check. It costs **two seconds**, and it “pays twice”.\n\nEvery release\nmust pass.\n\n> Haste is the enemy.\n"
	one := with{"source": source}
	two := with{"sources": with{"guide": source, "letter": "Dear reader, all is well."}}
	field := with{"source": source, "field": "claims"}
	object := func(v any) map[string]any { return map[string]any{"claims": v} }
	judgeKept(t, citesValidator, []keptCase{
		{"It says “a check that nobody runs is no check”.", with{"source": source, "ignore_case": true}, nil, ""},
		{"It says “A check that nobody runs is no check”.", one, nil, ""},
		{"It says “a check that nobody runs is no check”.", one, nil, `the quotation "a check that nobody runs is no check" does not stand in the source`},
		{`It says "A check that nobody runs is no check."`, one, nil, ""},
		{"«Every release must pass»", one, nil, ""},
		{"„Every release must pass“", one, nil, ""},
		{"「Every release must pass」", one, nil, ""},
		{"‘Every release must pass’ it says", one, nil, ""},
		{"“Every\nrelease   must pass”", one, nil, ""},
		{"“Every release may pass”", one, nil, "Every release may pass"},
		{"“Every release must not pass”", one, nil, "must not"},
		{"“EVERY RELEASE MUST PASS”", one, nil, "EVERY"},
		{"“EVERY RELEASE MUST PASS”", with{"source": source, "ignore_case": true}, nil, ""},
		{"“It costs two seconds”", one, nil, ""},
		{"“It costs **two seconds**”", one, nil, ""},
		{"“it ‘pays twice’”", one, nil, ""},
		{"“it ‘pays thrice’”", one, nil, "pays thrice"},
		{"it “pays twice”", one, nil, ""},
		{"“A check … is no check”", one, nil, ""},
		{"“A check ... is no check”", one, nil, ""},
		{"“A check […] is no check”", one, nil, ""},
		{"“is no check … A check”", one, nil, "does not stand"},
		{"“… must pass”", one, nil, ""},
		{"“…”", one, nil, "does not stand"},
		{"> Haste is the enemy.", one, nil, ""},
		{"> Haste is the friend.", one, nil, `line 1: the quotation "Haste is the friend."`},
		{"a\n\nb\n\n“not there”", one, nil, "line 5"},
		{"“Every release must pass” and “nobody does”", one, nil, "nobody does"},
		{"“one is not” and “two are not”", one, nil, `"one is not"`},
		{"Nothing is quoted here.", one, nil, ""},
		{"‚Every release must pass‘ steht da", one, nil, ""},
		{"‚Every release may pass‘ steht da", one, nil, "may pass"},
		{"‚Every release may pass’ steht da", one, nil, "may pass"},
		{"It says “Every release\n\nmay pass” there.", one, nil, `line 3: the quotation "may pass"`},
		{"It says “Every release\n\nmust pass” there.", one, nil, ""},
		{"Es steht „Every\n\nrelease may pass“ da.", one, nil, "release may pass"},
		{"It says:\n\n“Every release must pass.\n\n“Haste is the enemy.”", one, nil, ""},
		{"It says:\n\n“Every release must pass.\n\n“Haste is the friend.”", one, nil, "Haste is the friend"},
		{"An “open one.\n\nNothing is quoted here.", one, nil, ""},
		{"“It was ‘very happy’ there”", with{"source": "It was \"very happy\" there"}, nil, ""},
		{"\"It was 'very happy' there\"", with{"source": "It was “very happy” there"}, nil, ""},
		{"“It was ‘very sad’ there”", with{"source": "It was \"very happy\" there"}, nil, "very sad"},
		{"A 15\" screen and a 17\" screen.", one, nil, ""},
		{"The 15\" screen says \"Every release may pass\".", one, nil, "may pass"},
		{"In \"1985\" it was.", one, nil, "1985"},
		{"\"\" is empty, and “” too", one, nil, ""},
		{"It's Bob's, isn't it.", one, nil, ""},
		{"`\"in code\"` and\n\n```\n\"more\"\n```", one, nil, ""},
		{"“Run `make` now”", with{"source": "Run `make` now."}, nil, ""},
		{"“Run make now”", with{"source": "Run `make` now."}, nil, ""},
		{"“Run `rm` now”", with{"source": "Run `make` now."}, nil, `"Run rm now"`},
		{"`a` “Run `rm` now”", with{"source": "`a` Run `make` now."}, nil, `"Run rm now"`},
		{"> See <http://y> now.", with{"source": "See <http://x> now."}, nil, "http://y"},
		{"“See http://x now”", with{"source": "See http://x now."}, nil, ""},
		{"“See http://x now”", with{"source": "See <http://x> now."}, nil, ""},
		{"so {{ \"in code\" }} is", one, nil, ""},
		{"| a |\n|---|\n| “Run `rm`” |", with{"source": "| a |\n|---|\n| “Run `make`” |"}, nil, "Run rm"},
		{"\ufffc “Run `rm` now”", with{"source": "Run `make` now"}, nil, "does not stand"},
		{"“all is well”", two, nil, ""},
		{"“Every release must pass”", two, nil, ""},
		{"“all is lost”", two, nil, "does not stand in guide or letter"},
		{"“reader, all is well. A check”", two, nil, "does not stand"},
		{"<p>It says “every release may pass”.</p>", one, nil, "every release may pass"},
		{"<p>It says “Every <i>release</i> must pass”.</p>", one, nil, ""},
		{"<p class=\"not a quotation\">It</p>", one, nil, ""},
		{"“Nobody is here, he said”", with{"source": "<p>Nobody <b>is here</b>, he<br>said.</p>"}, nil, ""},
		{"", one, nil, ""},
		{"{}", field, object([]any{"Every release must pass."}), ""},
		{"{}", field, object("Every release must pass."), ""},
		{"{}", field, object([]any{"Every release must pass.", "None must."}), `claims[1]: the claim "None must." does not stand`},
		{"{}", field, object([]any{map[string]any{"quote": "None must."}}), "claims[0].quote"},
		{"{}", field, object([]any{}), ""},
		{"{}", field, object(nil), "there is no field claims"},
		{"{}", field, object(5), ""},
		{"{}", field, map[string]any{"claim": "Every release must pass."}, "there is no field claims"},
		{"no JSON", field, nil, "the text is no JSON and has no field claims"},
		{"{}", with{"source": source, "field": "found.claims"}, map[string]any{"found": []any{object("None.")}}, "found.claims"},
		{`{"said": "x"}`, one, map[string]any{"said": "It says “nobody runs”."}, ""},
		{`{"said": "x"}`, one, map[string]any{"said": "It says “everybody runs”."}, "said: the quotation"},
		{`{"said": "x"}`, field, map[string]any{"claims": "Every release must pass.", "said": "“no such”"}, "no such"},
	})
	if _, err := citesValidator.Bind(with{}); err == nil {
		t.Error("no source is fine")
	}
}

func TestNumbersKept(t *testing.T) {
	stored := func(source string) with { return with{"source": source} }
	fresh := func(source string) with { return with{"source": source, "check": "no_new"} }
	judgeKept(t, numbersKeptValidator, []keptCase{
		{"Es dauert 30 Sekunden.", stored("It takes 30 seconds."), nil, ""},
		{"Es dauert 31 Sekunden.", stored("It takes 30 seconds."), nil, "the number 30 of the source (line 1) is not in the text"},
		{"Es dauert 31 Sekunden.", fresh("It takes 30 seconds."), nil, "the number 31 is not in the source"},
		{"Es kostet 1.234,50 €.", stored("It costs €1,234.50."), nil, ""},
		{"Es sind 1.000 Leute.", stored("There are 1,000 people."), nil, ""},
		{"Es sind 1000 Leute.", stored("There are 1,000 people."), nil, ""},
		{"It is 1,5 %.", stored("It is 1.5%."), nil, ""},
		{"It is 15 %.", stored("It is 1.5%."), nil, "1.5"},
		{"It is 5.", stored("It is -5."), nil, "-5"},
		{"Am 14. März 2025 um 10:30.", stored("On March 14, 2025 at 10:30."), nil, ""},
		{"Am 14. März.", stored("On March 14, 2025."), nil, "2025"},
		{"| a |\n|---|\n| 7 |", stored("# 7"), nil, ""},
		{"`9` is shown", stored("9 is shown"), nil, "9"},
		{"Zahle _700_ €.", stored("Pay *700* €."), nil, ""},
		{"Version 2.10.3", with{"source": "v2.10.3", "check": "both"}, nil, ""},
		{"Im Herbst 2024, nicht im April", stored("In autumn 2024, and not in March"), nil, ""},
		{"no figures", stored("no figures"), nil, ""},
		{"5 and 6", with{"source": "5 and 7", "check": "both"}, nil, "number 7"},
		{"[12]", stored("so it is [12]"), nil, ""},
		{"nichts", stored("R1 and HTTP2"), nil, ""},
		{"１２ und ٣ und ५", stored("12 and 3 and 5"), nil, ""},
		{"１３", stored("12"), nil, "12"},
		{"Es kostet 5 € oder 7,00 €.", stored("It costs €5.00 or €7."), nil, ""},
		{"5 und 3,5", stored("5.0 and 3.5"), nil, ""},
		{"(p < .01)", stored("(p < .05)"), nil, "05 of the source"},
		{"(p < 0,05), −0,5 und $.50", with{"source": "(p < .05), -.5 and $0.50", "check": "both"}, nil, ""},
		{"−.5", stored(".5"), nil, "the number .5"},
		{"am 15.01.2024, 2/3/2025 und 3.4.05", with{"source": "on 2024-01-15, 03.02.2025 and 3.4.05", "check": "both"}, nil, ""},
		{"am 16.01.2024", stored("on 2024/01/15"), nil, "the number 15 "},
		{"Version 5.6.8", stored("version 5.6.7"), nil, "the number 7 of"},
		{"um 15:31", stored("at 15:30"), nil, "the number 30 of"},
		{"3.5 und 1234,5", with{"source": "٣٫٥ and ١٬٢٣٤٫٥", "check": "both"}, nil, ""},
		{"1E6", stored("1e6"), nil, ""},
		{"2000 und 1.500.000, 0,001; 1e99", with{"source": "2e3 and 1.5e6, 1e-3 and 1E99", "check": "both"}, nil, ""},
		{"20000", stored("2e3"), nil, "2e3"},
		{"um 15:30 Uhr, 9 Uhr und 0:15", with{"source": "at 3:30 PM, 9 a.m. and 12:15 am", "check": "both"}, nil, ""},
		{"at 3:30 PM", stored("at 16:30"), nil, "the number 16 of"},
		{"共有12个节点,其中有50%的用户和1,234人在第3章", with{"source": "There are 12 nodes, 50% of users and 1,234 people in chapter 3", "check": "both"}, nil, ""},
		{"노드는12개, ノードが7個", with{"source": "12 nodes, 7 nodes", "check": "both"}, nil, ""},
		{"共有13个节点", stored("There are 12 nodes"), nil, "the number 12 "},
		{"there are 5", with{"source": "there may be", "check": "no_new"}, nil, "the number 5 "},
		{"<p>Zahle <b>500</b> €</p>", stored("<p>Pay €700</p>"), nil, "700"},
		{"<p>Zahle 500 €</p>", fresh("Pay €700"), nil, "500"},
		{"Zahle 700&nbsp;€", stored("<div>\nPay <b>700</b>&nbsp;€ <!-- 3 of 4 -->\n</div>"), nil, ""},
		{"x", stored("<p width=3 data-n=\"4\">a</p>\n<style>p {top: 5px}</style>"), nil, ""},
		{"v2.10.3 fixes bugs", with{"source": "Version 2.10.3 fixes bugs", "check": "both"}, nil, ""},
		{"v2.10.4", stored("Version 2.10.3"), nil, "the number 3 of"},
		{"at 15:30, 9:00 and 0:15", with{"source": "at 3:30 PM, 9 a.m. and 12:15 am", "check": "both"}, nil, ""},
		{"at 3:30 AM", stored("at 3:30 PM"), nil, "the number 3 of"},
		{"5-10 kg", with{"source": "5–10 kg", "check": "both"}, nil, ""},
		{"5-11 kg", stored("5–10 kg"), nil, "the number 10 of"},
		{"version 3.11", stored("version 3.10"), nil, "3.10"},
		{"10", stored("1,000"), nil, "1,000"},
		{"twelve", stored("12"), nil, "12"}, // numbers in words do not count
		{`{"a": [7, "8 of 9"]}`, with{"source": "7, 8 and 9", "check": "both"}, nil, ""},
		{`{"a": [7, "8 of 9"]}`, with{"source": "7 and 8", "check": "no_new"}, nil, "the number 9"},
	})
	if _, err := numbersKeptValidator.Bind(with{"source": "x", "check": "some"}); err == nil {
		t.Error("any check is fine")
	}
}

func TestLinksKept(t *testing.T) {
	source := "See [a](http://x/a), <http://x/b>, http://x/c and ![p](p.png).\n\n[d][r] [here](#here)\n\n[r]: http://x/d\n"
	judgeKept(t, linksKeptValidator, []keptCase{
		{source, with{"source": source}, nil, ""},
		{"Siehe [A](http://x/a), <http://x/b>, http://x/c, ![q](p.png), [D](http://x/d \"Titel\").", with{"source": source}, nil, ""},
		{"Siehe [A](http://x/a).", with{"source": source}, nil, `"http://x/b"`},
		{"[a](http://x/A) <http://x/b> http://x/c ![p](p.png) <http://x/d>", with{"source": source}, nil, `"http://x/a"`},
		{"[a](http://x/a) <http://x/b> http://x/c <http://x/d>", with{"source": source}, nil, `"p.png"`},
		{"[a](http://x/a)", with{"source": source, "check": "no_new"}, nil, ""},
		{"[a](http://y/a)", with{"source": source, "check": "no_new"}, nil, "http://y/a"},
		{"nothing", with{"source": "nothing"}, nil, ""},
		{"见http://x.org/a。（http://x.org/b）「http://x.org/c」，http://x.org/d，谢谢", with{"source": "http://x.org/a. (http://x.org/b), „http://x.org/c“ «http://x.org/d»", "check": "both"}, nil, ""},
		{"http://x.org/a_(b), **http://x.org/c** www.x.org/d", with{"source": "[a](http://x.org/a_(b)) (http://x.org/c) ‘www.x.org/d’", "check": "both"}, nil, ""},
		{"见http://x.org/a。", with{"source": "http://x.org/b."}, nil, "http://x.org/b"},
		{"https://zh.wikipedia.org/wiki/中文", with{"source": "https://zh.wikipedia.org/wiki/中国"}, nil, "wiki/中国"},
		{`See <a href="http://evil.org">a</a>.`, with{"source": "none", "check": "no_new"}, nil, `line 1: the link "http://evil.org" is not in the source`},
		{`a <img alt='x' src=p.png>`, with{"source": "none", "check": "no_new"}, nil, `"p.png"`},
		{"a\n\n<div>\n<a\n HREF = 'x.md'>b</a>\n</div>", with{"source": "none", "check": "no_new"}, nil, `"x.md"`},
		{`<div style="background: url(http://evil.org/p)">`, with{"source": "none", "check": "no_new"}, nil, `"http://evil.org/p"`},
		{"a", with{"source": `<p align="center"><img src="p.png"></p>`}, nil, `"p.png"`},
		{`<a href="http://x.org">a</a>`, with{"source": "[a](http://x.org)", "check": "both"}, nil, ""},
		{"[a](http://x.org/?a=1&b=2)", with{"source": `<a href="http://x.org/?a=1&amp;b=2">a</a>`, "check": "both"}, nil, ""},
		{"[a](http://x.org/?a=1&copy=2)", with{"source": "[a](http://x.org/?a=1&amp;copy=2)", "check": "both"}, nil, ""},
		{"[a](http://x.org/?a=1&b=3)", with{"source": "[a](http://x.org/?a=1&amp;b=2)"}, nil, "b=2"},
		{"a <!-- <a href=x.md> --> <a id=href name='src'> <a href='#top'>`<a href=y.md>`", with{"source": "none", "check": "no_new"}, nil, ""},
		{"<!-- <a href=x.md> -->", with{"source": "[x](x.md)"}, nil, "x.md"},
		{"| a |\n|---|\n| [b](y.md) ![c](z.png) |", with{"source": "none", "check": "no_new"}, nil, "y.md"},
		{"| a |\n|---|\n| [b](y.md \"t\") http://x.org/(a) <a href=w.md> |", with{"source": "[Y](y.md), http://x.org/(a), [w](w.md)", "check": "both"}, nil, ""},
	})
}

func TestSameStructure(t *testing.T) {
	source := "# A\n\n- a {{name}}\n- b\n  1. c\n\n## B\n\n```go\nx\n```\n\n%s and {{name}}\n"
	judgeKept(t, sameStructureValidator, []keptCase{
		{"# Ä\n\n* ä {{name}}\n* ö\n  1) ü\n\n## Ö\n\n~~~go\ny\n~~~\n\n{{name}}: %s\n", with{"source": source}, nil, ""},
		{strings.Replace(source, "## B", "# B", 1), with{"source": source}, nil, `headings: the source (2) has "##" in line 7, where the text (2) has "#"`},
		{strings.Replace(source, "## B", "B", 1), with{"source": source}, nil, "headings: the source has 2, the text 1"},
		{strings.Replace(source, "- b\n", "", 1), with{"source": source}, nil, "items of lists"},
		{strings.Replace(source, "  1. c", "  - c", 1), with{"source": source}, nil, "items of lists"},
		{strings.Replace(source, "  1. c", "- c", 1), with{"source": source}, nil, "items of lists"},
		{strings.Replace(source, "```go", "```", 1), with{"source": source}, nil, "code blocks"},
		{source + "\n```\nmore\n```\n", with{"source": source}, nil, "extra one"},
		{strings.Replace(source, "{{name}}", "{{Name}}", 1), with{"source": source}, nil, `the placeholder "{{name}}" of the source`},
		{source + "%d", with{"source": source}, nil, `"%d" is not in the source`},
		{strings.Replace(source, "and {{name}}", "", 1), with{"source": source}, nil, "not as often"},
		{"words", with{"source": "words"}, nil, ""},
		{"{{name}} {$a} { b } %@! %.2f %02d <%= c %> %D% {n, plural, one {# Brief}}", with{"source": "{{ name }} {$a} {b} %@ %.2f %02d <%= c %> %D% {n, plural, one {# letter}}"}, nil, ""},
		{"{$c}", with{"source": "{$a}"}, nil, `"{$a}"`},
		{"{prénoms}", with{"source": "{prénom}"}, nil, `"{prénom}"`},
		{"%.3f", with{"source": "%.2f"}, nil, `"%.2f"`},
		{"% zu", with{"source": "%@ to"}, nil, `"%@"`},
		{"<%= d %>", with{"source": "<%= c %>"}, nil, `"<%= c %>"`},
		{"{z, plural, one {# Brief}}", with{"source": "{n, plural, one {# letter}}"}, nil, `"{n, plural,"`},
		{"50% von 20 %, 100%ig", with{"source": "50% of 20%, 100%"}, nil, ""},
		{"Lieber <i>Leser</i><br> <name>", with{"source": "Dear <b>reader</b> <name>"}, nil, ""},
		{"<p>Cher {{ prénom }},</p>", with{"source": "<p>Dear {{ name }},</p>"}, nil, `"{{name}}" of the source`},
		{"<p class=a>\nCher <b>{{ name }}</b>,\n</p>", with{"source": "Dear {{ name }}"}, nil, ""},
		{"Voir <a href=\"{{ lien }}\">ici</a>", with{"source": "See <a href=\"{{ link }}\">here</a>"}, nil, `"{{link}}"`},
		{"Voir [ici](https://x.org/fr/{id})", with{"source": "See [here](https://x.org/en/{user})"}, nil, `"{user}"`},
		{"Voir [ici](https://x.org/fr/{id}?a=%20d) ![%s](x.png)", with{"source": "See [here](https://x.org/en/{id}) ![%s](x.png)"}, nil, ""},
		{"| [a]({x}) | b<br/>c |\n|---|---|\n| d | {y} |", with{"source": "| [a]({x}) | b<br>c |\n|---|---|\n| d | {y} |"}, nil, ""},
		{"| [a]({z}) |\n|---|", with{"source": "| [a]({x}) |\n|---|"}, nil, `"{x}"`},
	})
}
