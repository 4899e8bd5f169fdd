package capy

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

var docExample = regexp.MustCompile("(?ms)^~~~markdown (.*?)\n(.*?)^~~~$")

// TestDocs puts each example of the page into a good output, as the words after its fence
// say, and wants the verdict that they state.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/gates/capy.md")
	if err != nil {
		t.Fatal(err)
	}
	found := docExample.FindAllStringSubmatch(string(page), -1)
	if len(found) < 10 {
		t.Fatalf("only %d examples", len(found))
	}
	for _, f := range found {
		t.Run(f[1], func(t *testing.T) {
			stage, text := placed(t, f[1], f[2])
			words := strings.Fields(f[1])
			status, check := words[len(words)-1], ""
			if strings.Contains(status, "_") {
				status, check = words[len(words)-2], status
			}
			r := judge(t, stage, text)
			list := append(r.Issues, r.Warnings...)
			if r.Status != status || check != "" && list[0].Check != check {
				t.Errorf("want %s %s\n%s", status, check, r.Text())
			}
		})
	}
}

// placed puts a piece of text into the good output of the stage that the words
// name: at its end, instead of a part, or in the middle.
func placed(t *testing.T, words, piece string) (stage, text string) {
	for _, s := range stageNames() {
		if strings.Contains(" "+words+" ", " "+s+" ") {
			stage = s
		}
	}
	text = good(t, stage)
	part, instead := strings.CutPrefix(words, "instead of ")
	part, _, _ = strings.Cut(part, " in ")
	switch {
	case instead:
		parts := map[string][2]string{"A.3": {"### A.3_", "### A.5_"}}
		return stage, cutFor(t, text, parts[part], piece)
	case strings.HasPrefix(words, "end "):
		return stage, strings.TrimRight(text, "\n") + "\n\n" + piece
	}
	i := strings.LastIndex(text, "\n\n")
	return stage, text[:i+2] + piece + text[i+1:]
}

func cutFor(t *testing.T, text string, part [2]string, piece string) string {
	i, j := strings.Index(text, part[0]), strings.Index(text, part[1])
	if part[0] == "" || i < 0 || j < i {
		t.Fatalf("no part from %q to %q", part[0], part[1])
	}
	return text[:i] + piece + "\n" + text[j:]
}
