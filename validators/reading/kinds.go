package reading

import (
	"regexp"
	"strings"
	"unicode"
)

// A finder takes the things of one kind out of words: what it gives back is the
// words with what it took masked, so that no figure of a date is a number too.
type finder struct {
	kind Kind
	find func(words string) (found []string, rest string)
}

// finders are tried in this order.
var finders = []finder{
	{Links, addresses},
	{Placeholders, placeholders},
	{Footnotes, footnotes},
	{Citations, citations},
	{Markup, struckOut},
	{Quotations, quotations},
	{Dates, dates},
	{Modals, modals},
	{Numbers, numbers},
	{Names, names},
}

// find notes the things that are in the words of a block, and what the block
// is itself.
func (b *Block) find() {
	switch b.Form {
	case Heading:
		b.add(Headings, strings.Repeat("#", b.Level)+" "+b.Words)
	case Row:
		b.add(Tables, "| "+b.Words+" |")
	case Note:
		b.add(Footnotes, "[^"+b.label+"]: "+b.Words)
	case Quote:
		b.add(Quotations, plainQuotes(b.Words))
	case Item:
		if box := checkbox.FindString(b.Words); box != "" {
			b.add(Lists, strings.ToLower(box))
		}
	}
	rest := b.Words
	for _, f := range finders {
		var found []string
		found, rest = f.find(rest)
		for _, text := range found {
			b.add(f.kind, text)
		}
	}
}

var checkbox = regexp.MustCompile(`^\[[ xX]\]`)

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

var addressPattern = regexp.MustCompile(`(?i)\b(?:https?|ftp|mailto):[^\s<>"'” \x{fffc}]+|\bwww\.[^\s<>"']+|\b[\w.+-]+@[\w-]+\.[\w.-]*\w`)

// addresses are those that stand in the words as they are.
func addresses(words string) ([]string, string) {
	return taken(words, addressPattern, func(s string) string { return strings.TrimRight(s, ".,;:!?)") })
}

var placeholderPattern = regexp.MustCompile(`\{\{[^{}]*\}\}|\{%[^{}]*%\}|\$?\{[A-Za-z_][\w.:-]*\}|\{\d*\}|%\([a-zA-Z_]\w*\)[sdf]|%(?:\d+\$)?[sdvqfi@]\b|<[a-z][\w ]*>`)

// placeholders are where a program puts something.
func placeholders(words string) ([]string, string) {
	return taken(words, placeholderPattern, same)
}

var footnotePattern = regexp.MustCompile(`\[\^[^\]\s]+\]`)

func footnotes(words string) ([]string, string) { return taken(words, footnotePattern, same) }

var citationPattern = regexp.MustCompile(`\[-?@[^\]]+\]|\B@[A-Za-z][\w:.-]*\w|\[\d+(?:[,;–-]\s?\d+)*\]` +
	`|\((?:[^()]{0,40}?\s)?\p{Lu}[^()\d]{0,80}?,?\s\(?\d{4}[a-z]?(?:[,;:][^()]{0,80})?\)|\p{Lu}[\p{L}'’-]+(?: et al\.?| (?:and|&) \p{Lu}[\p{L}'’-]+)? \(\d{4}[a-z]?\)`)

// citations point to where something is from: [12], [@key], (Smith, 2020).
func citations(words string) ([]string, string) {
	return taken(words, citationPattern, func(s string) string { return oneLine(strings.ReplaceAll(s, ",", "")) })
}

var struckPattern = regexp.MustCompile(`~~[^~]+~~`)

func struckOut(words string) ([]string, string) { return taken(words, struckPattern, same) }

var quotationPattern = regexp.MustCompile(`“[^“”]+”|„[^„“”]+[“”]|«[^«»]+»|»[^«»]+«|「[^「」]+」|‘[^‘’]{2,}’(?:\P{L}|$)|"[^"]+"`)

// quotations are what stands in quotation marks, whichever. What is in them is
// looked at as well.
func quotations(words string) ([]string, string) {
	var found []string
	for _, s := range quotationPattern.FindAllString(words, -1) {
		found = append(found, plainQuotes(strings.Trim(s, "“”„«»「」‘’\" .,;")))
	}
	return found, words
}

// plainQuotes writes quotation marks and apostrophes in one way.
func plainQuotes(s string) string { return quoteMarks.Replace(oneLine(s)) }

var quoteMarks = strings.NewReplacer("“", `"`, "”", `"`, "„", `"`, "«", `"`, "»", `"`, "‘", "'", "’", "'")

// names are proper names and identifiers: words with a capital within a
// sentence, with a capital or a figure inside, or with underscores.
func names(words string) ([]string, string) {
	var found []string
	begin := true // of a sentence
	for _, t := range tokens(words) {
		switch {
		case !t.word:
			begin = begin || strings.ContainsAny(t.text, ".!?:;|“\"") || t.text == standIn
			continue
		case identifier(t.text), !begin && capital(t.text):
			found = append(found, t.text)
		}
		begin = false
	}
	return found, words
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
