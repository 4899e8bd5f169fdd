package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// TestRelease checks that a release is built without cgo for the platforms of
// the notices. .ci/platforms reads the platforms from this file. The linker
// sets the variables of version.go.
func TestRelease(t *testing.T) {
	text, err := os.ReadFile("../../.ci/goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Builds []struct {
			Env, Ldflags, Goos, Goarch []string
		}
	}
	if err := yaml.Unmarshal(text, &config); err != nil || len(config.Builds) != 1 {
		t.Fatal(config, err)
	}
	build := config.Builds[0]
	var list []string
	for _, system := range build.Goos {
		for _, arch := range build.Goarch {
			list = append(list, system+"/"+arch)
		}
	}
	if !slices.Equal(list, platforms) {
		t.Errorf("the platforms are %q, not %q", list, platforms)
	}
	if !slices.Equal(build.Env, []string{"CGO_ENABLED=0"}) || len(build.Ldflags) != 1 {
		t.Fatalf("%q, %q", build.Env, build.Ldflags)
	}
	for _, set := range []string{"-X main.version={{ .Tag }}", "-X main.commit={{ .FullCommit }}", "-X main.date={{ .CommitDate }}"} {
		if !strings.Contains(build.Ldflags[0], set) {
			t.Errorf("the linker flags %q do not contain %q", build.Ldflags, set)
		}
	}
}

// TestVersion checks that the variables of a release build have precedence over
// the build information.
func TestVersion(t *testing.T) {
	goSystem := fmt.Sprintf("(%s, %s/%s)\n", runtime.Version(), runtime.GOOS, runtime.GOARCH)
	text, status := capstan(t, t.TempDir(), "version")
	if status != exitOK || !strings.HasPrefix(text, "capstan (devel)") || !strings.HasSuffix(text, goSystem) {
		t.Errorf("without variables: status %d, %q", status, text)
	}
	version, commit, date = "v1.2.3", "0123456789abcdef0123456789abcdef01234567", "2026-11-28T17:00:00Z"
	t.Cleanup(func() { version, commit, date = "", "", "" })
	for _, args := range [][]string{{"version"}, {"--version"}} {
		if text, _ := capstan(t, t.TempDir(), args...); text != "capstan v1.2.3, commit 0123456789ab, 2026-11-28T17:00:00Z "+goSystem {
			t.Errorf("%q: %q", args, text)
		}
	}
	text, _ = capstan(t, t.TempDir(), "version", "--json")
	var got map[string]any
	if err := json.Unmarshal([]byte(text), &got); err != nil || got["version"] != version || got["commit"] != commit || got["date"] != date {
		t.Errorf("%s, %v", text, err)
	}
}

func TestVersionOfCheckout(t *testing.T) {
	b := buildOf(&debug.BuildInfo{Main: debug.Module{Version: "v0.0.0-20261128170000-0123456789ab+dirty"}, Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "0123456789abcdef0123456789abcdef01234567"},
		{Key: "vcs.time", Value: "2026-11-28T17:00:00Z"},
		{Key: "vcs.modified", Value: "true"},
	}})
	want := "capstan v0.0.0-20261128170000-0123456789ab+dirty, commit 0123456789ab with changes, 2026-11-28T17:00:00Z "
	if text := b.text(); !strings.HasPrefix(text, want) {
		t.Errorf("got %q, want %q", text, want)
	}
}
