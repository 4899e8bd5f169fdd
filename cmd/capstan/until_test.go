package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestUntilTestsPass runs the shipped loop that codes until the tests pass,
// with a real module. It needs three turns, and two turns see the output of go
// test. The model must not change the tests.
func TestUntilTestsPass(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go")
	}
	dir := t.TempDir()
	const tests = "package double\n\nimport \"testing\"\n\nfunc TestDouble(t *testing.T) {\n" +
		"\tfor x, want := range map[int]int{0: 0, 2: 4, -3: -6} {\n\t\tif got := Double(x); got != want {\n" +
		"\t\t\tt.Errorf(\"Double(%d) is %d, want %d\", x, got, want)\n\t\t}\n\t}\n}\n"
	for name, text := range map[string]string{"go.mod": "module example.com/double\n\ngo 1.21\n", "double_test.go": tests} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GOFLAGS", "-vet=off") // vet would take longer than the tests
	t.Setenv("GOGC", "off")         // for the compiler, as in goTool
	var out, stderr strings.Builder
	c := &Command{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &stderr, Getenv: unkept}
	args := []string{"run", "../../cascades/examples/until_tests_pass.yaml", "--model", "scripted", "--root", dir, "--input", "task=Write Double."}
	if status := c.Run(context.Background(), args); status != exitOK {
		t.Fatalf("status %d: %s", status, stderr.String())
	}
	if got := strings.TrimSpace(out.String()); got != "Double returns twice its argument." {
		t.Errorf("got %q", got)
	}
	if n := len(regexp.MustCompile(`✗ turn \d loop_until tests_pass`).FindAllString(stderr.String(), -1)); n != 2 || strings.Contains(stderr.String(), "not used") {
		t.Errorf("want two rejections and the whole script used:\n%s", stderr.String())
	}
	if text, err := os.ReadFile(filepath.Join(dir, "double_test.go")); err != nil || string(text) != tests {
		t.Errorf("the tests are now %q, %v", text, err)
	}
}
