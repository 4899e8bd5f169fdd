package main

import (
	"context"
	"fmt"
	"html"
	"os"
	"strings"
	"testing"
)

// TestPicture compares the README's picture of a run with a real run. -update
// draws the picture.
func TestPicture(t *testing.T) {
	t.Chdir("../..")
	const file = "docs/run.svg"
	var stderr strings.Builder
	c := &Command{Stdin: strings.NewReader(""), Stdout: discard{}, Stderr: &stderr, Getenv: unkept}
	args := []string{"run", "cascades/examples/review_document.yaml", "--model", "scripted", "--input", "document=@README.md"}
	if status := c.Run(context.Background(), args); status != exitOK {
		t.Fatalf("status %d: %s", status, stderr.String())
	}
	want := picture("capstan run review_document.yaml --model scripted --input document=@README.md", plainUsage(plainTimes(stderr.String())))
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s does not show what a run looks like; go test ./cmd/capstan -run TestPicture -update draws it", file)
	}
}

// unkept is an environment that stores no runs.
func unkept(name string) string {
	if name == "CAPSTAN_STORE" {
		return noStore
	}
	return ""
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// plainUsage removes the run's name, and the tokens, which depend on the length
// of the README.
func plainUsage(s string) string {
	return counted.ReplaceAllString(strings.Replace(s, " RUN ", "", 1), "")
}

// The sizes of the picture, in pixels.
const (
	lineHeight = 20
	charWidth  = 8.4
	margin     = 24
	columns    = 98
)

// picture draws lines as a terminal, light or dark like the reader's page.
func picture(command, output string) string {
	lines := []string{"$ " + command}
	for line := range strings.Lines(output) {
		lines = append(lines, wrapped(strings.TrimRight(line, "\n"))...)
	}
	width, height := columns*charWidth+2*margin, len(lines)*lineHeight+2*margin
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" viewBox="0 0 %.0f %d" role="img" aria-label="A run of capstan in a terminal">
<style>
rect { fill: #f6f8fa; stroke: #d0d7de } text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #1f2328; white-space: pre }
.yes { fill: #1a7f37 } .no { fill: #cf222e } .phase { font-weight: bold } .faint { fill: #656d76 }
@media (prefers-color-scheme: dark) { rect { fill: #161b22; stroke: #30363d } text { fill: #e6edf3 } .yes { fill: #3fb950 } .no { fill: #f85149 } .faint { fill: #8d96a0 } }
</style>
<rect x="0.5" y="0.5" width="%.0f" height="%d" rx="8"/>
`, width, height, width, height, width-1, height-1)
	for i, line := range lines {
		fmt.Fprintf(&b, "<text x=\"%d\" y=\"%d\" class=\"%s\">%s</text>\n", margin, margin+14+i*lineHeight, class(line), html.EscapeString(line))
	}
	return b.String() + "</svg>\n"
}

func class(line string) string {
	switch {
	case strings.HasPrefix(line, "  ✓"), strings.HasPrefix(line, "succeeded"):
		return "yes"
	case strings.HasPrefix(line, "  ✗"), strings.HasPrefix(line, "      "):
		return "no"
	case strings.HasPrefix(line, " "), strings.HasPrefix(line, "$"):
		return "faint"
	default:
		return "phase"
	}
}

// wrapped breaks a long line at its spaces.
func wrapped(line string) []string {
	var out []string
	for len([]rune(line)) > columns {
		cut := strings.LastIndex(string([]rune(line)[:columns]), " ")
		if cut <= 6 {
			break
		}
		out = append(out, line[:cut])
		line = "      " + line[cut+1:]
	}
	return append(out, line)
}
