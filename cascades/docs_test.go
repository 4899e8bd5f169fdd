package cascades

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
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

// tables are those of keys: what has them, and the rows.
var tables = regexp.MustCompile("(?m)^\\| key of (.*) \\| \\|\n\\|---\\|---\\|\n((?:\\|.*\n)+)")

// TestLanguagePageTables holds that the page's tables of keys say what the JSON
// Schema declares: each key with its sentence, what it may be, what it is unless it is
// written, and the cases that hold it.
func TestLanguagePageTables(t *testing.T) {
	const name = "../docs/language.md"
	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	n, all := 0, declarations(t)
	told := tables.ReplaceAllStringFunc(string(page), func(table string) string {
		n++
		parts := tables.FindStringSubmatch(table)
		head, _, _ := strings.Cut(table, parts[2])
		d, ok := all[strings.Trim(parts[1], "`")]
		if !ok {
			t.Errorf("nothing has the keys of %s", parts[1])
			return table
		}
		return head + rowsOf(d)
	})
	if n < 12 {
		t.Errorf("only %d tables", n)
	}
	if *update {
		if err := os.WriteFile(name, []byte(told), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if told != string(page) {
		t.Error("the tables of keys are others: go test ./cascades -run TestLanguagePageTables -update")
	}
}

// rowsOf are the rows of a mapping's keys, in the order of the declaration.
func rowsOf(d declaration) string {
	var b strings.Builder
	for _, key := range d.keys {
		one := d.of[key]
		fmt.Fprintf(&b, "| `%s` | %s", key, one.Description)
		switch {
		case one.Enum != nil:
			words := make([]string, len(one.Enum))
			for i, v := range one.Enum {
				words[i] = fmt.Sprintf("`%v`", v)
				if v == one.Default {
					words[i] += " (unless written)"
				}
			}
			fmt.Fprintf(&b, " One of %s.", strings.Join(words, ", "))
		case slices.Contains(d.required, key):
			b.WriteString(" Required.")
		case one.Default != nil:
			fmt.Fprintf(&b, " `%v` unless written.", one.Default)
		}
		_, cases, _ := strings.Cut(one.Comment, ". ")
		fmt.Fprintf(&b, "%s |\n", cases)
	}
	return b.String()
}

// TestLanguagePageLists holds that the page has every key of every mapping, and
// that its lists of filters and functions are true.
func TestLanguagePageLists(t *testing.T) {
	page, err := os.ReadFile("../docs/language.md")
	if err != nil {
		t.Fatal(err)
	}
	_, root := schemaOfCascades(t)
	for key, at := range everyKey(root, "the file") {
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

// everyKey are the keys of every mapping within a JSON Schema, each with one that
// has it.
func everyKey(at any, name string) map[string]string {
	all := map[string]string{}
	switch at := at.(type) {
	case []any:
		for _, one := range at {
			maps.Copy(all, everyKey(one, name))
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
					maps.Copy(all, everyKey(one, key))
				}
			default:
				maps.Copy(all, everyKey(below, name))
			}
		}
	}
	return all
}
