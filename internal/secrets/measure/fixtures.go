package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

const (
	gitleaks = "github.com/zricethezav/gitleaks/v8"
	utils    = "cmd/generate/config/utils/validate.go"
	rules    = "cmd/generate/config/main.go"
)

// keeper replaces the function that receives the fixtures of every rule.
const keeper = `package utils

import "github.com/zricethezav/gitleaks/v8/config"

type Fixture struct {
	Rule, Text string
	Secret     bool
}

var Fixtures []Fixture

func Validate(rule config.Rule, is, isNot []string) *config.Rule {
	for _, text := range is {
		Fixtures = append(Fixtures, Fixture{rule.RuleID, text, true})
	}
	for _, text := range isNot {
		Fixtures = append(Fixtures, Fixture{rule.RuleID, text, false})
	}
	return &rule
}

func ValidateWithPaths(rule config.Rule, _, _ map[string]string) *config.Rule { return &rule }
`

// printer builds the rules and prints the fixtures.
const printer = `package main

import (
	"encoding/json"
	"os"

	"` + gitleaks + `/cmd/generate/config/rules"
	"` + gitleaks + `/cmd/generate/config/utils"
)

func main() {
	%s
	json.NewEncoder(os.Stdout).Encode(utils.Fixtures)
}
`

// made returns the fixtures of gitleaks' rules as JSON.
func made() ([]byte, error) {
	source, err := output("", "go", "list", "-m", "-f", "{{.Dir}}", gitleaks)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "gitleaks")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := copied(dir, strings.TrimSpace(string(source))); err != nil {
		return nil, fmt.Errorf("gitleaks' source: %w", err)
	}
	main, err := os.ReadFile(filepath.Join(dir, rules))
	if err != nil {
		return nil, err
	}
	_, list, _ := strings.Cut(string(main), "configRules := ")
	list, _, _ = strings.Cut(list, "\n\t}")
	calls := regexp.MustCompile(`(?m)^\s+(rules\.\w+\(\))`).FindAllStringSubmatch(list, -1)
	if len(calls) == 0 {
		return nil, errors.New("the rules of gitleaks have moved")
	}
	var body strings.Builder
	for _, call := range calls {
		body.WriteString(call[1] + "\n\t")
	}
	if err := errors.Join(write(dir, utils, keeper), write(dir, rules, fmt.Sprintf(printer, body.String()))); err != nil {
		return nil, err
	}
	return output(dir, "go", "run", "./"+filepath.Dir(rules))
}

// copied makes a writable copy of the sources of the rules.
func copied(to, from string) error {
	for _, name := range []string{"cmd", "config", "detect", "logging", "regexp", "report", "sources", "version"} {
		if err := os.CopyFS(filepath.Join(to, name), os.DirFS(filepath.Join(from, name))); err != nil {
			return err
		}
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			return err
		}
		if err := write(to, name, string(text)); err != nil {
			return err
		}
	}
	return nil
}

// write replaces a file, because files of a module are read-only.
func write(dir, name, text string) error {
	file := filepath.Join(dir, name)
	_ = os.Remove(file)
	return os.WriteFile(file, []byte(text), 0o644)
}

func output(dir, name string, args ...string) ([]byte, error) {
	c := exec.Command(name, args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	out, err := c.Output()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		return nil, fmt.Errorf("%s: %w: %s", strings.Join(c.Args, " "), err, failed.Stderr)
	}
	return out, err
}
