package builtins

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/internal/modelmarkup"
	"github.com/seed61713e19/capstan/internal/patterns"
	"github.com/seed61713e19/capstan/internal/tables"
	"github.com/seed61713e19/capstan/validators"
)

// leftovers maps the names of findings to their messages.
var leftovers = map[string]string{
	"placeholder":    "%s is a placeholder that nobody filled in",
	"refusal":        "the model refuses: %s",
	"self_reference": "the model speaks of itself: %s",
	"thinking":       "the model's thinking was left in: %s",
	"tool_call":      "a tool call was written as text: %s",
	"fence":          "all of the text is in a block of Markdown: %s",
	"replacement":    "the text contains a character that could not be decoded: %s",
}

type presentable struct {
	Without []string `json:"without,omitempty" jsonschema:"kinds to ignore: placeholder, refusal, self_reference, thinking, tool_call, fence, replacement"`
}

// Prepare implements [validators.Prepared].
func (p *presentable) Prepare() error {
	for _, name := range p.Without {
		if leftovers[name] == "" {
			return fmt.Errorf("without: there is no finding %q; there are placeholder, refusal, self_reference, thinking, tool_call, fence and replacement", name)
		}
	}
	return nil
}

// presentableValidator rejects text with leftovers of a model or a template:
//
//   - placeholders in brackets and braces
//   - refusals, and sentences of the model about itself
//   - thinking, and tool calls that the model wrote as text
//   - a block of Markdown around the whole text
//   - replacement characters
//
// In JSON it checks each value. Code, block quotes, links and text in quotation
// marks do not count. tables/presentable.tsv lists the words.
var presentableValidator = validators.New("presentable", "Validates that the text has no placeholder, refusal, self-reference, thinking, tool call, enclosing fence or broken character",
	func(ctx context.Context, p presentable, s validators.Subject) (validators.Verdict, error) {
		found := findings{check: "presentable"}
		d := draft{presentable: p, ctx: ctx, findings: &found}
		switch s.Output.(type) {
		case map[string]any, []any:
			eachText(s.Output, "", func(at, text string) { d.at = at; d.check(text) })
			if calls := modelmarkup.Calls(s.Content); len(calls) > 0 {
				d.at = ""
				d.report("tool_call", s.Content, 0, calls[0].Text)
			}
		default:
			d.check(s.Content)
		}
		return found.verdict("nothing is left in the text"), nil
	})

// A draft is a checked text, or the values of one.
type draft struct {
	presentable
	ctx      context.Context
	findings *findings
	at       string // the place of the value; empty for the text itself
}

// report adds a finding at a byte of a text.
func (d *draft) report(name, text string, at int, found string) {
	if slices.Contains(d.Without, name) {
		return
	}
	found = quote(strings.TrimSpace(found))
	if d.at != "" {
		d.findings.add(d.at, leftovers[name], found)
	} else {
		d.findings.addAt(text, at, leftovers[name], found)
	}
}

func (d *draft) check(text string) {
	for _, span := range modelmarkup.Find(text) {
		name := "thinking"
		if span.Kind == modelmarkup.ToolCall {
			name = "tool_call"
		}
		d.report(name, text, span.Start, text[span.Start:span.End])
	}
	if block := wrapped().FindString(text); strings.Count(block, "\n```") == 1 {
		d.report("fence", text, 0, block)
	}
	own := ownWords(d.ctx, text)
	if i := strings.IndexRune(own, utf8.RuneError); i >= 0 {
		d.report("replacement", text, i, lineOf(text, i))
	}
	for _, r := range presentableRows() {
		if slices.Contains(d.Without, r.kind) {
			continue
		}
		for own := own; len(d.findings.issues) < maxIssues; {
			at := r.pattern().FindStringIndex(own)
			if at == nil {
				break
			}
			d.report(r.kind, text, at[0], text[at[0]:at[1]])
			own = own[:at[0]] + strings.Repeat("_", at[1]-at[0]) + own[at[1]:]
		}
	}
}

// wrapped matches a text that begins and ends with a fence of Markdown.
var wrapped = patterns.Lazy("^\\s*```(?:markdown|md)\n(?s:.*)\n```\\s*$")

// lineOf returns the line of a text at a byte.
func lineOf(text string, at int) string {
	before, after := text[:at], text[at:]
	line, _, _ := strings.Cut(after, "\n")
	return before[strings.LastIndexByte(before, '\n')+1:] + line
}

// A presentableRow is a row of tables/presentable.tsv.
type presentableRow struct {
	kind    string
	pattern func() *regexp.Regexp
}

// presentableRows returns the rows of the table. A space in a pattern matches
// any white space, and an apostrophe matches a typographic one too.
var presentableRows = sync.OnceValue(func() []presentableRow {
	var rows []presentableRow
	for _, r := range tables.Rows(presentableTable) {
		rows = append(rows, presentableRow{r["kind"], patterns.Lazy(spelled.Replace(r["pattern"]))})
	}
	return rows
})

var spelled = strings.NewReplacer(" ", `\s+`, "'", "['’]")
