package reading

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/validators/patterns"
)

// A finder takes the things of one kind out of words: what it gives back is the
// words with what it took masked, so that no figure of a date is a number too.
// It is not asked about words in which nothing speaks for its kind, for most
// have no date and no address, and looking is far cheaper than matching.
type finder struct {
	kind Kind
	may  func(words string) bool
	find func(words string) (found []string, rest string)
}

// take finds what there is, if anything speaks for it.
func (f finder) take(words string) (found []string, rest string) {
	if !f.may(words) {
		return nil, words
	}
	return f.find(words)
}

var (
	addresses    = finder{Links, anyAddress, linked}
	placeholders = finder{Placeholders, marked("{", "%", "<"), matches(placeholderPattern, same)}
	spelledOut   = finder{Numbers, anyNumber, numbers}
)

// finders are tried in this order.
var finders = []finder{
	addresses,
	placeholders,
	{Code, marked("$", `\(`, `\[`), formulas},
	{Footnotes, marked("[^"), matches(footnotePattern, same)},
	{Citations, marked("[", "(", "@"), matches(citationPattern, citation)},
	{Markup, marked("~~"), matches(struckPattern, same)},
	{Quotations, marked(`"`, "“", "„", "«", "»", "「", "‘", "‚"), quotations},
	{Dates, anyDate, matches(datePattern, dated)},
	{Modals, anyModal, modals},
	spelledOut,
	{Numbers, func(words string) bool { return strings.ContainsAny(words, "<>=&|"+loneSigns) }, unmasked(signPattern, sign)},
	{Names, func(string) bool { return true }, names},
}

func marked(marks ...string) func(string) bool {
	return func(words string) bool {
		return slices.ContainsFunc(marks, func(mark string) bool { return strings.Contains(words, mark) })
	}
}

// anyAddress looks for a mark of one: a sign that only mail has, "www.", or a
// scheme's colon, which something stands right behind.
func anyAddress(words string) bool {
	if strings.Contains(words, "@") || strings.Contains(strings.ToLower(words), "www.") {
		return true
	}
	for rest := words; ; {
		i := strings.IndexByte(rest, ':')
		if i < 0 || i == len(rest)-1 {
			return false
		}
		if i > 0 && strings.IndexByte("spoSPO", rest[i-1]) >= 0 && strings.IndexByte(" \t\n\f\r", rest[i+1]) < 0 { // https: ftp: mailto:
			return true
		}
		rest = rest[i+1:]
	}
}

// anyWord looks for words, a word being what \b parts.
func anyWord(set func() map[string]bool) func(string) bool {
	return func(words string) bool {
		for word := range strings.FieldsFuncSeq(words, func(r rune) bool { return r >= utf8.RuneSelf || !wordRune(r) }) {
			if set()[strings.ToLower(word)] {
				return true
			}
		}
		return false
	}
}

func anyFigure(words string) bool { return strings.ContainsFunc(words, isFigure) }

func isFigure(r rune) bool { return r >= '0' && r <= '9' || r >= 0x80 && unicode.IsNumber(r) }

// All lists the things that are in a block and what it is itself, those of its
// markup first.
func (b Block) All() []Thing { return b.by(finders) }

// by lists the things of its markup, and those that some finders find.
func (b Block) by(finders []finder) []Thing {
	b.Things = slices.Clone(b.Things)
	switch b.Form {
	case Heading:
		b.add(Headings, strings.Repeat("#", b.Level)+" "+worded(b.said()))
	case Row:
		b.add(Tables, b.row())
	case Note:
		b.add(Footnotes, "[^"+b.label+"]: "+b.Words)
	case Quote:
		b.add(Quotations, plainQuotes(b.Words))
	case Item:
		if box := checkbox().FindString(b.Words); box != "" {
			b.add(Lists, strings.ToLower(box))
		}
	}
	rest := b.Words
	for _, f := range finders {
		var found []string
		found, rest = f.take(rest)
		for _, text := range found {
			b.add(f.kind, text)
		}
	}
	return b.Things
}

// row is a row with what stands in its cells, as it shows: code without the marks of
// code, and numbers in one group.
func (b Block) row() string {
	var out strings.Builder
	out.WriteString("|")
	for _, cell := range b.cells {
		out.WriteString(" " + cell.filled(ungrouped(worded(cell.Words)), 0))
		whole := strings.Count(cell.Words, standIn) == len(cell.leftOut) // else some stand in the text itself
		for _, t := range cell.Things {
			if t.Kind != Code || !whole {
				out.WriteString(" " + t.Text)
			}
		}
		out.WriteString(" |")
	}
	return out.String()
}

