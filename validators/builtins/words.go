package builtins

import (
	"iter"
	"unicode"
	"unicode/utf8"
)

// words yields the words of a text with their offsets. A word is a run of
// letters, digits and marks. Single apostrophes, hyphens, underscores, soft
// hyphens and the joiners of Persian and Indic scripts may be inside it. In
// scripts without spaces, every character is a word, as word processors count.
// Bytes that are not UTF-8 separate words.
func words(text string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for i := 0; i < len(text); {
			end, is := wordAt(text, i)
			if is && !yield(i, text[i:end]) {
				return
			}
			i = end
		}
	}
}

// wordAt returns the end of the word at i. If no word begins there, it returns
// the end of the character and false.
func wordAt(text string, i int) (end int, is bool) {
	r, size := utf8.DecodeRuneInString(text[i:])
	if !beginsWord(r) {
		return i + size, false
	}
	for i += size; !isUnspaced(r) && i < len(text); i += size {
		r, size = utf8.DecodeRuneInString(text[i:])
		if isUnspaced(r) || !isWordRune(r) && !joins(text, i, r, size) {
			break
		}
	}
	return i, true
}

// joins reports whether the mark r at i is inside a word.
func joins(text string, i int, r rune, size int) bool {
	switch r {
	case '\'', '’', '-', '_', softHyphen, nonJoiner, joiner:
		next, _ := utf8.DecodeRuneInString(text[i+size:])
		return isWordRune(next) && !isUnspaced(next)
	}
	return false
}

const (
	softHyphen = 0x00AD
	nonJoiner  = 0x200C
	joiner     = 0x200D
)

// beginsWord reports whether a word may begin with r. Marks that change the preceding character
// into a picture are not words.
func beginsWord(r rune) bool {
	return isWordRune(r) && !isSelector(r) && !unicode.Is(unicode.Me, r)
}

func isWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	}
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}

// isUnspaced reports whether a letter's script puts no spaces between words.
func isUnspaced(r rune) bool {
	return r >= 0x0E00 && !isHangul(r) &&
		unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

func isHangul(r rune) bool { return r >= 0xAC00 && r <= 0xD7A3 }
