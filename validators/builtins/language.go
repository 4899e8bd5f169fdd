package builtins

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/internal/languages"
	"github.com/seed61713e19/capstan/internal/patterns"
	"github.com/seed61713e19/capstan/internal/reading"
	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/validators"
)

type languageParams struct {
	In       []string `json:"in" jsonschema:"allowed languages, as ISO 639-1 codes: en, de, pt-BR"`
	Share    *float64 `json:"share,omitempty" jsonschema:"share of the words with a detectable language that must be in an allowed language. Default: 0.9"`
	MinWords int      `json:"min_words,omitempty" jsonschema:"minimum number of words. A shorter text passes with a warning, unless it is clearly in another language"`
}

const languageShare = 0.9

// Prepare implements [validators.Prepared].
func (p *languageParams) Prepare() error {
	if len(p.In) == 0 {
		return fmt.Errorf("in: no language is named")
	}
	for i, code := range p.In {
		if p.In[i] = languages.Canonical(code); languages.Name(code) == "" {
			return fmt.Errorf("in: unknown language %q; want one of %s", code, strings.Join(languages.Codes(), ", "))
		}
	}
	if p.Share != nil && (*p.Share <= 0 || *p.Share > 1) {
		return fmt.Errorf("share must be greater than 0 and at most 1")
	}
	if p.MinWords < 0 {
		return fmt.Errorf("min_words must not be negative")
	}
	return nil
}

// languageValidator accepts text in one of the given languages. It determines the
// language of each sentence, without code, quotations, links and placeholders.
// In JSON it checks the values. The share of the words in these languages must
// be at least 0.9, or the parameter share. Text without a recognizable language
// is rejected, unless it has fewer than min_words words.
var languageValidator = validators.New("language", "Validates that the text is in an allowed language",
	func(ctx context.Context, p languageParams, s validators.Subject) (validators.Verdict, error) {
		read := p.read(ctx, s)
		share := languageShare
		if p.Share != nil {
			share = *p.Share
		}
		switch {
		case read.other > 0 && float64(read.in) < share*float64(read.in+read.other):
			found := findings{check: "language"}
			for _, o := range read.others {
				found.add(o.line, "this is in %s, not in %s: %s", o.names, p.names(), quote(o.text))
			}
			return found.verdict(""), nil
		case read.in > 0:
			v := validators.Pass("the text is in %s", p.names())
			for _, o := range read.others[:min(len(read.others), 3)] {
				v.Warnings = append(v.Warnings, notJudged(fmt.Sprintf("this is in %s: %s", o.names, quote(o.text)), o.line))
			}
			return v, nil
		case read.either != "":
			v := validators.Pass("the text may be in %s", p.names())
			v.Warnings = []validators.Issue{notJudged("the text is in "+read.either+": the exact language is unclear", "")}
			return v, nil
		case read.words < p.MinWords:
			v := validators.Pass("%s: too few to judge", reports.Count(read.words, "word"))
			v.Warnings = []validators.Issue{notJudged("the language of the text was not judged", "")}
			return v, nil
		}
		return validators.Fail("the language of the text is not recognizable from %s: write whole sentences in %s", reports.Count(read.words, "word"), p.names()), nil
	})

func notJudged(message, location string) validators.Issue {
	return validators.Issue{Check: "language", Severity: "warning", Message: message, Location: location}
}

func (p *languageParams) names() string { return namesOf(p.In) }

func namesOf(codes []string) string {
	names := make([]string, len(codes))
	for i, code := range codes {
		names[i] = languages.Name(code)
	}
	return strings.Join(names, " or ")
}

// languagesRead counts the words of a text by language.
type languagesRead struct {
	words, in, other int
	others           []otherLanguage
	either           string // names of the possible languages of an ambiguous part, one of them accepted
}

// otherLanguage is a sentence in another language.
type otherLanguage struct{ line, names, text string }

