package cascades

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/templates"
	"github.com/seed61713e19/capstan/validators/expressions"
)

// TestLanguagePage holds that every cascade in docs/language.md parses.
func TestLanguagePage(t *testing.T) {
	page, err := os.ReadFile("../docs/language.md")
	if err != nil {
		t.Fatal(err)
	}
	beside := files(map[string]string{
		"research.yaml":   "cascade_id: research\ninputs_schema: {question: What to look for}\nphases: [{name: look, instructions: \"{{ input.question }}\"}]",
		"fact_check.yaml": "cascade_id: fact_check\nphases: [{name: check, instructions: \"{{ input.claim }}\"}]",
	})
	blocks := regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$").FindAllSubmatchIndex(page, -1)
	if len(blocks) < 9 {
		t.Fatalf("only %d cascades", len(blocks))
	}
	for _, b := range blocks {
		name := fmt.Sprintf("language.md, line %d", 1+strings.Count(string(page[:b[2]]), "\n"))
		if _, err := Parse(name, page[b[2]:b[3]], beside, known()); err != nil {
			t.Error(err)
		}
	}
}

// TestLanguagePageLists holds that the page has every key of every mapping, and
// that its lists of filters and functions are true.
func TestLanguagePageLists(t *testing.T) {
	page, err := os.ReadFile("../docs/language.md")
	if err != nil {
		t.Fatal(err)
	}
	_, root := schemaOfCascades(t)
	for key, at := range keysOf(root, "the file") {
		if !strings.Contains(string(page), "`"+key+"`") {
			t.Errorf("the page has no `%s` of %s", key, at)
		}
	}
	words := func(from, to string) []string {
		_, rest, _ := strings.Cut(string(page), from)
		list, _, _ := strings.Cut(rest, to)
		var out []string
		for _, m := range regexp.MustCompile("`([A-Za-z]+)`").FindAllStringSubmatch(list, -1) {
			out = append(out, m[1])
		}
		if len(out) < 20 {
			t.Errorf("only %q between %q and %q", out, from, to)
		}
		return out
	}
	for _, filter := range words("Filters:\n", "\nAll of") {
		if _, err := templates.Parse("{{ x | " + filter + " }}"); err != nil && strings.Contains(err.Error(), "unknown filter") {
			t.Error(err)
		}
	}
	for _, name := range words("?.` and `??` guard.", "are what they may call") {
		_, err := expressions.Parse(name + "(content)")
		if err != nil && (strings.Contains(err.Error(), "unknown") || strings.Contains(err.Error(), "not available")) {
			t.Error(err)
		}
	}
}

// keysOf are the keys of every mapping within a JSON Schema, each with one that
// has it.
func keysOf(at any, name string) map[string]string {
	all := map[string]string{}
	switch at := at.(type) {
	case []any:
		for _, one := range at {
			maps.Copy(all, keysOf(one, name))
		}
	case map[string]any:
		for word, below := range at {
			within, _ := below.(map[string]any)
			switch word {
			case "const", "enum", "default", "examples":
			case "properties", "$defs":
				for key, one := range within {
					if word == "properties" {
						all[key] = name
					}
					maps.Copy(all, keysOf(one, key))
				}
			default:
				maps.Copy(all, keysOf(below, name))
			}
		}
	}
	return all
}
