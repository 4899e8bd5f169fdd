package languages

import (
	"unicode"
	"unicode/utf8"
)

// A script is an index into scripts.
type script int

const (
	unknown script = iota - 1
	latin
	cyrillic
	arabic
	devanagari
	han
	hiragana
	katakana
	hangul
	greek
	hebrew
	thai
	bengali
	tamil
	telugu
	gujarati
	kannada
	malayalam
	gurmukhi
	georgian
	armenian
	khmer
	lao
	myanmar
	sinhala
	ethiopic
)

// scripts are sorted by frequency. Han without kana or Hangul is Chinese. A
// script of a single language determines it.
var scripts = []struct {
	table          *unicode.RangeTable
	code, language string
}{
	latin:      {unicode.Latin, "", ""},
	cyrillic:   {unicode.Cyrillic, "", ""},
	arabic:     {unicode.Arabic, "", ""},
	devanagari: {unicode.Devanagari, "", ""},
	han:        {unicode.Han, "zh", "Chinese"},
	hiragana:   {unicode.Hiragana, "ja", "Japanese"},
	katakana:   {unicode.Katakana, "ja", "Japanese"},
	hangul:     {unicode.Hangul, "ko", "Korean"},
	greek:      {unicode.Greek, "el", "Greek"},
	hebrew:     {unicode.Hebrew, "he", "Hebrew"},
	thai:       {unicode.Thai, "th", "Thai"},
	bengali:    {unicode.Bengali, "bn", "Bengali"},
	tamil:      {unicode.Tamil, "ta", "Tamil"},
	telugu:     {unicode.Telugu, "te", "Telugu"},
	gujarati:   {unicode.Gujarati, "gu", "Gujarati"},
	kannada:    {unicode.Kannada, "kn", "Kannada"},
	malayalam:  {unicode.Malayalam, "ml", "Malayalam"},
	gurmukhi:   {unicode.Gurmukhi, "pa", "Punjabi"},
	georgian:   {unicode.Georgian, "ka", "Georgian"},
	armenian:   {unicode.Armenian, "hy", "Armenian"},
	khmer:      {unicode.Khmer, "km", "Khmer"},
	lao:        {unicode.Lao, "lo", "Lao"},
	myanmar:    {unicode.Myanmar, "my", "Burmese"},
	sinhala:    {unicode.Sinhala, "si", "Sinhala"},
	ethiopic:   {unicode.Ethiopic, "am", "Amharic"},
}

func scriptOf(r rune) script {
	if r < utf8.RuneSelf {
		if parts(r) || unicode.IsDigit(r) {
			return unknown
		}
		return latin
	}
	for i, s := range scripts {
		if unicode.Is(s.table, r) {
			return script(i)
		}
	}
	return unknown
}

// dense reports whether a script has no spaces between words. Two of its
// characters count as a word.
func (s script) dense() bool {
	switch s {
	case han, hiragana, katakana, thai, khmer, lao, myanmar:
		return true
	}
	return false
}
