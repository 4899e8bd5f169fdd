package edit

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/strictyaml"
)

// TestHarnessInput checks that wrong input of the harness is an error with its
// position, without a report.
func TestHarnessInput(t *testing.T) {
	tests := []struct {
		name, file string
		swaps
		want string
	}{
		{"status: key twice", "status.yaml", swaps{"rubric:", "rubric: {}\nrubric:"}, `status.yaml:16:1: key "rubric" stands at line 15 already`},
		{"status: key twice within", "status.yaml", swaps{"  register:", "  voice: x\n  register:"}, `status.yaml:7:3: key "voice" stands at line 6`},
		{"status: second document", "status.yaml", swaps{"claim_ledger:", "---\nclaim_ledger:"}, "status.yaml:31:1: a second document"},
		{"status: unknown status", "status.yaml", swaps{"status: disputed", "status: doubted"}, `status.yaml:63:13: status of claim C7 must be one of asserted, implied, candidate, disputed, retired, not "doubted"`},
		{"status: claim twice", "status.yaml", swaps{"id: C2", "id: C1"}, "claim C1 is in the ledger at line 32 already"},
		{"status: no test", "status.yaml", swaps{"    preservation_test: The ratchet is named and explained before the requirements.\n", ""}, "claim C2 has no preservation_test"},
		{"status: no part", "status.yaml", swaps{"gap_policy:", "gaps:"}, "no gap_policy"},
		{"status: a part of another kind", "status.yaml", swaps{"claim_ledger:\n", "claim_ledger: none\nledger:\n"}, "claim_ledger must be a list of claims"},
		{"status: alias", "status.yaml", swaps{"close_in_text: only", "close_in_text: *only\n  x: &only only"}, "not YAML: unknown anchor"},
		{"status: known alias", "status.yaml", swaps{"voice: first", "first: &a b\n  second: *a\n  voice: first"}, "status.yaml:7:11: an alias"},
		{"status: not YAML", "status.yaml", swaps{"rubric:", "rubric: ["}, "not YAML"},
		{"status: not UTF-8", "status.yaml", swaps{"calm", "\xff"}, "not UTF-8"},
		{"direction: part", "direction.yaml", swaps{"active_part: text", "active_part: prose"}, "direction.yaml:3:14: active_part must be one of text,"},
		{"direction: no part", "direction.yaml", swaps{"active_part: text\n", ""}, "no active_part"},
		{"direction: no intent", "direction.yaml", swaps{"intent:", "intents:"}, "no intent"},
		{"direction: an id that leaves the folder", "direction.yaml", swaps{"candidate_id: d-04.1", "candidate_id: ../../d"}, "direction.yaml:2:15: candidate_id names a file"},
		{"direction: an id that is a command", "direction.yaml", swaps{"candidate_id: d-04.1", "candidate_id: $(id)"}, "candidate_id names a file"},
		{"direction: constraints", "direction.yaml", swaps{"  - no requirement is added or dropped", "  - [no]"}, "a mapping with an id, not a list"},
		{"metadata: source", "metadata.yaml", swaps{"editor_loop", "mail"}, `metadata.yaml:4:19: candidate_source must be one of editor_loop, side_loaded, not "mail"`},
		{"metadata: no source", "metadata.yaml", swaps{"candidate_source", "source"}, "no candidate_source"},
		{"metadata: unknown of an editor", "metadata.yaml", swaps{"[C3, C4, C5]", "unknown"}, "touched_claims must be a list of claims"},
		{"metadata: unknown check of an editor", "metadata.yaml", swaps{"frozen_parts: pass", "frozen_parts: unknown"}, "metadata.yaml:8:52: self_check says unknown"},
		{"metadata: unknown checks of an editor", "metadata.yaml", swaps{"self_check: {claims_preserved: pass, frozen_parts: pass, direction: pass}", "self_check: unknown"}, "metadata.yaml:8:13: self_check says unknown"},
		{"source: empty", "source.md", nil, "source.md: the file is empty"},
		{"source: no text", "source.md", swaps{"# Why", "# Why\x00"}, "source.md: the file has NUL characters"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := newDesk(t)
			if test.swaps == nil {
				d.put(test.file, " \n")
			} else {
				d.change(test.file, test.swaps...)
			}
			d.refuses(test.want)
		})
	}
}

func TestJudgementIsStrict(t *testing.T) {
	for want, s := range map[string]swaps{
		`judgement:4:16: result of C3 of claims must be one of pass, warn, fail, not "maybe"`: {"C3: {result: pass", "C3: {result: maybe"},
		`key "C1" stands at line 2 already`:                                                   {"  C3: ", "  C1: "},
		`primary_goal must be one of improved, unchanged, worsened`:                           {"primary_goal: improved", "primary_goal: better"},
		`adds_requirement must be true or false, not "no"`:                                    {"adds_requirement: false", `adds_requirement: "no"`},
		`claims must be a mapping`:                                                            {"claims:\n", "claims: none\nold:\n"},
	} {
		d := newDesk(t)
		d.judgement(s...)
		d.refuses(want)
	}
}

