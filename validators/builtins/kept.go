package builtins

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/reading"
)

// What numbers_kept and links_kept look for.
const (
	keptAll = "kept"
	keptNew = "no_new"
	keptTwo = "both"
)

type kept struct {
	Source string `json:"source" jsonschema:"the text that was worked from"`
	Check  string `json:"check,omitempty" jsonschema:"kept (the default): every one of the source is in the text; no_new: none is in the text that the source does not have; both"`

	source  reading.Text
	figures func() [2][]reading.Figure // of the source, without the words that are numbers and with them
}

// Prepare implements [validators.Prepared].
func (p *kept) Prepare() (err error) {
	p.Check = cmp.Or(p.Check, keptAll)
	if !slices.Contains([]string{keptAll, keptNew, keptTwo}, p.Check) {
		return fmt.Errorf("check must be kept, no_new or both, not %q", p.Check)
	}
	p.source, err = readSource(p.Source)
	source := p.source
	p.figures = sync.OnceValue(func() [2][]reading.Figure { return [2][]reading.Figure{source.Figures(false), source.Figures(true)} })
	return err
}

func readSource(source string) (reading.Text, error) {
	t, err := reading.Read(source)
	if err != nil {
		return t, fmt.Errorf("source: %w", err)
	}
	return t, nil
}

// beside is a check that holds a text as it is read against a source.
func beside[P any](check, passed string, look func(*findings, P, reading.Text)) func(context.Context, P, validators.Subject) (validators.Verdict, error) {
	return func(_ context.Context, p P, s validators.Subject) (validators.Verdict, error) {
		found := findings{check: check}
		text, err := reading.Read(s.Content)
		if err != nil {
			found.add("", "the text is not read: %v", err)
		} else {
			look(&found, p, text)
		}
		return found.verdict(passed), nil
	}
}

// NumbersKept accepts text that has every number of a source that stands in
// figures, or none that the source lacks, by its parameter check. 1,000.5 and
// 1.000,5 are one number, and so are 5 and 5.0, ½ and 1/2, 3 and ٣, and a date is its
// numbers in any order; units do not count but for those that are numbers (1.5 million is 1,500,000, and 3 pm is 15:00), and what the source
// has in figures the text may have in words, in eight languages (package numerals). Code and addresses are not read. How often
// a number stands does not count.
var NumbersKept = validators.New("numbers_kept", "Validates that the numbers of a source are in the text, or that none is new",
	beside("numbers_kept", "the numbers of the source are kept", func(found *findings, p kept, text reading.Text) {
		if p.Check != keptNew {
			lacking(found, p.figures()[0], text.Figures(true), "", "the number %s of the source (line %d) is not in the text")
		}
		if p.Check != keptAll {
			lacking(found, text.Figures(false), p.figures()[1], "line", "the number %s (line %d) is not in the source")
		}
	}))

// lacking adds a finding for each figure that others have in none of its forms.
func lacking(found *findings, list, others []reading.Figure, at, format string) {
	known, plain, bare := map[string]bool{}, map[string]bool{}, map[string]bool{}
	named := slices.ContainsFunc(others, func(o reading.Figure) bool { return o.Month })
	for _, o := range others {
		for _, f := range o.Forms {
			known[f] = true
			plain[f] = plain[f] || o.Bare == nil
		}
		for _, f := range o.Bare {
			bare[f] = true
		}
	}
	for _, f := range list {
		if f.Month && !named { // it may be named in a language that is not known
			continue
		}
		in := func(set map[string]bool) func(string) bool { return func(form string) bool { return set[form] } }
		// A word behind one of them may be of a language that is not known: 5 миллионов.
		if slices.ContainsFunc(f.Forms, in(known)) || slices.ContainsFunc(f.Bare, in(plain)) || f.Bare == nil && slices.ContainsFunc(f.Forms, in(bare)) {
			continue
		}
		for _, form := range f.Forms {
			known[form] = true // told once
		}
		location := ""
		if at != "" {
			location = fmt.Sprintf("line %d", f.Line)
		}
		found.add(location, format, f.Text, f.Line)
	}
}

