package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// A release is made for the platforms that the notices are of, without cgo, and is
// told its tag. .ci/platforms reads here which they are.
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
		t.Errorf("it is built for %q", list)
	}
	if !slices.Equal(build.Env, []string{"CGO_ENABLED=0"}) || len(build.Ldflags) != 1 || !strings.Contains(build.Ldflags[0], "-X main.release={{ .Tag }}") {
		t.Errorf("%q, %q", build.Env, build.Ldflags)
	}
}
