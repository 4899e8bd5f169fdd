//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestInstalls checks that go install accepts the tags that .ci/tag makes of
// this tree. It runs only if CAPSTAN_INSTALL is set.
func TestInstalls(t *testing.T) {
	const module = "github.com/seed61713e19/capstan"
	root, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	clone := filepath.Join(dir, "clone")
	if out, err := exec.Command("git", "clone", "-q", root, clone).CombinedOutput(); err != nil {
		t.Skipf("there is no repository: %s", out)
	}
	names, err := os.ReadFile(filepath.Join(clone, "packaging", "names.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(names), "\nversion: ")
	number, _, found := strings.Cut(after, "\n")
	if !found {
		t.Fatalf("packaging/names.yaml has no version: %s", names)
	}
	version := "v" + number
	do := func(env []string, name string, args ...string) {
		t.Helper()
		c := exec.Command(name, args...)
		c.Dir = dir
		c.Env = append(append(os.Environ(), "GIT_CONFIG_COUNT=3",
			"GIT_CONFIG_KEY_0=user.name", "GIT_CONFIG_VALUE_0=tester", "GIT_CONFIG_KEY_1=user.email", "GIT_CONFIG_VALUE_1=tester@localhost",
			"GIT_CONFIG_KEY_2=url.file://"+filepath.ToSlash(clone)+".insteadOf", "GIT_CONFIG_VALUE_2=https://"+module), env...)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s %q: %v\n%s", name, args, err, out)
		}
	}
	do(nil, filepath.Join(clone, ".ci", "tag"), version)

	output, err := exec.Command("go", "env", "GOMODCACHE", "GOPROXY").Output()
	if err != nil {
		t.Fatal(err)
	}
	cache, proxy, _ := strings.Cut(strings.TrimSpace(string(output)), "\n")
	here := "file://" + filepath.ToSlash(filepath.Join(cache, "cache", "download"))
	env := []string{
		"GOBIN=" + filepath.Join(dir, "bin"), "GOMODCACHE=" + filepath.Join(dir, "modules"), "GOFLAGS=-modcacherw", "GOWORK=off",
		"GOPROXY=" + here + "," + proxy, "GOPRIVATE=" + module, "GOSUMDB=off",
	}
	args := []string{"install", "-n", module + "/runner/temporal/cmd/capstan-temporal@" + version}
	if os.Getenv("CAPSTAN_INSTALL") != "" {
		args = append(args[:1], args[2:]...)
	}
	do(env, "go", args...)
	do(env, "go", "mod", "download", module+"/runner/temporal/devserver@"+version)
}