// TestAllProblems checks that one error reports all problems.
func TestAllProblems(t *testing.T) {
	d := newDesk(t)
	d.change("status.yaml", "status: disputed", "status: doubted", "id: C2", "id: C1")
	d.change("metadata.yaml", "editor_loop", "mail")
	d.o.Source.Path = "nowhere.md"
	d.o.ActivePart = "prose"
	_, err := Verify(d.o)
	wrong, ok := errors.AsType[*InputError](err)
	if !ok || len(wrong.Problems) != 5 {
		t.Errorf("got %v", err)
	}
}

// TestJudgementForms checks that a judgement may be YAML, JSON with any
// escapes, or a plain value. Shorter forms have the same meaning.
func TestJudgementForms(t *testing.T) {
	want := newDesk(t).verify()
	forms := map[string]any{
		"JSON": `{"claims": {"C1": "pass", "C2": "pass", "C3": {"result": "pass", "reason": "\ud83e\udd89 stays"}, "C4": "pass", "C5": "pass", "C6": "pass", "C7": "pass", "C8": "pass", "C9": "pass", "C10": "pass"},
			"presentation": "pass", "primary_goal": "improved", "secondary_goals": {"readable": "improved"}, "non_goals": {"NG1": "pass", "NG2": "pass"}, "gap_policy": {"result": "pass", "notes": []},
			"direction": "pass", "adds_requirement": false, "hides_derivation": false}`,
		"plain": map[string]any{
			"claims": []any{
				map[string]any{"id": "C1", "result": "pass"}, map[string]any{"id": "C2", "result": "pass"}, map[string]any{"id": "C3", "result": "pass"},
				map[string]any{"id": "C4", "result": "pass"}, map[string]any{"id": "C5", "result": "pass"}, map[string]any{"id": "C6", "result": "pass"},
				map[string]any{"id": "C7", "result": "pass"}, map[string]any{"id": "C8", "result": "pass"}, map[string]any{"id": "C9", "result": "pass"},
			},
			"presentation": map[string]any{"result": "pass", "preserve_items": "pass", "avoid_items": "pass", "notes": []any{}},
			"primary_goal": "improved", "secondary_goals": map[string]any{}, "non_goals": "pass", "gap_policy": "pass",
			"direction": map[string]any{"intent": "pass", "constraints": []any{"pass", "pass"}}, "adds_requirement": false, "hides_derivation": false,
		},
	}
	for name, form := range forms {
		d := newDesk(t)
		d.o.Judgement = form
		if r := d.verify(); r.Decision != want.Decision || r.Reason != want.Reason {
			t.Errorf("%s: got %s: %s", name, r.Decision, r.Reason)
		}
	}
}

func TestBaseFreshness(t *testing.T) {
	d := newDesk(t)
	source, status := load(t, "source.md"), load(t, "status.yaml")
	base := load(t, "metadata.yaml")
	for name, test := range map[string]struct {
		lines    string
		decision Decision
	}{
		"both":                 {"base_source_sha256: " + sum(source) + "\nbase_status_sha256: sha256:" + strings.ToUpper(sum(status)), Accept},
		"nested":               {"base: {source_sha256: " + sum(source) + ", status_hash: " + sum(status) + "}", Accept},
		"unnamed":              {"base_hash: " + sum(source), Accept},
		"candidate":            {"candidate_sha256: " + sum(edited(t)), Accept},
		"unknown":              {"base_hash: unknown", Accept},
		"other status":         {"base: {status_sha256: " + sum(source) + "}", Reject},
		"other source":         {"base_hash: sha256:" + sum("x"), Reject},
		"other candidate":      {"candidate_sha256: " + sum("x"), Reject},
		"no hash":              {"base_hash: yesterday", Reject},
		"together":             {"hashes: {source: " + sum(source) + ", status: sha256:" + sum(status) + ", by: sha256}", Accept},
		"together, other":      {"hashes: {source: " + sum(source) + ", status: " + sum(source) + "}", Reject},
		"base alone":           {"base: " + sum("x"), Reject},
		"base by file":         {"base: {source: " + sum("x") + "}", Reject},
		"base, all well":       {"base: {source: " + sum(source) + ", revision: 7, commit_hash: 1f2e}", Accept},
		"text":                 {"base_text_sha256: " + sum(source), Accept},
		"other text":           {"hashes: {text: " + sum("x") + "}", Reject},
		"capitals":             {"base_source_sha256: SHA-256:" + strings.ToUpper(sum(source)), Accept},
		"as sha256sum prints":  {"base_hash: " + sum(source) + "  source.md", Accept},
		"truncated":            {"base_source_sha256: " + sum(source)[:12], Reject},
		"truncated, other":     {"source_hash: " + sum("x")[:40], Reject},
		"another algorithm":    {"source_md5: 0cc175b9c0f1b6a831c399e269772661", Reject},
		"by another word":      {"source_checksum: " + sum("x"), Reject},
		"by no word":           {"source_version: sha256:" + sum("x"), Reject},
		"deep":                 {"provenance: {inputs: {source: {sha256: " + sum("x") + "}}}", Reject},
		"deep, well":           {"provenance: {inputs: {source: {algorithm: sha256, value: " + sum(source) + "}}}", Accept},
		"in a list":            {"inputs: [{path: source.md, sha256: " + sum("x") + "}]", Reject},
		"in a list, well":      {"inputs: [{path: source.md, sha256: " + sum(source) + "}, {path: status.yaml, sha256: " + sum(status) + "}]", Accept},
		"in a list, elsewhere": {"inputs: [{path: other.md, sha256: " + sum("x") + "}]", Accept},
		"a list of hashes":     {"source_hashes: [" + sum(source) + ", " + sum("x") + "]", Reject},
		"empty":                {"source_sha256: ''", Reject},
		"of a context":         {"context_hash: " + sum("x"), Accept},
		"of a commit":          {"commit_hash: 1f2e", Accept},
		"of a prompt":          {"prompt_sha256: " + sum("x"), Accept},
	} {
		d.put("metadata.yaml", base+test.lines+"\n")
		if r := d.verify(); r.Decision != test.decision {
			t.Errorf("%s: %s: %s", name, r.Decision, r.Reason)
		} else if r.Decision == Reject && r.FrozenParts.Result != gradeFail {
			t.Errorf("%s: frozen_parts is %s", name, r.FrozenParts.Result)
		}
	}
}

