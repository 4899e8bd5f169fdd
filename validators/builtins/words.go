package builtins

import (
	"iter"
	"unicode"
	"unicode/utf8"
)

// words yields the words of a text with their offsets: runs of letters, digits
// and marks, held together by single apostrophes, hyphens, underscores, soft hyphens
// and the joiners of Persian and Indic scripts inside them. In scripts written without spaces every character is a word, as
// word processors count. Bytes that are not UTF-8 separate words.
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

// wordAt reads the word at i, or the one character there that begins none.
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

// joins says whether the mark r at i holds a word together.
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

// beginsWord leaves out the marks that make a picture of what they stand behind.
func beginsWord(r rune) bool {
	return isWordRune(r) && !isSelector(r) && !unicode.Is(unicode.Me, r)
}

func isWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	}
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}

// isUnspaced says that a letter's script puts no spaces between words.
func isUnspaced(r rune) bool {
	return r >= 0x0E00 && !isHangul(r) &&
		unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

func isHangul(r rune) bool { return r >= 0xAC00 && r <= 0xD7A3 }
