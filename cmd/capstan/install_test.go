package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// installNames are the values of packaging/names.yaml.
func installNames(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../packaging/names.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var names map[string]string
	if err := yaml.Unmarshal(text, &names); err != nil {
		t.Fatal(err)
	}
	return names
}

// TestInstallLines compares the lines of the README that install a release with the
// names. -update rewrites them.
func TestInstallLines(t *testing.T) {
	n := installNames(t)
	deb := n["deb"] + "_" + n["version"] + "_linux_amd64.deb"
	lines := []string{
		"curl -fsSL " + n["install_script"] + " | sh",
		"brew install " + n["brew"],
		"npm install " + n["npm"],
		"pip install " + n["pypi"],
		"curl -fsSLO " + n["downloads"] + "/v" + n["version"] + "/" + deb + " && sudo apt install ./" + deb,
		"docker pull " + n["image"] + ":" + n["version"],
		"# GitHub: uses: " + n["action"] + "@v" + n["version"],
	}
	want := strings.Join(lines, "\n") + "\n"
	const page = "../../README.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)(### From the first release on\n.*?```sh\n)(.*?)(```)").FindSubmatchIndex(text)
	if block == nil {
		t.Fatal("the README has no block that installs a release")
	}
	if got := string(text[block[4]:block[5]]); got != want {
		if !*update {
			t.Errorf("got\n%s\nwant\n%s", got, want)
			return
		}
		changed := string(text[:block[4]]) + want + string(text[block[5]:])
		if err := os.WriteFile(page, []byte(changed), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestActionVersion compares the action and its version in the job of init, and in the
// pages, with the names. -update rewrites the versions.
func TestActionVersion(t *testing.T) {
	n := installNames(t)
	if got, want := n["repository"], "https://github.com/"+n["action"]; got != want {
		t.Errorf("the action is in %s, not in %s", want, got)
	}
	use := regexp.MustCompile(`(uses: |repo: https://github\.com/)` + regexp.QuoteMeta(n["action"]) + `(@|\n +rev: )v[0-9.]*[0-9]`)
	for _, page := range []string{"starter/capstan.yml", "../../docs/how-to/run-in-ci.md", "../../docs/how-to/use-in-pipelines.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		changed := use.ReplaceAllStringFunc(string(text), func(old string) string {
			found = true
			m := use.FindStringSubmatch(old)
			return m[1] + n["action"] + m[2] + "v" + n["version"]
		})
		switch {
		case !found:
			t.Errorf("%s does not use %s", page, n["action"])
		case changed == string(text):
		case !*update:
			t.Errorf("%s has another version than %s", page, n["version"])
		default:
			if err := os.WriteFile(page, []byte(changed), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}
