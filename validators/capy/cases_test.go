package capy

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// A sharedCase is a case of the data beside the repository.
type sharedCase struct {
	ID, Stage, Base, Want, Why, Check, Append, Transform, Sentence string
	Text                                                           *string
	Edits                                                          [][2]string
}

func sharedCases(t *testing.T, name string) []sharedCase {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(sharedGates, name))
	if err != nil {
		t.Skip("no shared cases here")
	}
	var list []sharedCase
	if err := yaml.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

const sharedGates = "../../../shared/data/gates"

// output is the good output of the case's stage with its changes.
func (c sharedCase) output(t *testing.T) string {
	t.Helper()
	base := c.Base
	if base == "" {
		base = c.Stage
	}
	good, err := os.ReadFile(filepath.Join(sharedGates, "capy_docs", base+".md"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(good)
	if c.Text != nil {
		text = *c.Text
		if n, ok := strings.CutPrefix(text, "@exact:"); ok {
			size, _ := strconv.Atoi(n)
			text = "# A.11 – Report\n\n"
			for utf8.RuneCountInString(text) < size-1 {
				text += "word "[:min(5, size-1-utf8.RuneCountInString(text))]
			}
			text += "."
		}
	}
	for _, e := range c.Edits {
		if !strings.Contains(text, e[0]) {
			t.Fatalf("the text has no %q", e[0])
		}
		text = strings.Replace(text, e[0], e[1], 1)
	}
	if c.Append != "" {
		text = strings.TrimRight(text, "\n") + "\n\n" + c.Append + "\n"
	}
	if c.Transform == "crlf_bom" {
		text = "\uFEFF" + strings.ReplaceAll(text, "\n", "\r\n")
	}
	if c.Sentence != "" {
		i := strings.LastIndex(strings.TrimRight(text, "\n"), "\n\n")
		text = text[:i] + "\n\n" + c.Sentence + text[i:]
	}
	return text
}

// agrees reports whether a report has the results of the case.
func (c sharedCase) agrees(r Report) bool {
	switch c.Want {
	case "stop":
		return !r.Proceed
	case "warn":
		return r.Status == Warn
	case "pass":
		return r.Status == Pass
	case "structure_ok":
		return *r.Checks.OutputStructure.Pass
	}
	return r.Proceed
}

// TestSharedCases requires nine in ten right answers in both directions, and every honest
// sentence. A forbidden value in a sentence without a form is only a question.
func TestSharedCases(t *testing.T) {
	leastStops := map[string]float64{"capy.yaml": 0.9}
	for _, file := range []string{"capy.yaml", "capy_honest_sentences.yaml", "capy_fabrication.yaml"} {
		right, all := map[bool]int{}, map[bool]int{}
		for _, c := range sharedCases(t, file) {
			stop := c.Want == "stop"
			all[stop]++
			r := judged(t, Options{Stage: c.Stage}, c.output(t))
			if c.agrees(r) {
				right[stop]++
				continue
			}
			t.Logf("%s %s wants %s, got %s: %s %s %v", file, c.ID, c.Want, r.Status, c.Why, c.Sentence, append(r.Issues, r.Warnings...))
		}
		t.Logf("%s: stop %d of %d, others %d of %d", file, right[true], all[true], right[false], all[false])
		if float64(right[true]) < leastStops[file]*float64(all[true]) || right[false] < all[false] {
			t.Errorf("%s: too few are right", file)
		}
	}
}
