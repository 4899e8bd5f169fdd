package capy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// hostile are texts that are made to take long.
func hostile() map[string]string {
	return map[string]string{
		"braces":     strings.Repeat("{", 1<<20),
		"backticks":  strings.Repeat("`", 1<<20),
		"one line":   strings.Repeat("a", 1<<20),
		"labels":     strings.Repeat("IVPS ", 1<<17),
		"values":     strings.Repeat("IVPS = 3, ", 1<<16),
		"brackets":   strings.Repeat("((((IVPS", 1<<16),
		"headings":   strings.Repeat("# A.7 Valuation\n\n", 1<<15),
		"fences":     strings.Repeat("```json\n{\"IVPS\": 1}\n```\n", 1<<14),
		"cells":      strings.Repeat("| IVPS | 3 |\n|---|---|\n| IVPS | 4 |\n\n", 1<<14),
		"comments":   strings.Repeat("<!-- IVPS = 3 ", 1<<15),
		"tags":       strings.Repeat("<tr><td>IVPS<td>3", 1<<15),
		"nested":     "{\"IVPS\":" + strings.Repeat("{\"IVPS\":", 8000) + "1" + strings.Repeat("}", 8001),
		"keys":       "{" + strings.Repeat("\"IVPS\": 1, ", 1<<15) + "\"x\": 1}",
		"findings":   strings.Repeat("### F-1 finding\n\n", 1<<14),
		"not UTF-8":  strings.Repeat("\xff\xfe IVPS = \x80", 1<<16),
		"arrays":     strings.Repeat("[", 4000) + strings.Repeat("]", 4000),
		"sentences":  strings.Repeat("The IVPS rises by $3.50 here. ", 1<<14),
		"long title": "# " + strings.Repeat("A.7 ", 1<<17),
	}
}

// A text that is made to take long is answered within seconds.
func TestHostileTexts(t *testing.T) {
	for name, text := range hostile() {
		text = text[:len(text)/8]
		for _, stage := range []string{"BASE_REFINE", "SCENARIO_T2"} {
			g, err := New(Options{Stage: stage})
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			g.Judge(text)
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("%s as %s: %v for %d KB", name, stage, took, len(text)>>10)
			}
		}
	}
}

func BenchmarkReal(b *testing.B) {
	for _, name := range []string{"BASE_T1.pass.md", "BASE_T1.invalid-json.md", "BASE_REFINE.pass.md", "BASE_T2.pass.md"} {
		text, err := os.ReadFile(filepath.Join("../../../shared/data/capy", name))
		if err != nil {
			b.Skip("no real documents here")
		}
		stage, _ := StageOf(name)
		g, err := New(Options{Stage: stage})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				g.Judge(string(text))
			}
		})
	}
}

// BenchmarkJudge judges 100 KB: a good output of a stage again and again. The goal is 10 ms.
func BenchmarkJudge(b *testing.B) {
	for _, stage := range []string{"BASE_T1", "SCENARIO_T2"} {
		text := good(b, stage)
		text = strings.Repeat(text, 100<<10/len(text)+1)
		g, err := New(Options{Stage: stage})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(stage, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				g.Judge(text)
			}
		})
	}
}
