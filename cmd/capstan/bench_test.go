package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// built builds the binary as a release is built.
func built(b *testing.B) string {
	b.Helper()
	binary := filepath.Join(b.TempDir(), "capstan")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", binary, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return binary
}

// BenchmarkVersion is the whole process: what every command costs at least.
func BenchmarkVersion(b *testing.B) {
	binary := built(b)
	info, err := os.Stat(binary)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := exec.Command(binary, "version").Run(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(info.Size())/(1<<20), "MB")
}

// BenchmarkLint is the whole process that lints a cascade of 500 lines: 71
// phases of seven lines with templates, expressions and wards.
func BenchmarkLint(b *testing.B) {
	binary := built(b)
	var text strings.Builder
	text.WriteString("cascade_id: long\ninputs_schema: {topic: what it is about}\nphases:\n")
	for i := range 71 {
		fmt.Fprintf(&text, `  - name: phase_%d
    instructions: "Write part %d about {{ input.topic | upper }}."
    rules: {max_turns: 2, turn_prompt: "Turn {{ turn }}."}
    wards:
      post:
        - {validator: word_count, with: {max: 100}, mode: retry}
        - {expr: "len(content) > 10", reason: too short, mode: retry}
`, i, i)
	}
	file := filepath.Join(b.TempDir(), "long.yaml")
	if err := os.WriteFile(file, []byte(text.String()), 0o644); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(strings.Count(text.String(), "\n")), "lines")
	for b.Loop() {
		if out, err := exec.Command(binary, "lint", file).CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
	}
}
