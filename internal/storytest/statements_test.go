package storytest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/storytest"
)

const (
	root   = "../.."
	pages  = root + "/docs/reference"
	tables = "testdata/statements.tsv"
)

// languagePages are the pages that describe the cascade language.
var languagePages = []string{
	"cascade.md", "phase.md", "context.md", "wards.md", "rules.md", "validators.md", "tools.md", "models.md", "soundings.md", "human-input.md",
	"templates.md", "expressions.md", "hooks.md",
}

// otherSections are the sections of these pages that do not describe the
// language. Other tests compare them with the programs.
var otherSections = []string{
	"validators.md#built-in-validators", "tools.md#built-in-tools", "models.md#names-of-models", "models.md#another-model-than-in-the-file",
	"models.md#providers", "models.md#differences-of-providers", "models.md#complete-answers",
	"models.md#parameters-that-an-endpoint-refuses", "models.md#tokens-and-cost", "models.md#check-the-setup-doctor",
}

// TestStatementsHaveCases compares the statements of the language pages with
// the table of statements. Each statement has a case: a transcript, a script, a
// file with its diagnostics, or a Go test. Each transcript is the case of a
// statement. With -update, the table gets the statements of the pages, and a
// changed statement has no case.
func TestStatementsHaveCases(t *testing.T) {
	cases, sections := readStatements(t), map[string]bool{}
	var lines []string
	for _, page := range languagePages {
		text, err := os.ReadFile(filepath.Join(pages, page))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range statementsOf(page, string(text)) {
			key := s.section + "\t" + s.text
			if sections[s.section] = true; slices.Contains(otherSections, s.section) {
				continue
			}
			lines = append(lines, key+"\t"+cases[key])
			if cases[key] == "" {
				t.Errorf("%s: no case for %q", s.section, s.text)
			}
			delete(cases, key)
		}
	}
	for key := range cases {
		t.Errorf("%s: the page does not have this statement", key)
	}
	for _, section := range otherSections {
		if !sections[section] {
			t.Errorf("%s is no section", section)
		}
	}
	checkCases(t, lines)
	if *update {
		if err := os.WriteFile(tables, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// checkCases checks that each case exists, and that each transcript is a case.
func checkCases(t *testing.T, lines []string) {
	t.Helper()
	used := map[string]bool{}
	for _, line := range lines {
		for _, name := range strings.Fields(line[strings.LastIndex(line, "\t"):]) {
			used[name] = true
		}
	}
	for name := range used {
		path, test, _ := strings.Cut(name, ":")
		text, err := os.ReadFile(filepath.Join(root, path))
		switch {
		case err != nil:
			t.Error(err)
		case strings.HasSuffix(path, "_test.go") && (test == "" || !strings.Contains(string(text), "\nfunc "+test+"(")):
			t.Errorf("%s is no test", name)
		}
	}
	for _, s := range storytest.Stories(t) {
		if !used["internal/storytest/testdata/"+s.Name+".txtar"] {
			t.Errorf("the transcript %s is the case of no statement", s.Name)
		}
	}
}

// readStatements returns the cases of the table by section and statement.
func readStatements(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(tables)
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]string{}
	for line := range strings.Lines(string(text)) {
		columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(columns) != 3 {
			t.Fatalf("%s: %d columns in %q", tables, len(columns), line)
		}
		key := columns[0] + "\t" + columns[1]
		if _, twice := cases[key]; twice {
			t.Errorf("%s: two rows for %q", tables, key)
		}
		cases[key] = columns[2]
	}
	return cases
}

type statement struct{ section, text string }

var (
	builtin    = regexp.MustCompile(`(?s)<!-- built-in .*?<!-- end of built-in [^>]*-->\n`)
	comment    = regexp.MustCompile(`<!--.*?-->\n`)
	code       = regexp.MustCompile("(?ms)^(```.*?^```|    [^\n]*)$")
	header     = regexp.MustCompile(`(?m)^\|.*\n\|[-|]+$`)
	item       = regexp.MustCompile(`(?m)^(?:\|.*|- |\d+\. )`)
	listMark   = regexp.MustCompile(`^(?:- |\d+\. )`)
	cell       = regexp.MustCompile(`^\| ((?:[^|\\]|\\.)*?) \|`)
	sentence   = regexp.MustCompile(`(?s).+?(?:[.:](?:\s+|$)|$)`)
	link       = regexp.MustCompile(`\[([^\]]*)\]\([^)\s]*\)`)
	notInLinks = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// statementsOf returns the statements of a page below its introduction: the
// first cell of each table row, and each sentence of the text. A sentence that
// ends with a colon belongs to the next sentence.
func statementsOf(page, text string) (all []statement) {
	text = comment.ReplaceAllString(code.ReplaceAllString(builtin.ReplaceAllString(text, ""), ""), "\n")
	_, text, _ = strings.Cut(text, "\n## ")
	for part := range strings.SplitSeq(text, "\n##") {
		title, body, _ := strings.Cut(part, "\n")
		title = strings.ToLower(link.ReplaceAllString(strings.TrimLeft(title, "# "), "$1"))
		section := fmt.Sprintf("%s#%s", page, strings.ReplaceAll(notInLinks.ReplaceAllString(title, ""), " ", "-"))
		body = item.ReplaceAllString(header.ReplaceAllString(body, ""), "\n\n$0")
		for paragraph := range strings.SplitSeq(body, "\n\n") {
			for _, s := range sentencesOf(strings.TrimSpace(paragraph)) {
				plain := strings.Join(strings.Fields(link.ReplaceAllString(s, "$1")), " ")
				all = append(all, statement{section, plain})
			}
		}
	}
	return all
}

func sentencesOf(paragraph string) (all []string) {
	if m := cell.FindStringSubmatch(paragraph); m != nil {
		return m[1:]
	}
	open := ""
	for _, s := range sentence.FindAllString(listMark.ReplaceAllString(paragraph, ""), -1) {
		if open += s; !strings.HasSuffix(strings.TrimSpace(s), ":") {
			all, open = append(all, open), ""
		}
	}
	return all
}
