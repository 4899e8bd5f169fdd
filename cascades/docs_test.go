package cascades

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/expressions"
	"github.com/seed61713e19/capstan/templates"
)

// referencePages returns the pages of docs/reference by name.
func referencePages(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, name := range glob(t, "../docs/reference/*.md") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(name)] = string(text)
	}
	return all
}

// cascadesOnPages returns the cascades in the code blocks of the reference pages.
func cascadesOnPages(t *testing.T) map[string]string {
	t.Helper()
	all, block := map[string]string{}, regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$")
	for page, text := range referencePages(t) {
		for _, b := range block.FindAllStringSubmatchIndex(text, -1) {
			if source := text[b[2]:b[3]]; strings.Contains(source, "cascade_id:") {
				all[fmt.Sprintf("%s, line %d", page, 1+strings.Count(text[:b[2]], "\n"))] = source
			}
		}
	}
	return all
}

// besidePages opens the files that the examples of the pages name.
func besidePages() func(string) ([]byte, error) {
	return files(map[string]string{
		"research.yaml":   "cascade_id: research\ninputs_schema: {question: What to look for}\nphases: [{name: look, instructions: \"{{ input.question }}\"}]",
		"fact_check.yaml": "cascade_id: fact_check\nphases: [{name: check, instructions: \"{{ input.claim }}\"}]",
	})
}

// TestPageCascades parses every cascade on the reference pages.
func TestPageCascades(t *testing.T) {
	all := cascadesOnPages(t)
	if len(all) < 25 {
		t.Fatalf("only %d cascades", len(all))
	}
	for name, source := range all {
		if _, err := Parse(name, []byte(source), besidePages(), known()); err != nil {
			t.Error(err)
		}
	}
}

// TestPageLists checks the lists of filters and functions on the pages.
func TestPageLists(t *testing.T) {
	pages := referencePages(t)
	for _, filter := range listAfter(t, pages["templates.md"], "Filters:\n") {
		if _, err := templates.Parse("{{ x | " + filter + " }}"); err != nil && strings.Contains(err.Error(), "unknown filter") {
			t.Error(err)
		}
	}
	for _, name := range listAfter(t, pages["expressions.md"], "Functions:\n") {
		_, err := expressions.Parse(name + "(content)")
		if err != nil && (strings.Contains(err.Error(), "unknown") || strings.Contains(err.Error(), "not available")) {
			t.Error(err)
		}
	}
}

// listAfter returns the names in the paragraph that begins with a line.
func listAfter(t *testing.T, page, line string) (names []string) {
	t.Helper()
	_, rest, _ := strings.Cut(page, line)
	list, _, _ := strings.Cut(rest, "\n\n")
	for _, m := range regexp.MustCompile("`([A-Za-z]+)`").FindAllStringSubmatch(list, -1) {
		names = append(names, m[1])
	}
	if len(names) < 20 {
		t.Errorf("only %q after %q", names, line)
	}
	return names
}
