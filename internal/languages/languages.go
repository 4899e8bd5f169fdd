// Package languages determines the language of a text as a code of ISO 639-1.
//
// A script of a single language, such as Greek or kana, determines the
// language. For other scripts, common words (the, und, что), rare letters (ß,
// ł, ї) and endings count. Evidence that several languages share counts less. A
// guess needs evidence in one word of a dozen, and clearly more evidence than
// the next language has. Names, code, transliterations and single words have no
// language.
//
// Each word of tables/words.tsv is a stop word of Snowball or occurs in two
// message catalogs of Debian. The row of a language names its sources.
package languages

import (
	_ "embed"
	"iter"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/internal/tables"
)

// The table has a row for each language that words determine. Its columns are
//
//	code     of ISO 639-1
//	name     in English
//	letters  that few other languages have
//	endings  of words
//	words    that any text has
//	source   of the words
//	match    a sentence in the language
//	no       a sentence in a similar language
//
//go:embed tables/words.tsv
var wordTable string

// A language is one that words determine.
type language struct {
	code    string
	letters string // letters that are rare in other languages
	script  script // the script of its words
}

// A lexicon has the features of all languages.
type lexicon struct {
	languages []language
	names     map[string]string // the names, by code
	words     map[string][]int  // the languages of each word
	endings   map[string][]int
	letters   map[rune][]int
}

var known = sync.OnceValue(func() *lexicon {
	l := &lexicon{names: map[string]string{}, words: map[string][]int{}, endings: map[string][]int{}, letters: map[rune][]int{}}
	for i, row := range tables.Rows(wordTable) {
		l.languages = append(l.languages, language{row["code"], row["letters"], scriptOf([]rune(row["words"])[0])})
		l.names[row["code"]] = row["name"]
		for _, r := range row["letters"] {
			l.letters[r] = append(l.letters[r], i)
		}
		for ending := range strings.FieldsSeq(row["endings"]) {
			l.endings[ending] = append(l.endings[ending], i)
		}
		for word := range strings.FieldsSeq(row["words"]) {
			l.words[word] = append(l.words[word], i)
		}
	}
	for _, s := range scripts {
		if s.code != "" {
			l.names[s.code] = s.language
		}
	}
	return l
})

// Name returns the English name of a language in lower case, or "" if the
// package does not know its code. nb and nn return the name of no.
func Name(code string) string { return known().names[Canonical(code)] }

// Canonical returns the code without its variant: pt for pt-BR. It returns no
// for nb and nn.
func Canonical(code string) string {
	code, _, _ = strings.Cut(strings.ToLower(code), "-")
	switch code {
	case "nb", "nn":
		return "no"
	case "ms":
		return "id"
	case "bs":
		return "hr"
	}
	return code
}

// Codes returns the codes of all known languages.
func Codes() []string {
	var codes []string
	for _, l := range known().languages {
		codes = append(codes, l.code)
	}
	for _, s := range scripts {
		if s.code != "" {
			codes = append(codes, s.code)
		}
	}
	return codes
}

// words returns the words of a text in lower case. A word is a run of letters
// without digits.
func words(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for word := range strings.FieldsFuncSeq(strings.ToLower(text), parts) {
			if !strings.ContainsFunc(word, unicode.IsDigit) && !yield(word) {
				return
			}
		}
	}
}

// parts reports whether a character separates words.
func parts(r rune) bool {
	if r < utf8.RuneSelf {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	}
	return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) && r != '\u200c'
}
