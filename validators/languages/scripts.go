package languages

import "unicode"

// A script is what a word is written in. One of a single language tells it.
type script struct {
	name           string
	table          *unicode.RangeTable
	code, language string
}

// scripts in the order of how often they are met. Han is Chinese unless there
// are kana or Hangul beside it.
var scripts = []script{
	{"Latin", unicode.Latin, "", ""},
	{"Cyrillic", unicode.Cyrillic, "", ""},
	{"Arabic", unicode.Arabic, "", ""},
	{"Devanagari", unicode.Devanagari, "", ""},
	{"Han", unicode.Han, "zh", "Chinese"},
	{"Hiragana", unicode.Hiragana, "ja", "Japanese"},
	{"Katakana", unicode.Katakana, "ja", "Japanese"},
	{"Hangul", unicode.Hangul, "ko", "Korean"},
	{"Greek", unicode.Greek, "el", "Greek"},
	{"Hebrew", unicode.Hebrew, "he", "Hebrew"},
	{"Thai", unicode.Thai, "th", "Thai"},
	{"Bengali", unicode.Bengali, "bn", "Bengali"},
	{"Tamil", unicode.Tamil, "ta", "Tamil"},
	{"Telugu", unicode.Telugu, "te", "Telugu"},
	{"Gujarati", unicode.Gujarati, "gu", "Gujarati"},
	{"Kannada", unicode.Kannada, "kn", "Kannada"},
	{"Malayalam", unicode.Malayalam, "ml", "Malayalam"},
	{"Gurmukhi", unicode.Gurmukhi, "pa", "Punjabi"},
	{"Georgian", unicode.Georgian, "ka", "Georgian"},
	{"Armenian", unicode.Armenian, "hy", "Armenian"},
	{"Khmer", unicode.Khmer, "km", "Khmer"},
	{"Lao", unicode.Lao, "lo", "Lao"},
	{"Myanmar", unicode.Myanmar, "my", "Burmese"},
	{"Sinhala", unicode.Sinhala, "si", "Sinhala"},
	{"Ethiopic", unicode.Ethiopic, "am", "Amharic"},
}

func scriptOf(r rune) string {
	for _, s := range scripts {
		if unicode.Is(s.table, r) {
			return s.name
		}
	}
	return ""
}

// dense says that a script writes words without spaces between: two of its
// signs count for a word.
func dense(name string) bool {
	switch name {
	case "Han", "Hiragana", "Katakana", "Thai", "Khmer", "Lao", "Myanmar":
		return true
	}
	return false
}
