package capy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Real documents are read in place. The test is skipped if they are missing.
func TestRealDocuments(t *testing.T) {
	const folder = "../../../shared/data/capy"
	if _, err := os.Stat(folder); err != nil {
		t.Skip("no real documents here")
	}
	for _, c := range []struct{ file, stage, status, check, words string }{
		{"BASE_T2.pass.md", "BASE_T2", Pass, "", ""},
		{"SCENARIO_T2.md", "SCENARIO_T2", Fail, "artifacts_present", "A.10"},
		{"SCENARIO_T2.md+SCENARIO_T2.DAVE_A10_SCENARIO.json", "SCENARIO_T2", Warn, "", ""},
		{"SCENARIO_T2.DAVE_A10_SCENARIO.json", "SCENARIO_T2", Pass, "", ""},
		{"SC.DAVE_A11_AUDIT_REPORT.json", "SC", Pass, "", ""},
		{"BASE_T1.pass.md", "BASE_T1", Pass, "", ""},
		{"BASE_T1.invalid-json.md", "BASE_T1", Fail, "json_valid", "line 1263, column 27"},
		{"BASE_T1-and-T2-in-one.md", "BASE_T1", Fail, "no_fabrication", "241.72"},
		{"BASE_T1-and-T2-in-one.md", "BASE_REFINE", Fail, "artifacts_present", "X_T1"},
		{"BASE_T1-and-T2-in-one.md", "BASE_T2", Pass, "", ""},
		{"BASE_REFINE.pass.md", "BASE_REFINE", Pass, "", ""},
		{"ENRICH_T2.pass.md", "ENRICH_T2", Pass, "", ""},
	} {
		t.Run(c.file+" as "+c.stage, func(t *testing.T) {
			file, sidecar, with := strings.Cut(c.file, "+")
			text, err := os.ReadFile(filepath.Join(folder, file))
			if err != nil {
				t.Skip(err)
			}
			o := Options{Stage: c.stage}
			if with {
				more, err := os.ReadFile(filepath.Join(folder, sidecar))
				if err != nil {
					t.Skip(err)
				}
				o.Sidecars = string(more)
			}
			r := judged(t, o, string(text))
			if r.Status != c.status {
				t.Errorf("status %s, want %s\n%s", r.Status, c.status, r.Text())
			}
			if c.check != "" && (len(r.Issues) == 0 || r.Issues[0].Check != c.check || !strings.Contains(r.Issues[0].Message, c.words)) {
				t.Errorf("want %s saying %q\n%s", c.check, c.words, r.Text())
			}
			if testing.Verbose() {
				t.Logf("%s", r.Text())
			}
		})
	}
}
