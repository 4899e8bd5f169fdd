package enginetest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// unmarked are the sections of the page of the language whose sentences do not say
// yet which case holds them. The list only becomes shorter.
var unmarked = []string{
	"The file",
	"What a run is given",
	"The phase",
	"Context",
	"Validators",
	"Verdicts",
	"Personal data",
	"Credentials",
	"What a text is written in",
	"Several opinions",
	"Judges that wait",
	"Programs",
	"What programs see",
	"Wards",
	"Wards around tools",
	"Attempts and turns",
	"output_schema",
	"Where a run goes",
	"Phases without a model",
	"Tools",
	"Tools that want a receipt",
	"Tackle by id",
	"MCP servers",
	"Databases",
	"Soundings",
	"Models",
	"Asking a person",
	"Telling of a question",
	"Changing the text",
	"Templates",
	"Numbers",
	"Expressions",
	"The worst case",
}

var (
	code     = regexp.MustCompile("(?ms)^```.*?^```$")
	sentence = regexp.MustCompile(`(?s).*?[.:](?:\[·\]\([^)]*\))*(?:\s+|$)`)
	mark     = regexp.MustCompile(`\[·\]\(([^ )]+) "([^"]+)"\)`)
)

// What the page says of the language is held by a case, which the sentence leads
// to: a story, or a file with what lint says of it.
func TestLawHasCases(t *testing.T) {
	page, err := os.ReadFile("../../../docs/language.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mark.FindAllStringSubmatch(string(page), -1) {
		if _, err := os.Stat(filepath.Join("../../../docs", m[1])); err != nil || strings.TrimSuffix(filepath.Base(m[1]), ".txtar") != m[2] {
			t.Errorf("%s leads to no case: %v", m[0], err)
		}
	}
	var names []string
	for section := range strings.SplitSeq(code.ReplaceAllString(string(page), ""), "\n##") {
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
}

// held sees that every sentence of a section's paragraphs ends with a mark; those
// of tables and lists belong to the keys that they explain.
func held(t *testing.T, name, text string) {
	t.Helper()
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		paragraph = strings.TrimSpace(paragraph)
		if paragraph == "" || strings.HasPrefix(paragraph, "|") || strings.HasPrefix(paragraph, "- ") {
			continue
		}
		open := ""
		for _, s := range sentence.FindAllString(paragraph, -1) {
			if open += s; mark.MatchString(s) {
				open = ""
			} else if !strings.HasSuffix(strings.TrimSpace(s), ":") {
				t.Errorf("%s: no case holds %q", name, open)
				open = ""
			}
		}
		if open != "" {
			t.Errorf("%s: no case holds %q", name, open)
		}
	}
}
