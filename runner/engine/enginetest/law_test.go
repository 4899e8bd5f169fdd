package enginetest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner/engine/enginetest"
)

// unmarked are the sections of the page of the language whose sentences do not say
// yet which case holds them. The list only becomes shorter.
var unmarked = []string{
	"Asking a person",
	"Telling of a question",
	"Changing the text",
	"Templates",
	"Numbers",
	"Expressions",
	"The worst case",
}

var (
	code     = regexp.MustCompile("(?ms)^(```.*?^```|    .*?)$")
	header   = regexp.MustCompile(`(?m)^\|.*\n\|[-|]+$`)
	row      = regexp.MustCompile(`(?m)^(?:\|.*|- |\d+\. )`)
	sentence = regexp.MustCompile(`(?s).*?[.:](?:\[·\]\([^)]*\))*(?:\s+|$)`)
	mark     = regexp.MustCompile(`\[·\]\(([^ )]+) "([^"]+)"\)`)
)

// What the page says of the language is held by a case, which the sentence leads
// to: a story, a script, a file with what lint says of it, or a test. No story is
// without a sentence: what it tells is the language's.
func TestLawHasCases(t *testing.T) {
	file, err := os.ReadFile("../../../docs/language.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(file)
	for _, m := range mark.FindAllStringSubmatch(page, -1) {
		if !leads(m[1], m[2]) {
			t.Errorf("%s leads to no case", m[0])
		}
	}
	var names []string
	for section := range strings.SplitSeq(code.ReplaceAllString(page, ""), "\n##") {
		title, text, _ := strings.Cut(section, "\n")
		name := strings.TrimLeft(title, "# ")
		names = append(names, name)
		if !slices.Contains(unmarked, name) && len(names) > 1 {
			held(t, name, text)
		}
	}
	for _, name := range unmarked {
		if !slices.Contains(names, name) {
			t.Errorf("there is no section %q", name)
		}
	}
	if len(unmarked) == 0 {
		for _, s := range enginetest.Stories(t) {
			if !strings.Contains(page, "/enginetest/testdata/"+s.Name+".txtar ") {
				t.Errorf("no sentence leads to the story %s", s.Name)
			}
		}
	}
}

// leads tells whether a mark leads to a case: to the file of its name, or to a
// file that has the test of that name.
func leads(path, name string) bool {
	text, err := os.ReadFile(filepath.Join("../../../docs", path))
	if strings.HasSuffix(path, "_test.go") {
		return strings.Contains(string(text), "\nfunc "+name+"(")
	}
	return err == nil && strings.TrimSuffix(filepath.Base(path), ".txtar") == name
}

// held sees that every sentence of a section has a mark, in paragraphs and lists
// at its end, in a table anywhere in its row.
func held(t *testing.T, name, text string) {
	t.Helper()
	text = row.ReplaceAllString(header.ReplaceAllString(text, ""), "\n\n$0")
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		paragraph = strings.TrimSpace(row.ReplaceAllStringFunc(paragraph, func(s string) string {
			return strings.TrimLeft(s, "-0123456789. ")
		}))
		sentences := sentence.FindAllString(paragraph, -1)
		if strings.HasPrefix(paragraph, "|") {
			sentences = []string{paragraph}
		}
		open := ""
		for _, s := range sentences {
			if open += s; mark.MatchString(s) {
				open = ""
			} else if !strings.HasSuffix(strings.TrimSpace(s), ":") {
				t.Errorf("%s: no case holds %q", name, open)
				open = ""
			}
		}
	}
}