var thousands = patterns.Lazy(`\b\d{1,3}(?:,\d{3})+\b`)

func ungrouped(words string) string {
	if !strings.Contains(words, ",") {
		return words
	}
	return thousands().ReplaceAllStringFunc(words, func(s string) string { return strings.ReplaceAll(s, ",", "") })
}

var checkbox = patterns.Lazy(`^\[[ xX]\]`)

// matches finds what a pattern matches, as normal writes it.
func matches(pattern func() *regexp.Regexp, normal func(string) string) func(string) ([]string, string) {
	return func(words string) ([]string, string) { return taken(words, pattern(), normal) }
}

// unmasked finds what a pattern matches and leaves it in its place.
func unmasked(pattern func() *regexp.Regexp, normal func(string) string) func(string) ([]string, string) {
	return func(words string) ([]string, string) {
		found, _ := taken(words, pattern(), normal)
		return found, words
	}
}

// taken is a finder's way with a pattern: each match, as normal writes it, and
// the words without it. What normal writes as "" stays.
func taken(words string, pattern *regexp.Regexp, normal func(string) string) (found []string, rest string) {
	rest = pattern.ReplaceAllStringFunc(words, func(match string) string {
		text := normal(match)
		if text == "" {
			return match
		}
		found = append(found, text)
		return " " + standIn + " "
	})
	return found, rest
}

func same(s string) string { return s }

// An address goes on up to a blank or what no language writes in one.
var addressPattern = patterns.Lazy(`(?i)(?:\b(?:https?|ftp|mailto):|\bwww\.)(?:\{\{[^{}]*\}\}|[^\s<>"'“”„«»‘’…\x{fffc}\x{3000}-\x{3002}〈-】！（），：；？])+|\b[\w.+-]+@[\w-]+\.[\w.-]*\w`)

// linked finds addresses. A placeholder in one is left to be found.
func linked(words string) (found []string, rest string) {
	rest = addressPattern().ReplaceAllStringFunc(words, func(match string) string {
		found = append(found, bare(match))
		return " " + standIn + strings.Join(placeholderPattern().FindAllString(match, -1), standIn) + " "
	})
	return found, rest
}

// bare is an address without the sentence's own marks behind it, and Markdown's. A
// bracket that the address has opened belongs to it: wiki/A_(b).
func bare(s string) string {
	for {
		short := strings.TrimRight(s, ".,;:!?*_")
		if strings.HasSuffix(short, ")") && strings.Count(short, ")") > strings.Count(short, "(") {
			short = short[:len(short)-1]
		}
		if short == s {
			return s
		}
		s = short
	}
}

// A placeholder is where a program puts something.
var placeholderPattern = patterns.Lazy(`\{\{[^{}]*\}\}|\{%[^{}]*%\}|<%[^<>%]*%>|\$?\{ ?\$?[\pL_][\pL\pN_.:-]* ?\}|\{\d*\}|\{\w+, ?(?:plural|select(?:ordinal)?),` +
	`|%\([a-zA-Z_]\w*\)[sdf]|%[a-zA-Z_]\w*%|%(?:\d+\$)?(?:@|(?:0\d|\.\d)?l?l?[sdvqfiu]\b)|<[a-z][\w ]*>`)

// A formula stands between dollars that hug it, with no figure behind them.
var formulaPattern = patterns.Lazy(`\$\$[^$]+\$\$|\$(?:[^$\s]|[^$\s][^$\n]*[^$\s\\])\$(?:\D|$)|\\\([^$]*?\\\)|\\\[[^$]*?\\\]`)

func formulas(words string) ([]string, string) {
	return taken(words, formulaPattern(), func(s string) string {
		last, _ := utf8.DecodeLastRuneInString(s)
		if strings.HasPrefix(s, "$") && last != '$' {
			s = strings.TrimSuffix(s, string(last))
		}
		return oneLine(s)
	})
}

// The signs of formulas and of comparisons, each in one way.
const loneSigns = `≤≥≠≈→←⇒⇐±×÷¹²³⁰⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉`

