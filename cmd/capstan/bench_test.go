package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// built builds the binary with the flags of a release.
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

const hello = "package main\n\nimport \"os\"\n\nfunc main() { os.Stdout.WriteString(\"hello\\n\") }\n"

// BenchmarkStart measures the start of a command in CPU time and by the clock.
// It runs version, lint of a small file, and a hello program alternately. It
// reports their ratios, the CPU time that lint needs beyond hello, and the
// share of the packages' inits.
func BenchmarkStart(b *testing.B) {
	dir := b.TempDir()
	files := map[string]string{"hello.go": hello, "small.yaml": "cascade_id: small\nphases: [{name: draft, instructions: \"Write about {{ input.topic }}\"}]\n"}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	build := exec.Command("go", "build", "-ldflags", "-s -w", "hello.go")
	build.Dir, build.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	binary := built(b)
	commands := [][]string{{filepath.Join(dir, "hello")}, {binary, "version"}, {binary, "lint", filepath.Join(dir, "small.yaml")}}
	var took, clock [3][]float64
	for b.Loop() {
		for i, command := range commands {
			cmd := exec.Command(command[0], command[1:]...)
			began := time.Now()
			if err := cmd.Run(); err != nil {
				b.Fatal(err)
			}
			clock[i] = append(clock[i], time.Since(began).Seconds())
			took[i] = append(took[i], 1000*(cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()).Seconds())
		}
	}
	median := func(of []float64) float64 {
		slices.Sort(of)
		return of[len(of)/2]
	}
	cmd := exec.Command(binary, "version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	trace, err := cmd.CombinedOutput()
	if err != nil {
		b.Fatal(err)
	}
	inits, allocated := 0.0, 0.0
	for line := range strings.Lines(string(trace)) {
		var name, at string
		var ms, bytes float64
		if n, _ := fmt.Sscanf(line, "init %s @%s ms, %f ms clock, %f bytes", &name, &at, &ms, &bytes); n == 4 {
			inits, allocated = inits+ms, allocated+bytes
		}
	}
	b.ReportMetric(median(took[0]), "hello-ms")
	b.ReportMetric(median(took[1])/median(took[0]), "version/hello")
	b.ReportMetric(median(clock[1])/median(clock[0]), "version/hello-clock")
	b.ReportMetric(median(took[2])-median(took[0]), "lint-hello-ms")
	b.ReportMetric(inits, "init-ms")
	b.ReportMetric(allocated/(1<<10), "init-KB")
}

// BenchmarkVersion runs the shortest command as a process. No command costs
// less.
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

// BenchmarkLint runs lint as a process. The cascade has 500 lines: 71 phases of
// seven lines with templates, expressions and wards.
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
