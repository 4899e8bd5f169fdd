package builtins

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/seed61713e19/capstan/internal/reading"
	"github.com/seed61713e19/capstan/internal/tables"
	"github.com/seed61713e19/capstan/validators"
)

type sameStructure struct {
	Source string `json:"source" jsonschema:"text whose structure the judged text must have"`

	source *reading.Document
}

// Prepare implements [validators.Prepared].
func (p *sameStructure) Prepare() (err error) {
	p.source, err = readSource(p.Source)
	return err
}

// sameStructureValidator accepts a text with the structure of a source: the same levels
// of headings, kinds and depths of list items and languages of code blocks, in
// the same order, and the same placeholders, equally often. It does not compare
// words, so it can compare a translation with its original.
var sameStructureValidator = validators.New("same_structure", "Validates that the text has the headings, lists, code blocks and placeholders of a source",
	comparison("same_structure", "the text is built as the source is", func(found *findings, p sameStructure, text *reading.Document) {
		for _, part := range []struct {
			name string
			kind reading.Kind
		}{{"headings", reading.HeadingBlock}, {"items of lists", reading.ItemBlock}, {"code blocks", reading.CodeBlock}} {
			if location, difference := firstDifference(part.name, formsOf(p.source, part.kind), formsOf(text, part.kind)); difference != "" {
				found.add(location, "%s", difference)
			}
		}
		samePlaceholders(found, placeholdersOf(p.source), placeholdersOf(text))
	}))

// formsOf returns the blocks of a kind, each with its form: "##", " 1.",
// "```go".
func formsOf(d *reading.Document, kind reading.Kind) []part {
	var list []part
	for _, b := range d.Blocks {
		if b.Kind != kind {
			continue
		}
		form := ""
		switch kind {
		case reading.HeadingBlock:
			form = strings.Repeat("#", b.Level)
		case reading.CodeBlock:
			form = "```" + b.Language
		case reading.ItemBlock:
			form = strings.Repeat("  ", b.Level-1) + map[bool]string{false: "-", true: "1."}[b.Ordered]
		}
		list = append(list, part{text: form, line: d.Line(b.Start)})
	}
	return list
}

// firstDifference describes the first difference between two lists. Both
// results are empty if they are equal.
func firstDifference(name string, source, text []part) (location, difference string) {
	counts := fmt.Sprintf("%s: the source has %d, the text %d", name, len(source), len(text))
	for i := range max(len(source), len(text)) {
		switch {
		case i >= len(text):
			return "", fmt.Sprintf("%s; the first missing one is %s in line %d of the source", counts, quote(source[i].text), source[i].line)
		case i >= len(source):
			return fmt.Sprintf("line %d", text[i].line), fmt.Sprintf("%s; the first extra one is %s", counts, quote(text[i].text))
		case source[i].text != text[i].text:
			return fmt.Sprintf("line %d", text[i].line), fmt.Sprintf("%s: the source (%d) has %s in line %d, where the text (%d) has %s",
				name, len(source), quote(source[i].text), source[i].line, len(text), quote(text[i].text))
		}
	}
	return "", ""
}

func samePlaceholders(found *findings, source, text []part) {
	times := map[string]int{}
	for _, t := range text {
		times[t.text]++
	}
	for _, s := range source {
		if times[s.text]--; times[s.text] < 0 {
			found.add("", "the placeholder %s of the source (line %d) is not in the text, or not as often", quote(s.text), s.line)
		}
	}
	for _, t := range text {
		if times[t.text] > 0 {
			times[t.text]--
			found.add(fmt.Sprintf("line %d", t.line), "the placeholder %s is not in the source, or not as often", quote(t.text))
		}
	}
}

// placeholderPattern matches the placeholders of the table.
var placeholderPattern = sync.OnceValue(func() *regexp.Regexp {
	var patterns []string
	for _, r := range tables.Rows(placeholdersTable) {
		patterns = append(patterns, r["pattern"])
	}
	return regexp.MustCompile(strings.Join(patterns, "|"))
})

var unpadded = strings.NewReplacer("{ ", "{", " }", "}")

// placeholdersOf returns the placeholders of a document, also those in HTML and
// in link targets. It does not read code.
func placeholdersOf(d *reading.Document) []part {
	var list []part
	add := func(text string, line int) {
		for _, found := range placeholderPattern().FindAllString(text, -1) {
			list = append(list, part{text: unpadded.Replace(strings.Join(strings.Fields(found), " ")), line: line})
		}
	}
	for i := range d.Blocks {
		b := &d.Blocks[i]
		if b.Kind == reading.CodeBlock && b.Language != "json" {
			continue
		}
		add(masked(b, reading.CodeSpan), d.Line(b.Start))
	}
	for _, l := range d.Links {
		if !l.Bare && l.Text != l.Target {
			add(l.Target, d.Line(l.Start))
		}
	}
	return list
}
