package builtins

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/validators"
)

func TestWords(t *testing.T) {
	for text, want := range map[string][]string{
		"":                              nil,
		"  a, b;c ":                     {"a", "b", "c"},
		"don't e-mail o’clock":          {"don't", "e-mail", "o’clock"},
		"'quoted' -x- a--b _y_":         {"quoted", "x", "a", "b", "y"},
		"snake_case 3.14":               {"snake_case", "3", "14"},
		"日本ab語":                         {"日", "本", "ab", "語"},
		"naïve cafe\u0301":              {"naïve", "cafe\u0301"},
		"a\xffb":                        {"a", "b"},
		"한국어 문장":                        {"한국어", "문장"},
		"❤\ufe0f ❤\ufe0f #\ufe0f\u20e3": nil,
		"1\ufe0f\u20e3 x":               {"1\ufe0f\u20e3", "x"},
		"می\u200cخواهم، نمی\u200cخواهم":            {"می\u200cخواهم", "نمی\u200cخواهم"},
		"co\u00adoperate\u00ad a\u200bb क्\u200dष": {"co\u00adoperate", "a", "b", "क्\u200dष"},
	} {
		var got []string
		for at, word := range words(text) {
			if !strings.HasPrefix(text[at:], word) {
				t.Errorf("%q: %q is not at %d", text, word, at)
			}
			got = append(got, word)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestFold(t *testing.T) {
	f := fold("One\r\n\r\n  TWO\tthree\n\nFOUR Straße ")
	if f.text != "one two three four strasse" {
		t.Errorf("got %q", f.text)
	}
	for word, line := range map[string]int{"one": 1, "two": 3, "three": 3, "four": 5, "strasse": 5} {
		if got := f.line(f.find(word)); got != line {
			t.Errorf("%s: got line %d, want %d", word, got, line)
		}
	}
	for _, absent := range []string{"tw", "hre", "", "four  strasse"} {
		if at := f.find(absent); at >= 0 {
			t.Errorf("%q was found at %d", absent, at)
		}
	}
}

func TestRegister(t *testing.T) {
	mine := validators.NewJudge("mine_alone", "Validates nothing", "none")
	before := len(Default().List())
	done := make(chan struct{})
	go func() { Register(mine); close(done) }()
	Default()
	<-done
	if v, err := Default().Find("mine_alone"); err != nil || v.Name != mine.Name {
		t.Errorf("got %v, %v", v.Name, err)
	}
	if got := len(Default().List()); got != before+1 {
		t.Errorf("%d validators, before %d", got, before)
	}
	if _, err := Default().Find("non_empty"); err != nil {
		t.Error(err)
	}
}

func TestJudges(t *testing.T) {
	for _, v := range judges() {
		if len(v.Criteria) < 100 {
			t.Errorf("%s has the criteria %q", v.Name, v.Criteria)
		}
	}
	v, err := Default().Find("grammar_check")
	if err != nil || v.Description != "Validates grammar and spelling in text" {
		t.Errorf("got %q, %v", v.Description, err)
	}
}

// TestMarkdownTangles checks that Markdown is rejected at once if parsing takes hours. Large but
// sound Markdown is read.
func TestMarkdownTangles(t *testing.T) {
	check, err := markdownValidator.Bind(nil)
	if err != nil {
		t.Fatal(err)
	}
	nested := strings.Builder{}
	for i := 0; nested.Len() < 1<<17; i++ {
		nested.WriteString(strings.Repeat("  ", i) + "- a\n")
	}
	for name, c := range map[string]struct {
		text string
		read bool
	}{
		"links":       {strings.Repeat("[a](", 1<<17), false},
		"definitions": {strings.Repeat("[a]: x\n", 1<<16), false},
		"brackets":    {strings.Repeat("[", 1<<18) + strings.Repeat("]", 1<<18), false},
		"quotes":      {strings.Repeat("> ", 1<<18), false},
		"bullets":     {strings.Repeat("- ", 1<<18) + "a", false},
		"numbers":     {strings.Repeat("1. ", 1<<17) + "a", false},
		"stars":       {strings.Repeat("* ", 1<<18) + "a", false},
		"too long":    {strings.Repeat("word ", 1<<18), false},
		"emphasis":    {strings.Repeat("*a_b_", 1<<17), true},
		"rules":       {strings.Repeat(strings.Repeat("-", 200)+"\n\n", 2000), true},
		"nested list": {nested.String(), true},
		"code":        {"```\n" + strings.Repeat("x[i] = y[j](z)\n", 3000) + "```\n", true},
		"paragraphs":  {strings.Repeat("Some [words](https://example.com) here.\n\n", 20000), true},
	} {
		start := time.Now()
		v, err := check(t.Context(), validators.Subject{Content: c.text})
		if took := time.Since(start); took > time.Minute {
			t.Errorf("%s: took %s", name, took)
		}
		refused := strings.Contains(v.Reason, "read")
		if err != nil || refused == c.read {
			t.Errorf("%s: got %s, %v", name, quote(v.Reason), err)
		}
	}
}

func FuzzMarkdown(f *testing.F) {
	for _, text := range []string{"# a\n\n[b](#a)\n\n```\n", ">\t#", "- > 1. [x](y 'z') ![", "a](b \\](c\n===\n|a|\n|-|\n|`](`|", "<a id=x>[k](#x)</a>\n\n<div id='y'>\n[l](#y)"} {
		f.Add(text)
	}
	check, err := markdownValidator.Bind(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		start := time.Now()
		v, err := check(t.Context(), validators.Subject{Content: text})
		if err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if !v.Valid && (v.Reason == "" || len(v.Issues) == 0) {
			t.Errorf("%q: got %+v", text, v)
		}
		if took := time.Since(start); took > time.Minute {
			t.Errorf("%d bytes took %s", len(text), took)
		}
	})
}

// pages returns the text of the pages in docs.
func pages(b *testing.B) string {
	names, err := filepath.Glob("../../docs/*/*.md")
	if err != nil {
		b.Fatal(err)
	}
	var all strings.Builder
	for _, name := range names {
		page, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		all.Write(page)
	}
	return all.String()
}

// BenchmarkBuiltins runs the computed validators on 100 KB of the documentation: prose, tables
// and code. Validators that compare with a source use the same text as the source.
func BenchmarkBuiltins(b *testing.B) {
	essay := pages(b)[:100<<10]
	s := validators.Subject{Content: essay, Input: map[string]any{"source": strings.Repeat("Another text that has other words in it altogether. ", 200)}}
	for name, with := range map[string]map[string]any{
		"non_empty": nil, "max_length": {"max": 200000}, "word_count": {"min": 10}, "contains": {"text": "zebra"}, "regexp": {"pattern": "(?i)zebra|quagga"},
		"keywords": {"all": []any{"fox", "lazy dog", "zebra"}}, "markdown": nil, "no_secrets": nil, "input_sanitizer": nil, "similar_to_input": nil,
		"presentable": nil, "language": {"in": []any{"en"}}, "pii": nil, "cites": {"source": essay},
		"numbers_kept": {"source": essay}, "links_kept": {"source": essay}, "same_structure": {"source": essay},
	} {
		v, err := validators.NewSet(All()...).Find(name)
		if err != nil {
			b.Fatal(err)
		}
		check, err := v.Bind(with)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(essay)))
			for b.Loop() {
				if _, err := check(b.Context(), s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
