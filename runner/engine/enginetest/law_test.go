package enginetest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner/engine/enginetest"
)

var (
	code     = regexp.MustCompile("(?ms)^(```.*?^```|    .*?)$")
	header   = regexp.MustCompile(`(?m)^\|.*\n\|[-|]+$`)
	row      = regexp.MustCompile(`(?m)^(?:\|.*|- |\d+\. )`)
	sentence = regexp.MustCompile(`(?s).+?(?:[.:](?:\[·\]\([^)]*\))*(?:\s+|$)|$)`)
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
	_, law, _ := strings.Cut(code.ReplaceAllString(page, ""), "\n## ")
	for section := range strings.SplitSeq(law, "\n##") {
		title, text, _ := strings.Cut(section, "\n")
		held(t, strings.TrimLeft(title, "# "), text)
	}
	for _, s := range enginetest.Stories(t) {
		if !strings.Contains(page, "/enginetest/testdata/"+s.Name+".txtar ") {
			t.Errorf("no sentence leads to the story %s", s.Name)
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
