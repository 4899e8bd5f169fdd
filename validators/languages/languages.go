// Package languages determines the language of a text as a code of ISO 639-1.
//
// A script of a single language, such as Greek or kana, determines it at once. For other
// scripts, the words that any text has (the, und, что), letters that few languages have
// (ß, ł, ї) and endings count. What several languages share counts less for each of them.
// A guess needs evidence in one word of a dozen, and clearly more than for the next
// language. Names, code, transliterations and single words have no language.
//
// Each word of tables/words.tsv is a stop word of Snowball or occurs in two message
// catalogs of Debian. The row of a language names its sources.
package languages

import (
	_ "embed"
	"iter"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// The table has a row for each language that is told by its words. Its columns are
//
//	code     of ISO 639-1
//	name     in English
//	letters  that few other languages have, "-" for none
//	endings  of words, "-" for none
//	words    that any text has
//	source   of the words
//	match    a sentence in the language
//	no       a sentence in a similar language
//
//go:embed tables/words.tsv
var rows string

// A language is one that is told by its words.
type language struct {
	code    string
	letters string // that few others have
	script  script // of its words
}

// A lexicon has what is known of all of them.
type lexicon struct {
	languages []language
	names     map[string]string // by code
	words     map[string][]int  // the languages that have a word
	endings   map[string][]int
	letters   map[rune][]int
}

var known = sync.OnceValue(func() *lexicon {
	l := &lexicon{names: map[string]string{}, words: map[string][]int{}, endings: map[string][]int{}, letters: map[rune][]int{}}
	for line := range strings.Lines(rows) {
		columns := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if len(columns) != 8 || columns[0] == "code" {
			continue
		}
		if columns[2] == "-" {
			columns[2] = ""
		}
		i := len(l.languages)
		first, _, _ := strings.Cut(columns[4], " ")
		l.languages = append(l.languages, language{columns[0], columns[2], scriptOf([]rune(first)[0])})
		l.names[columns[0]] = columns[1]
		for _, r := range columns[2] {
			l.letters[r] = append(l.letters[r], i)
		}
		for ending := range strings.FieldsSeq(columns[3]) {
			l.endings[ending] = append(l.endings[ending], i)
		}
		for word := range strings.FieldsSeq(columns[4]) {
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

// Name is a language's English name by its code of ISO 639-1, in small letters;
// empty where it is none that is told. nb and nn are told as no.
func Name(code string) string { return known().names[Canonical(code)] }

// Canonical is the code that a language is told by: of its variants (pt-BR, nb)
// the language.
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

// Codes lists the languages that are told.
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

// words are those of a text, in small letters: runs of letters. What has a digit
// in it is none.
func words(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for word := range strings.FieldsFuncSeq(strings.ToLower(text), parts) {
			if !strings.ContainsFunc(word, unicode.IsDigit) && !yield(word) {
				return
			}
		}
	}
}

// parts tells whether a sign stands between words.
func parts(r rune) bool {
	if r < utf8.RuneSelf {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	}
	return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) && r != '\u200c'
}