// LinksKept accepts text that has every link and picture of a source, by where
// they lead, or none that the source lacks, by its parameter check. They may stand
// in Markdown or in HTML. Links within the text (#section) do not count: they go by
// its headings.
var LinksKept = validators.New("links_kept", "Validates that the links of a source are in the text, or that none is new",
	beside("links_kept", "the links of the source are kept", func(found *findings, p kept, text reading.Text) {
		if p.Check != keptNew {
			for _, t := range notAmong(p.source.Targets(), text.Targets()) {
				found.add("", "the link %s of the source (line %d) is not in the text", quote(t.Text), t.Line)
			}
		}
		if p.Check != keptAll {
			for _, t := range notAmong(text.Targets(), p.source.Targets()) {
				found.add(fmt.Sprintf("line %d", t.Line), "the link %s is not in the source", quote(t.Text))
			}
		}
	}))

// notAmong are the things whose text none of the others has.
func notAmong(list, others []reading.Thing) []reading.Thing {
	known := map[string]bool{}
	for _, o := range others {
		known[o.Text] = true
	}
	return slices.DeleteFunc(list, func(t reading.Thing) bool { return known[t.Text] })
}

type sameStructure struct {
	Source string `json:"source" jsonschema:"the text whose structure is to be kept"`

	source reading.Text
}

// Prepare implements [validators.Prepared].
func (p *sameStructure) Prepare() (err error) {
	p.source, err = readSource(p.Source)
	return err
}

// SameStructure accepts text that is built as a source is: headings of the same
// levels, lists of the same kinds and depths with as many items, code blocks of
// the same languages, each in their order, and the same placeholders, as often.
// The words do not count, so that a translation can be held against what was
// translated.
var SameStructure = validators.New("same_structure", "Validates that the text has the headings, lists, code blocks and placeholders of a source",
	beside("same_structure", "the text is built as the source is", func(found *findings, p sameStructure, text reading.Text) {
		for _, part := range []struct {
			name string
			of   func(reading.Text) []reading.Thing
		}{{"headings", reading.Text.Outline}, {"items of lists", reading.Text.Items}, {"code blocks", reading.Text.Fences}} {
			if location, why := firstDifference(part.name, part.of(p.source), part.of(text)); why != "" {
				found.add(location, "%s", why)
			}
		}
		samePlaceholders(found, p.source.Placeholders(), text.Placeholders())
	}))

// firstDifference tells where two lists part.
func firstDifference(name string, source, text []reading.Thing) (location, why string) {
	for i := range max(len(source), len(text)) {
		switch {
		case i >= len(text):
			return "", fmt.Sprintf("%s: the source has %d, the text %d; the first that it lacks is %s in line %d of the source", name, len(source), len(text), quote(source[i].Text), source[i].Line)
		case i >= len(source):
			return fmt.Sprintf("line %d", text[i].Line), fmt.Sprintf("%s: the source has %d, the text %d; the first that is too many is %s", name, len(source), len(text), quote(text[i].Text))
		case source[i].Text != text[i].Text:
			return fmt.Sprintf("line %d", text[i].Line), fmt.Sprintf("%s: the source (%d) has %s in line %d, where the text (%d) has %s", name, len(source), quote(source[i].Text), source[i].Line, len(text), quote(text[i].Text))
		}
	}
	return "", ""
}

func samePlaceholders(found *findings, source, text []reading.Thing) {
	times := map[string]int{}
	for _, t := range text {
		times[t.Text]++
	}
	for _, s := range source {
		if times[s.Text]--; times[s.Text] < 0 {
			found.add("", "the placeholder %s of the source (line %d) is not in the text, or not as often", quote(s.Text), s.Line)
		}
	}
	for _, t := range text {
		if times[t.Text] > 0 {
			times[t.Text]--
			found.add(fmt.Sprintf("line %d", t.Line), "the placeholder %s is not in the source, or not as often", quote(t.Text))
		}
	}
}

var errNoSource = errors.New("source or sources must name a text")
