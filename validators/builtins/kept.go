package builtins

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/internal/reading"
	"github.com/seed61713e19/capstan/validators"
)

// Values of the parameter check of numbers_kept and links_kept.
const (
	checkSource = "kept"
	checkText   = "no_new"
	checkBoth   = "both"
)

var errNoSource = errors.New("source or sources must name a text")

type comparisonParams struct {
	Source string `json:"source" jsonschema:"source text"`
	Check  string `json:"check,omitempty" jsonschema:"kept: the text contains everything of the source; no_new: the text adds nothing; both. Default: kept"`

	source *reading.Document
}

// Prepare implements [validators.Prepared].
func (p *comparisonParams) Prepare() (err error) {
	p.Check = cmp.Or(p.Check, checkSource)
	if !slices.Contains([]string{checkSource, checkText, checkBoth}, p.Check) {
		return fmt.Errorf("check must be kept, no_new or both, not %q", p.Check)
	}
	p.source, err = readSource(p.Source)
	return err
}

func readSource(source string) (*reading.Document, error) {
	d, err := reading.Read(source)
	if err != nil {
		return nil, fmt.Errorf("source: %w", err)
	}
	return d, nil
}

// comparison returns the check of a validator that compares a text with a
// source.
func comparison[P any](
	check, passed string, compare func(*findings, P, *reading.Document),
) func(context.Context, P, validators.Subject) (validators.Verdict, error) {
	return func(ctx context.Context, p P, s validators.Subject) (validators.Verdict, error) {
		found := findings{check: check}
		text, err := reading.Of(ctx, s.Content)
		if err != nil {
			found.add("", "the text is not read: %v", err)
		} else {
			compare(&found, p, text)
		}
		return found.verdict(passed), nil
	}
}

// A part is a piece of a text that a check compares with another text.
type part struct {
	text string   // as shown in messages
	keys []string // two parts with a common key are equal
	line int
}

// addMissing adds a finding for each part that is missing in others. Equal parts are reported
// once.
func addMissing(found *findings, list, others []part, located bool, format string) {
	known := map[string]bool{}
	for _, o := range others {
		for _, key := range o.keys {
			known[key] = true
		}
	}
	for _, p := range list {
		if slices.ContainsFunc(p.keys, func(key string) bool { return known[key] }) {
			continue
		}
		for _, key := range p.keys {
			known[key] = true
		}
		if !located {
			found.add("", format, p.text, p.line)
		} else {
			found.add(fmt.Sprintf("line %d", p.line), format, p.text)
		}
	}
}

// addDifferences adds the parts that are missing on the sides that the
// parameter check names.
func (p comparisonParams) addDifferences(found *findings, what string, source, text []part) {
	if p.Check != checkText {
		addMissing(found, source, text, false, "the "+what+" %s of the source (line %d) is not in the text")
	}
	if p.Check != checkSource {
		addMissing(found, text, source, true, "the "+what+" %s is not in the source")
	}
}

// numbersKeptValidator accepts a text that contains every number of a source, or no
// number beyond those of the source, or both. The parameter check selects the
// rule.
//
// It compares the decimal values of figures: 1,000.5 equals 1.000,5, and 5
// equals 5.0. If languages read a figure differently, as 1.200, one common
// reading is enough. Dates, times, versions and ranges count as their numbers,
// in any order, and 6 pm is 18. Units, percent signs and repetitions do not
// count. Code, addresses and numbers in words are not read.
var numbersKeptValidator = validators.New("numbers_kept", "Validates that the text has all numbers of a source, or no new ones",
	comparison("numbers_kept", "the numbers of the source are kept", func(found *findings, p comparisonParams, text *reading.Document) {
		p.addDifferences(found, "number", numbersOf(p.source), numbersOf(text))
	}))

// linksKeptValidator accepts a text that contains the target of every link and image of
// a source, or no target beyond those of the source, or both. The parameter
// check selects the rule. Targets are compared as strings. They may be in
// Markdown, in HTML, or bare addresses. Targets within the text (#section) do
// not count.
var linksKeptValidator = validators.New("links_kept", "Validates that the text has all links of a source, or no new ones",
	comparison("links_kept", "the links of the source are kept", func(found *findings, p comparisonParams, text *reading.Document) {
		p.addDifferences(found, "link", linksOf(p.source), linksOf(text))
	}))

func linksOf(d *reading.Document) []part {
	var list []part
	inTexts(d, "/.", func(d *reading.Document, line int) {
		for _, l := range d.Links {
			if to := strings.TrimSpace(l.Target); to != "" && to[0] != '#' {
				list = append(list, part{quote(to), []string{to}, cmp.Or(line, d.Line(l.Start))})
			}
		}
	})
	return list
}

// inTexts calls visit for a document. If the document is JSON, it calls visit
// for each string in it that contains one of the characters. line is the line
// of the JSON, or 0.
func inTexts(d *reading.Document, having string, visit func(d *reading.Document, line int)) {
	whole := d.Whole()
	if whole == nil {
		visit(d, 0)
		return
	}
	eachText(whole.Value, "", func(_, text string) {
		if !strings.ContainsAny(text, having) {
			return
		}
		if inner, err := reading.Read(text); err == nil {
			visit(inner, d.Line(whole.Start))
		}
	})
}