// TestFreshnessElsewhere checks wrong hashes. In the direction a wrong hash
// rejects the candidate, and in the status file it asks a person.
func TestFreshnessElsewhere(t *testing.T) {
	for _, c := range []struct {
		file, line string
		decision   Decision
		reason     string
	}{
		{"direction.yaml", "base_source_sha256: " + sum("x"), Reject, "the direction was made for another source file"},
		{"direction.yaml", "base: {status: " + sum("x") + "}", Reject, "another status file"},
		{"direction.yaml", "base_source_sha256: deadbeef", Reject, "is not a SHA-256 digest"},
		{"direction.yaml", "base_source_sha256: " + sum(load(t, "source.md")), Accept, ""},
		{"status.yaml", "source_sha256: " + sum("x"), NeedsHumanReview, "the status file was made for another source file"},
		{"status.yaml", "source_sha256: SHA256:abc", NeedsHumanReview, "is not a SHA-256 digest"},
		{"status.yaml", "source_sha256: " + sum(load(t, "source.md")), Accept, ""},
		{"status.yaml", "previous_commit_hash: " + sum("x"), Accept, ""},
	} {
		d := newDesk(t)
		d.put(c.file, load(t, c.file)+c.line+"\n")
		d.wants(c.decision, c.reason)
	}
}

// TestPathsStayInTheRoot checks that no path leaves the root, whatever its
// source. The test must not block.
func TestPathsStayInTheRoot(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret.md")
	if err := os.WriteFile(outside, []byte("# Secret\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	d := newDesk(t)
	if err := os.Symlink(outside, filepath.Join(d.root, "link.md")); err != nil {
		t.Skip(err)
	}
	inside := filepath.Join(d.root, "source.md")
	for _, path := range []string{outside, "link.md", "../" + filepath.Base(d.root) + "/source.md", "candidates/../../x", "candidates", "nowhere.md", "a\x00b", strings.Repeat("a/", 5000)} {
		d.o.Source.Path = path
		_, err := Verify(d.o)
		if _, ok := errors.AsType[*InputError](err); !ok {
			t.Errorf("%q: got %v", path, err)
		}
	}
	d.o.Source.Path = "../x"
	d.refuses("the path leads out of the root")
	d.o.Source.Path = "candidates"
	d.refuses("candidates: is a directory")
	d.o.Source.Path = inside
	d.o.Metadata.Path = filepath.Join(d.root, "metadata.yaml")
	if r := d.wants(Accept, ""); r.MetadataFile != "metadata.yaml" {
		t.Errorf("got %s", r.MetadataFile)
	}
	d.o.Root = filepath.Join(d.root, "nowhere")
	d.refuses("root: ")
}

func TestLongFiles(t *testing.T) {
	d := newDesk(t)
	d.put("candidates/d-04.1.md", strings.Repeat("a", maxText+1))
	d.refuses("longer than 16 MiB")
	d = newDesk(t)
	d.forStatus(partRubric)
	d.put("candidates/d-04.1.status.yaml", strings.Repeat("#", strictyaml.MaxYAML+1))
	d.wants(Reject, "bytes are too many")
}

// TestLineEnds checks that Windows line ends and a byte order mark are not
// changes.
func TestLineEnds(t *testing.T) {
	d := newDesk(t)
	d.put("candidates/d-04.1.md", "\ufeff"+strings.ReplaceAll(load(t, "source.md"), "\n", "\r\n")+"\r\n")
	r := d.wants(Reject, "the same text")
	if r.FrozenParts.Result != gradePass {
		t.Errorf("got %+v", r.FrozenParts)
	}
}