var (
	signPattern = patterns.Lazy(`[<>=!]=+|&&|\|\||[-=]+>|<[-=]+|[<>=` + loneSigns + `]`)
	signs       = map[string]string{"<=": "≤", ">=": "≥", "!=": "≠", "->": "→", "-->": "→", "=>": "⇒", "<-": "←"}
)

func sign(s string) string { return cmp.Or(signs[s], s) }

// filePattern is the name of a file, its path, or an option of a program, that stands in prose.
var filePattern = patterns.Lazy(`(?:^|\s)(?:--[a-z][\w-]+|-[A-Za-z]\w{0,3}\b|(?:~|\.\.?)?/[a-z][\w.-]*\w(?:/[\w.-]*\w)*)|\b\w[\w-]+\.[a-z][a-z0-9]{0,4}\b`)

func files(words string) []string {
	if !strings.Contains(words, " -") && !strings.HasPrefix(words, "-") && !strings.Contains(words, "/") && !dotted(words) {
		return nil
	}
	found, _ := taken(words, filePattern(), strings.TrimSpace)
	return found
}

// dotted tells whether a small letter stands right behind a dot.
func dotted(words string) bool {
	for rest := words; ; {
		_, behind, found := strings.Cut(rest, ".")
		if !found || behind == "" {
			return false
		}
		if behind[0] >= 'a' && behind[0] <= 'z' {
			return true
		}
		rest = behind
	}
}

var footnotePattern = patterns.Lazy(`\[\^[^\]\s]+\]`)

// A citation points to where something is from: [12], [@key], (Smith, 2020).
var citationPattern = patterns.Lazy(`\[-?@[^\]]+\]|\B@[A-Za-z][\w:.-]*\w|\[\d+(?:[,;–-]\s?\d+)*\]` +
	`|\((?:[^()]{0,40}?\s)?\p{Lu}[^()\d]{0,80}?,?\s\(?\d{4}[a-z]?(?:[,;:][^()]{0,80})?\)|\p{Lu}[\p{L}'’-]+(?: et al\.?| (?:and|&) \p{Lu}[\p{L}'’-]+)? \(\d{4}[a-z]?\)`)

func citation(s string) string { return oneLine(strings.ReplaceAll(s, ",", "")) }

var struckPattern = patterns.Lazy(`~~[^~]+~~`)

// names are proper names and identifiers: words with a capital within a
// sentence, with a capital or a figure inside, or with underscores, and files.
func names(words string) ([]string, string) {
	found := files(words)
	begin := true // of a sentence
	list := tokens(words)
	for i, t := range list {
		doubled := i+1 < len(list) && list[i+1].word && capital(list[i+1].text) // Alice Bergmann
		switch {
		case !t.word:
			begin = begin || strings.ContainsAny(t.text, ".!?:;|“\"") || t.text == standIn
			continue
		case measure(t.text):
		case identifier(t.text), (!begin || doubled) && capital(t.text):
			found = append(found, t.text)
		}
		begin = false
	}
	return found, words
}

// measure tells what a number's kind answers for: MB, and 5,000-line.
func measure(word string) bool {
	if len(word) > 1 && units()[word] != "" {
		return true
	}
	_, behind, joined := strings.Cut(word, "-")
	first, _ := utf8.DecodeRuneInString(word)
	return joined && unicode.IsDigit(first) && strings.IndexFunc(behind, func(r rune) bool { return !unicode.IsLower(r) && r != '-' }) < 0
}

func identifier(word string) bool {
	letter, other, capitals := false, false, 0
	for i, r := range word {
		switch {
		case unicode.IsUpper(r):
			capitals++
			letter, other = true, other || i > 0
		case unicode.IsLetter(r):
			letter = true
		case unicode.IsDigit(r), r == '_':
			other = true
		}
	}
	return letter && other && !shouted[word]
}

// shouted are words of requirements that are written in capitals.
var shouted = map[string]bool{
	"MUST": true, "NOT": true, "SHALL": true, "SHOULD": true, "MAY": true, "REQUIRED": true, "OPTIONAL": true, "RECOMMENDED": true,
	"NEVER": true, "ALWAYS": true, "ONLY": true, "ALL": true, "ANY": true, "NO": true, "OR": true, "AND": true,
}

func capital(word string) bool {
	for _, r := range word {
		return unicode.IsUpper(r) && word != "I" && !strings.HasPrefix(word, "I'") && !strings.HasPrefix(word, "I’")
	}
	return false
}
