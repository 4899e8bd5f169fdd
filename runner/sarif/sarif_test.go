package sarif_test

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/seed61713e19/capstan/runner/sarif"
)

// A report has its rules once, in the order in which they come, with what is said
// of them, and no region where no line is known.
func TestReport(t *testing.T) {
	r := sarif.New("v1", func(rule string) string { return map[string]string{"a": "about a"}[rule] })
	holds(t, r, `[]`, `[]`)
	file := filepath.Join("dir", "x.yaml")
	r.Add(sarif.Finding{Rule: "a", Level: "error", Message: "one", File: file, Line: 3, Column: 5}, sarif.Finding{Rule: "b", Level: "note", Message: "two", File: file, Line: 1})
	r.Add(sarif.Finding{Rule: "a", Level: "warning", Message: "three", File: "y.yaml", Column: 7})
	holds(t, r, `[{"id":"a","shortDescription":{"text":"about a"}},{"id":"b"}]`, `[`+
		`{"ruleId":"a","level":"error","message":{"text":"one"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"dir/x.yaml"},"region":{"startLine":3,"startColumn":5}}}]},`+
		`{"ruleId":"b","level":"note","message":{"text":"two"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"dir/x.yaml"},"region":{"startLine":1}}}]},`+
		`{"ruleId":"a","level":"warning","message":{"text":"three"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"y.yaml"}}}]}]`)
}

// A file is named as a URI names it.
func TestFiles(t *testing.T) {
	for file, want := range map[string]string{
		"a.yaml": "a.yaml", "../x/a-b_c.yaml": "../x/a-b_c.yaml", "/x/a.yaml": "/x/a.yaml", "-": "-", "": "",
		"my file.yaml": "my%20file.yaml", "100%.md": "100%25.md", "a#1?.md": "a%231%3F.md", "a:b.md": "./a:b.md", "é.md": "%C3%A9.md", "a\nb.md": "a%0Ab.md",
	} {
		r := sarif.New("v1", func(string) string { return "" })
		r.Add(sarif.Finding{Rule: "a", Level: "error", Message: "one", File: file})
		holds(t, r, `[{"id":"a"}]`, `[{"ruleId":"a","level":"error","message":{"text":"one"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"`+want+`"}}}]}]`)
	}
}

func holds(t *testing.T, r *sarif.Report, rules, results string) {
	t.Helper()
	got, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"$schema":"https://json.schemastore.org/sarif-2.1.0.json","version":"2.1.0","runs":[{"tool":{"driver":{"name":"capstan","version":"v1","rules":` + rules + `}},"results":` + results + `}]}`
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