// read determines the languages of the sentences of a text, or of the values of
// JSON. If no sentence has a recognizable language, it classifies all of them
// together.
func (p *languageParams) read(ctx context.Context, s validators.Subject) languagesRead {
	var r languagesRead
	var all strings.Builder
	look := func(at, content string) {
		for _, b := range prose(ctx, content) {
			for sentence := range sentences(b.words) {
				p.classify(&r, cmp.Or(at, fmt.Sprintf("line %d", b.line)), sentence)
				all.WriteString(sentence + "\n")
			}
		}
	}
	switch s.Output.(type) {
	case map[string]any, []any:
		eachText(s.Output, "", look)
	default:
		look("", s.Content)
	}
	if r.in+r.other == 0 {
		words := r.words
		p.classify(&r, "line 1", all.String())
		r.words = words
	}
	return r
}

func (p *languageParams) classify(r *languagesRead, line, text string) {
	g := languages.Of(text)
	r.words += g.Words
	switch {
	case slices.Contains(p.In, g.Code):
		r.in += g.Words
	case g.MayBe(p.In):
		r.either = namesOf(g.Either)
	case len(g.Either) > 0 && (g.Plain || g.Words >= fewest):
		r.other += g.Words
		r.others = append(r.others, otherLanguage{line, namesOf(g.Either), strings.TrimSpace(text)})
	}
}

// fewest is the number of words from which a sentence counts as another
// language. A shorter one may be a name, a title or a term.
const fewest = 4

// A proseBlock is a block of words and the line where it begins.
type proseBlock struct {
	words string
	line  int
}

// prose returns the blocks in the author's own words, without code and block
// quotes. Without Markdown, each line is a block.
func prose(ctx context.Context, content string) []proseBlock {
	var blocks []proseBlock
	d, err := reading.Of(ctx, content)
	if err != nil {
		for line := range strings.Lines(content) {
			blocks = append(blocks, proseBlock{ownProse([]byte(line)), len(blocks) + 1})
		}
		return blocks
	}
	for _, b := range d.Blocks {
		if b.Quoted || b.Kind == reading.CodeBlock {
			continue
		}
		text := []byte(b.Text)
		for _, e := range b.Inlines {
			if e.Kind == reading.CodeSpan {
				mask(text[e.Text.Start:e.Text.End], '_')
			}
		}
		blocks = append(blocks, proseBlock{strings.ReplaceAll(ownProse(text), "\n", " "), d.Line(b.Start)})
	}
	return blocks
}

var bracketed = patterns.Lazy(`\{[^{}]*\}|<[^<>]*>`)

// ownProse returns a text with "_" in place of its quotations and placeholders.
func ownProse(text []byte) string {
	maskQuotations(text)
	for _, at := range bracketed().FindAllIndex(text, -1) {
		mask(text[at[0]:at[1]], '_')
	}
	return string(text)
}

// sentences yields the sentences of a block.
func sentences(words string) iter.Seq[string] {
	return func(yield func(string) bool) {
		from := 0
		for i, r := range words {
			end := i + utf8.RuneLen(r)
			if r == utf8.RuneError || !endsSentence(r, words[end:]) {
				continue
			}
			if sentence := proseOnly(words[from:end]); sentence != "" && !yield(sentence) {
				return
			}
			from = end
		}
		if sentence := proseOnly(words[from:]); sentence != "" {
			yield(sentence)
		}
	}
}

// endsSentence reports whether a sentence ends at a character, given the text
// after it.
func endsSentence(r rune, behind string) bool {
	switch r {
	case '\n', '。', '！', '？', '।':
		return true
	case '.', '!', '?', '…', ':', ';':
		return behind == "" || behind[0] == ' '
	}
	return false
}

// proseOnly returns a sentence without addresses, paths and names of code.
func proseOnly(sentence string) string {
	var b strings.Builder
	for word := range strings.FieldsSeq(sentence) {
		if strings.ContainsAny(word, `_/@\`) {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(word)
	}
	return b.String()
}
