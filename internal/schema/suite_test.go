package schema

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// moduleDir returns the source directory of a required module.
func moduleDir(t testing.TB, name string) string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", name).Output()
	if err != nil {
		t.Skipf("the sources of %s are not here: %v", name, err)
	}
	return strings.TrimSpace(string(out))
}

// A suiteCase is a case of the official test suite: a schema, and values with
// their verdicts.
type suiteCase struct {
	Description string
	Schema      json.RawMessage
	Tests       []struct {
		Description string
		Data        json.RawMessage
		Valid       bool
	}
}

func suiteFiles(t testing.TB, dir string) map[string][]suiteCase {
	t.Helper()
	files := map[string][]suiteCase{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".json") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var cases []suiteCase
		if err := json.Unmarshal(text, &cases); err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(name)] = cases
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestSuite runs the cases of the official suite that fetch nothing, as two
// libraries ship it. It leaves out cases for unchecked formats, because formats
// are checked here, and patterns that the engine does not support.
func TestSuite(t *testing.T) {
	google := filepath.Join(moduleDir(t, "github.com/google/jsonschema-go"), "jsonschema", "testdata")
	extra := filepath.Join(moduleDir(t, "github.com/santhosh-tekuri/jsonschema/v6"), "testdata", "Extra-Test-Suite", "tests")
	for dir, d := range map[string]*dialect{
		filepath.Join(google, "draft2020-12"): draft20, filepath.Join(google, "draft7"): draft7, filepath.Join(extra, "draft2020-12"): draft20,
		filepath.Join(extra, "draft2019-09"): draft19, filepath.Join(extra, "draft7"): draft7, filepath.Join(extra, "draft4"): draft4,
	} {
		n := runSuite(t, dir, d)
		if n == 0 {
			t.Errorf("%s: %d tests ran", dir, n)
		}
	}
	if dir := os.Getenv("JSON_SCHEMA_TEST_SUITE"); dir != "" {
		for name, d := range map[string]*dialect{"draft4": draft4, "draft6": draft6, "draft7": draft7, "draft2019-09": draft19, "draft2020-12": draft20} {
			t.Logf("%s: %d tests", name, runSuite(t, filepath.Join(dir, name), d))
		}
	}
}

func runSuite(t *testing.T, dir string, d *dialect) (ran int) {
	if _, err := os.Stat(dir); err != nil {
		t.Log(err)
		return 0
	}
	for file, cases := range suiteFiles(t, dir) {
		for _, c := range cases {
			if unsuitable(file, c) {
				continue
			}
			source, err := Parse(c.Schema)
			if err != nil {
				t.Fatal(file, err)
			}
			s, err := compileAs(source, d)
			if err != nil {
				if !strings.Contains(err.Error(), "nothing is fetched") && !strings.Contains(err.Error(), "error parsing regexp") {
					t.Errorf("%s/%s: %s: %v", dir, file, c.Description, err)
				}
				continue
			}
			for _, one := range c.Tests {
				data, err := Parse(one.Data)
				if err != nil {
					t.Fatal(file, err)
				}
				ran++
				broken, err := s.Check(nil, data)
				if errors.Is(err, errEndless) && !one.Valid {
					continue // no verdict here; the suite expects a rejection
				}
				if err != nil || (len(broken) == 0) != one.Valid {
					t.Errorf("%s/%s: %s: %s: got %v, %v, want valid %v\n%s\n%s", dir, file, c.Description, one.Description, broken, err, one.Valid, c.Schema, one.Data)
				}
			}
		}
	}
	return ran
}

func unsuitable(file string, c suiteCase) bool {
	base := filepath.Base(file)
	return base == "content.json" || base == "format.json" || base == "contentSchema.json" || base == "zeroTerminatedFloats.json" || base == "vocabulary.json" || base == "ecmascript-regex.json" ||
		strings.HasPrefix(base, "idn-") || base == "non-bmp-regex.json" || base == "cross-draft.json" ||
		strings.Contains(file, "optional/format/iri") || strings.Contains(file, "optional/format/uri")
}

// compileAs is Compile with another default dialect.
func compileAs(source any, d *dialect) (*Schema, error) {
	if object, ok := source.(map[string]any); ok && object["$schema"] == nil {
		with := map[string]any{"$schema": d.uri}
		for k, v := range object {
			with[k] = v
		}
		if d.year >= 2019 || object["$ref"] == nil {
			source = with
		} else {
			c := newCompiler()
			res, err := c.add(root, source, d)
			if err == nil {
				err = c.checkDialects(res)
			}
			if err != nil {
				return nil, err
			}
			return c.finish(res)
		}
	}
	return Compile(source)
}
