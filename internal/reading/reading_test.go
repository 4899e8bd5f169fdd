package reading_test

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/internal/reading"
	"github.com/seed61713e19/capstan/internal/tables"
)

func read(t testing.TB, source string) *reading.Document {
	t.Helper()
	d, err := reading.Read(source)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

var kinds = []string{"paragraph", "heading", "item", "row", "code", "quote", "html", "rule", "footnote"}

func TestReadBlocks(t *testing.T) {
	for _, c := range []struct{ name, source, want string }{
		{"heading", "# The *big* one #\n", "heading 1 `# The *big* one #` The big one"},
		{"setext heading", "Two\nlines\n-----\n", "heading 2 `Two\nlines\n-----` Two\nlines"},
		{"paragraph", "one *two*\n__three__", "paragraph `one *two*\n__three__` one two\nthree"},
		{"items", "- a\n  1. b\n\n     c\n- d", "item 1 `a` a; item 2 `b` b; paragraph `c` c; item 1 `d` d"},
		{"quotation", "> # a\n> b\n> > c\n", "heading 1 `# a` a; quote `b` b; quote `c` c"},
		{"code", "```go x\na\n\tb\n```\n\n    c\n", "code `" + "```go x\na\n\tb\n```" + "` a\n\tb\n; code `c` c\n"},
		{"open code", "~~~\na", "code `~~~\na` a\n"},
		{"rows", "| a | **b** |\n|---|---|\n| 1 |\n| 2 | 3 | 4 |", "row `| a | **b** |` a | b; row 1 `| 1 |` 1; row 2 `| 2 | 3 | 4 |` 2 | 3 | 4"},
		{"rule and html", "***\n\n<p>a &amp;\n<i>b</i></p>\n", "rule `***` ; html `<p>a &amp;\n<i>b</i></p>` \na &\nb\n"},
		{"footnote", "a[^1]\n\n[^1]: b\n    c\n", "paragraph `a[^1]` a[^1]; footnote `b\n    c` b\nc"},
		{"escapes", `\*a\* &lt;b&gt; &nope; snake_case 2 * 3 * 4`, "paragraph `" + `\*a\* &lt;b&gt; &nope; snake_case 2 * 3 * 4` + "` *a* <b> &nope; snake_case 2 * 3 * 4"},
		{"nested emphasis", "***a** b* and **c*d** ~~e~~ ~5", "paragraph `***a** b* and **c*d** ~~e~~ ~5` a b and c*d e ~5"},
		{"emphasis and links", "*a [b* c](d) *e* [f](g)*", "paragraph `*a [b* c](d) *e* [f](g)*` a b* c e f"},
		{"json", " {\"a\": \"# b\"}\n", "code `{\"a\": \"# b\"}` {\"a\": \"# b\"}"},
		{"line ends of Windows", "# a\r\n\r\nb\r\nc\r\n", "heading 1 `# a` a; paragraph `b\r\nc` b\nc"},
		{"invalid bytes", "a \xff *b*\xc3", "paragraph `a \xff *b*\xc3` a \xff b\xc3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, b := range read(t, c.source).Blocks {
				level := ""
				if b.Level > 0 {
					level = fmt.Sprint(b.Level, " ")
				}
				got = append(got, fmt.Sprintf("%s %s`%s` %s", kinds[b.Kind], level, b.In(c.source), b.Text))
			}
			if got := strings.Join(got, "; "); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestReadContainers(t *testing.T) {
	d := read(t, "1. a\n\n> - b\n\n```json\n1\n```\n\n```\nopen")
	for i, want := range []string{"true false true", "false true true", "false false true", "false false false"} {
		b := d.Blocks[i]
		if got := fmt.Sprint(b.Ordered, b.Quoted, b.Closed); got != want {
			t.Errorf("%s: ordered, quoted, closed are %s, not %s", b.Text, got, want)
		}
	}
	if d.Blocks[2].Language != "json" {
		t.Errorf("the language is %q", d.Blocks[2].Language)
	}
}

// Every byte of a text leads back to its place in the source.
func TestBlockOffset(t *testing.T) {
	source := "# **a** b\n\n> x *y* `z` [l](t) &amp; \\* é\n> second _line_\n\n| c | d **e** f |\n|-|-|\n\n- i\n\n      code\n"
	for _, b := range read(t, source).Blocks {
		for i := range len(b.Text) {
			at, c := b.Offset(i), b.Text[i]
			entity := source[at] == '&' && c == '&'
			if source[at] != c && !entity && c != '\n' && !strings.Contains(" |", string(c)) {
				t.Errorf("byte %d of %q is %q in the source", i, b.Text, source[at])
			}
		}
	}
}

func TestReadInlines(t *testing.T) {
	source := "a `co*de` **s *e*** ~~d~~ [w *x*](/t \"i\") ![alt *y*](p.png) <https://b.example> <b>h</b> https://c.example/x_y."
	b := read(t, source).Blocks[0]
	var got []string
	for _, in := range b.Inlines {
		got = append(got, fmt.Sprintf("%d %s|%s|%s", in.Kind, in.Text.In(b.Text), in.In(source), in.Raw))
	}
	want := []string{
		"0 co*de|`co*de`|co*de", "2 s e|**s *e***|", "1 e|*e*|", "3 d|~~d~~|", "4 w x|[w *x*](/t \"i\")|", "1 x|*x*|", "5 |![alt *y*](p.png)|alt y",
		"6 https://b.example|<https://b.example>|https://b.example", "7 |<b>|<b>", "7 |</b>|</b>", "6 https://c.example/x_y|https://c.example/x_y|https://c.example/x_y",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestReadHeadings(t *testing.T) {
	source := "intro\n\n# A\n\na\n\n## B\n\nb\n\n> # quoted\n\n### C\n## D\n# E\n"
	d := read(t, source)
	var got []string
	for _, h := range d.Headings {
		got = append(got, fmt.Sprintf("%d %s %q", h.Level, h.Title, h.Section.In(source)))
	}
	want := []string{
		`1 A "# A\n\na\n\n## B\n\nb\n\n> # quoted\n\n### C\n## D\n"`, `2 B "## B\n\nb\n\n> # quoted\n\n### C\n"`, `3 C "### C\n"`, `2 D "## D\n"`, `1 E "# E\n"`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %s", strings.Join(got, "\n"))
	}
	if h := d.HeadingAt(strings.Index(source, "quoted")); h == nil || h.Title != "B" {
		t.Errorf("the heading above the quotation is %v", h)
	}
	if h := d.HeadingAt(0); h != nil {
		t.Errorf("the heading above the introduction is %v", h)
	}
	if line, column := d.Position(strings.Index(source, "quoted")); line != 11 || column != 5 {
		t.Errorf("the quotation is at %d:%d", line, column)
	}
}

func TestReadFrontMatter(t *testing.T) {
	for source, want := range map[string]string{
		"---\ntitle: a\n# note\nlist:\n  - b\n---\n# c\n": "title: a\n# note\nlist:\n  - b\n",
		"\uFEFF---\r\ntitle: a\r\n...\r\ntext":            "title: a\r\n",
		"---\nno key here\n---\n":                         "",
		"---\n\na\n\n---\n":                               "",
		"text\n---\ntitle: a\n---\n":                      "",
		"---\ntitle: a\n":                                 "",
	} {
		d := read(t, source)
		if got := d.Front != nil; got != (want != "") {
			t.Errorf("%q: front matter is %v", source, d.Front)
		} else if got && d.Front.YAML.In(source) != want {
			t.Errorf("%q: got %q", source, d.Front.YAML.In(source))
		}
	}
	if d := read(t, "---\na: b\n---\n# c\n"); len(d.Blocks) != 1 || d.Blocks[0].Start != 13 {
		t.Errorf("front matter is a block, or moves the others: %+v", d.Blocks)
	}
}

// A value is the number behind a label; of an equation it is the last one.
func TestValueOf(t *testing.T) {
	about := func(word string) bool { return word == "about" }
	for text, want := range map[string]string{
		"23.45": "23.45 2", "$1,851,425K / 14,500K shares": "none", "1.0 + 1.0 = 2.0": "2 1", "about NOK 74": "74 0", "some NOK 74": "none",
		"£7.25 → £6.98": "6.98 2", "(12.5)": "-12.5 1", "US$ 3": "3 0", "Equity / FDSO": "none", "1,200": "1200 0", "7.25, so it is = 3": "7.25 2",
		"(4.5% + 2.6 × 5.0%) = 17.5%": "17.5 1", "> 3": "none", "12 % - 14 %": "none",
	} {
		got := "none"
		if v := reading.ValueOf(text, about); v != nil {
			got = fmt.Sprintf("%g %d", v.Value, v.Decimals)
		}
		if got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

func TestCutLabel(t *testing.T) {
	for line, want := range map[string]string{
		"Decision: APPROVE": "Decision|APPROVE", "IVPS = 3": "IVPS|3", "决定：批准": "决定|批准", "He left. Then: no": "", "at 12:30": "", "12: y": "", "no label": "",
	} {
		label, value, found := reading.CutLabel(line)
		if got := strings.TrimSpace(label) + "|" + value; found != (want != "") || found && got != want {
			t.Errorf("%q: got %q %t", line, got, found)
		}
	}
}

func TestReadJSON(t *testing.T) {
	source := "> ```json\n> {\"a\": 1,\n>  \"a\": 2}\n> ```\n\n```\n[1, 2]\n```\n\n```\nls {x}\n```\n\n```JSON\n{\"b\":\n```\n\n- ```json\n  {\"c\": }\n  ```\n"
	d := read(t, source)
	var got []string
	for _, j := range d.JSON {
		at := ""
		if j.Err != nil {
			line, column := d.Position(j.At)
			at = fmt.Sprintf(" %d:%d %v", line, column, j.Err)
		}
		got = append(got, fmt.Sprintf("%d %v%s", j.Block, j.Value, at))
	}
	want := []string{
		`0 <nil> 3:4 $.a: the key "a" appears twice`, "1 [1 2]", "3 <nil> 15:6 line 1, column 6: the JSON ends too early",
		"4 <nil> 19:9 line 1, column 7: missing value after key",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
	if whole := read(t, " [1, {\"a\": 2}] ").Whole(); whole == nil || fmt.Sprint(whole.Value) != "[1 map[a:2]]" {
		t.Errorf("got %v", whole)
	}
	if d := read(t, "{\"a\": 1"); d.Whole() != nil || len(d.JSON) != 1 || d.JSON[0].At != 7 || d.Blocks[0].Kind != reading.ParagraphBlock {
		t.Errorf("got %+v", d.JSON)
	}
	if d := read(t, "[a](b)"); len(d.JSON) != 0 || len(d.Links) != 1 {
		t.Errorf("a link is JSON: %+v", d.JSON)
	}
}

func TestReadLinks(t *testing.T) {
	source := "[a](/b 'c') [d][e] [e] ![f](g) <http://h.example> (see www.i.example/j_(k)), `http://no.example`\n\n[e]: <l m> \"n\"\n\n<a href='o&amp;p'>q</a> <img src=r>\n\n| [s](t) |\n|---|\n"
	var got []string
	for _, l := range read(t, source).Links {
		got = append(got, fmt.Sprintf("%s>%s>%s %v%v%v %s", l.Text, l.Target, l.Title, l.Image, l.HTML, l.Bare, l.In(source)))
	}
	want := []string{
		"a>/b>c falsefalsefalse [a](/b 'c')", "d>l m>n falsefalsefalse [d][e]", "e>l m>n falsefalsefalse [e]", "f>g> truefalsefalse ![f](g)",
		"http://h.example>http://h.example> falsefalsefalse <http://h.example>", "www.i.example/j_(k)>www.i.example/j_(k)> falsefalsetrue www.i.example/j_(k)",
		">o&p> falsetruefalse <a href='o&amp;p'>", ">r> truetruefalse <img src=r>", "s>t> falsefalsefalse [s](t)",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}

func TestReadTables(t *testing.T) {
	source := "above\n| a | b `c` |\n|:--|--:|\n| 1 | *2* |\n| 3 \\| 4 |\n"
	d := read(t, source)
	if len(d.Tables) != 1 || len(d.Tables[0].Rows) != 2 {
		t.Fatalf("got %+v", d.Tables)
	}
	table := d.Tables[0]
	if c := table.Rows[0][1]; c.Text != "2" || c.In(source) != "*2*" || table.Header[0].Text != "a" || table.Rows[1][0].Text != "3 | 4" {
		t.Errorf("got %+v", table)
	}
	if d.Blocks[table.Block].Text[:1] != "a" || table.In(source) != source[len("above\n"):len(source)-1] {
		t.Errorf("the table is %q", table.In(source))
	}
}

func TestSentences(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"One. Two! Three? four… Five", "One.|Two!|Three?|four…|Five"},
		{"He said \"Go.\" Then (he left.) 3.5 is a.b one.", `He said "Go."|Then (he left.)|3.5 is a.b one.`},
		{"A. Hale agrees. So do I. He too.", "A. Hale agrees.|So do I.|He too."},
		{"Line one.\nLine two\n\nLine three", "Line one.|Line two|Line three"},
		{"一句。二句！", "一句。|二句！"},
		{"  ", ""},
	} {
		d := read(t, c.text)
		var got []string
		for _, s := range d.Sentences(reading.Span{Start: 0, End: len(c.text)}) {
			got = append(got, s.In(c.text))
		}
		if got := strings.Join(got, "|"); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

// Each row of the table has a line of one sentence and a line of two.
func TestAbbreviationRows(t *testing.T) {
	table, err := os.ReadFile("tables/abbreviations.tsv")
	if err != nil {
		t.Fatal(err)
	}
	err = tables.Check(string(table), func(row tables.Row, line string) bool {
		d := read(t, line)
		n := len(d.Sentences(reading.Span{Start: 0, End: len(d.Source)}))
		return n == 1 && strings.Contains(strings.ToLower(line), strings.ToLower(row["word"]))
	})
	if err != nil {
		t.Error(err)
	}
}

func TestOfReadsOnce(t *testing.T) {
	ctx := new(reading.Cache).In(t.Context())
	first, err := reading.Of(ctx, "# a")
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := reading.Of(ctx, string([]byte("# a"))); again != first {
		t.Error("the same text was read twice")
	}
	if other, _ := reading.Of(new(reading.Cache).In(ctx), "# a"); other == first {
		t.Error("two attempts share a document")
	}
	if _, err := reading.Of(ctx, strings.Repeat("a", 2<<20)); err == nil {
		t.Error("a text of 2 MiB was read")
	}
}

// At a quadratic rate these would take hours.
func TestReadIsLinear(t *testing.T) {
	units := []string{"{", "`", "[", "](", "[[", "![", "*", "_a", "*a **b ", "~~", "~~a ", "<a", "<!--", "<script>", "<script></script>", "&", "&amp;", "> ", "- ", "1. ", "# ", "|", "|-", "|a|b|\n|-|-|\n", "a: b\n",
		"a = 1 ", "=", "**a** = 1 ", "1,2", "1 ", "1-", "٣", "[^a]: ", "[^a]:\n", "[a]: b\n", "[a](b)", "[a](b \"(\") ", "http://a)", "http://a.b ", "www.", "a. ", "\n", "\xff", "```\n", "```json\n{\n```\n", "---\n", "{\"a\":", "\\", "ªa_*"}
	for _, unit := range units {
		for _, lead := range []string{"x\n"} {
			source := lead + strings.Repeat(unit, (1<<18-len(lead))/len(unit))
			begun := time.Now()
			d, err := reading.Read(source)
			if err == nil {
				d.Sentences(reading.Span{Start: 0, End: len(source)})
				reading.Numbers(source)
			}
			if took := time.Since(begun); took > 30*time.Second {
				t.Errorf("256 KiB of %q took %v (%v)", unit, took, err)
			}
		}
	}
	if _, err := reading.Read(strings.Repeat("a", 20<<20)); err == nil {
		t.Error("a line of 20 MiB was read")
	}
	if d := read(t, "{\"a\": \""+strings.Repeat("a", 20<<20)+"\"}"); d.Whole() == nil {
		t.Error("JSON of 20 MiB was not read")
	}
}

// Every span of a document is a part of its source, in order, and reading is repeatable.
func FuzzRead(f *testing.F) {
	for _, s := range []string{"# a\n\n- b: *c*\n\n| d |\n|-|\n| e = 1 |\n", "---\na: b\n---\n> ```json\n> {\n", "[a](b) ![*c*](d) <e> `f` ~~g~~ http://h.i\n\n[^1]: j", "\t- a\n\t\tb\n  ***c* d**\n=\n", "<a href='b\n<!-- c -->&amp;\n\n<script>x</script>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) {
		d, err := reading.Read(source)
		if err != nil {
			return
		}
		inside := func(what string, s reading.Span, in string) {
			if s.Start < 0 || s.End < s.Start || s.End > len(in) {
				t.Fatalf("%s of %q is %v", what, source, s)
			}
		}
		last := 0
		for _, b := range d.Blocks {
			inside("block", b.Span, source)
			if b.Start < last {
				t.Fatalf("the blocks of %q are out of order", source)
			}
			last = b.Start
			for _, in := range b.Inlines {
				inside("inline", in.Span, source)
				inside("inline text", in.Text, b.Text)
			}
			for i := range b.Text {
				if at := b.Offset(i); at < 0 || at > len(source) {
					t.Fatalf("byte %d of a block of %q is at %d", i, source, at)
				}
			}
		}
		for _, h := range d.Headings {
			inside("heading", h.Span, source)
			inside("section", h.Section, source)
		}
		for _, l := range d.Links {
			inside("link", l.Span, source)
		}
		for _, j := range d.JSON {
			inside("JSON", j.Span, source)
		}
		for _, s := range d.Sentences(reading.Span{Start: 0, End: len(source)}) {
			inside("sentence", s, source)
		}
		for _, n := range reading.Numbers(source) {
			inside("number", n.Span, source)
		}
		reading.ValueOf(source, func(string) bool { return true })
		reading.CutLabel(source)
		again, err := reading.Read(source)
		if err != nil || !reflect.DeepEqual(again, d) {
			t.Fatalf("%q is read in two ways", source)
		}
	})
}
