package jinja

import (
	"slices"
	"strings"
	"unicode"
)

// wordWrap wraps every line of a text as Python's textwrap does.
func wordWrap(r *render, v any, a []any) any {
	s := r.textOf(v, "the text to wrap")
	width := r.integer(a[0], "the width")
	if width <= 0 {
		r.fail("the width of wordwrap must be at least 1")
	}
	w := &wrapper{width: int(min(width, maxOutput)), breakWords: r.truth(a[1]), breakHyphens: r.truth(a[3])}
	end := "\n"
	if a[2] != nil {
		end = r.textOf(a[2], "the end of a line")
	}
	b := r.builder()
	for i, line := range splitLines(s, false) {
		if i > 0 {
			b.text(end)
		}
		r.charge(len(line))
		for j, wrapped := range w.wrap(line) {
			if j > 0 {
				b.text(end)
			}
			b.text(wrapped)
		}
	}
	return b.String()
}

type wrapper struct {
	width                    int
	breakWords, breakHyphens bool
}

// wrap is TextWrapper._wrap_chunks.
func (w *wrapper) wrap(line string) []string {
	chunks := w.chunks([]rune(line))
	var lines []string
	for len(chunks) > 0 {
		var current []chunk
		length := 0
		if chunks[0].isBlank() && len(lines) > 0 {
			chunks = chunks[1:]
		}
		for len(chunks) > 0 && length+len(chunks[0].text) <= w.width {
			current = append(current, chunks[0])
			length += len(chunks[0].text)
			chunks = chunks[1:]
		}
		if len(chunks) > 0 && len(chunks[0].text) > w.width {
			chunks, current = w.longWord(chunks, current, length)
		}
		if len(current) > 0 && current[len(current)-1].isBlank() {
			current = current[:len(current)-1]
		}
		if len(current) > 0 {
			var text []rune
			for _, c := range current {
				text = append(text, c.text...)
			}
			lines = append(lines, string(text))
		}
	}
	return lines
}

// longWord breaks a word that no line has room for, or gives it a line of its own.
func (w *wrapper) longWord(chunks, current []chunk, length int) (rest, line []chunk) {
	if !w.breakWords {
		if len(current) > 0 {
			return chunks, current
		}
		return chunks[1:], append(current, chunks[0])
	}
	space := w.width - length
	end, word := space, chunks[0].text
	if w.breakHyphens && len(word) > space {
		hyphen := space - 1
		for hyphen >= 0 && word[hyphen] != '-' {
			hyphen--
		}
		if hyphen > 0 && slices.ContainsFunc(word[:hyphen], func(c rune) bool { return c != '-' }) {
			end = hyphen + 1
		}
	}
	current = append(current, newChunk(word[:end]))
	chunks[0].text = word[end:]
	return chunks, current
}

// A chunk is not broken where a line has room for it. How many spaces end it stays
// the same when a long one loses its beginning, line by line.
type chunk struct {
	text   []rune
	spaces int
}

func newChunk(text []rune) chunk {
	n := len(text)
	for n > 0 && isSpace(text[n-1]) {
		n--
	}
	return chunk{text, len(text) - n}
}

func (c chunk) isBlank() bool { return c.spaces >= len(c.text) }

func isWrapSpace(c rune) bool { return strings.ContainsRune("\t\n\v\f\r ", c) }

// chunks splits a line where it may be broken.
func (w *wrapper) chunks(s []rune) []chunk {
	var chunks []chunk
	for i := 0; i < len(s); {
		end := i
		switch {
		case isWrapSpace(s[i]):
			for end < len(s) && isWrapSpace(s[end]) {
				end++
			}
		case w.breakHyphens:
			end = chunkEnd(s, i)
		default:
			for end < len(s) && !isWrapSpace(s[end]) {
				end++
			}
		}
		chunks = append(chunks, newChunk(s[i:end]))
		i = end
	}
	return chunks
}

// chunkEnd matches the words of TextWrapper.wordsep_re: up to a space, after a hyphen inside a word, before a dash and
// the dash itself.
func chunkEnd(s []rune, i int) int {
	if dash := dashes(s, i); i > 0 && isWordPunctuation(s[i-1]) && dash > 0 {
		return i + dash
	}
	for end := i + 1; ; end++ {
		switch {
		case end >= len(s) || isWrapSpace(s[end]):
			return end
		case s[end] == '-' && breaksAfter(s, i, end):
			return end + 1
		case isWordPunctuation(s[end-1]) && dashes(s, end) > 0:
			return end
		}
	}
}

// dashes counts two or more hyphens that lead to a letter.
func dashes(s []rune, i int) int {
	n := 0
	for i+n < len(s) && s[i+n] == '-' {
		n++
	}
	if n < 2 || i+n >= len(s) || !isWord(s[i+n]) {
		return 0
	}
	return n
}

// breaksAfter tells whether the hyphen at h stands inside a word with letters enough around it.
func breaksAfter(s []rune, start, h int) bool {
	before := h >= 2 && isLetter(s[h-1]) && isLetter(s[h-2]) ||
		h >= 3 && isLetter(s[h-1]) && s[h-2] == '-' && isLetter(s[h-3])
	if !before || h <= start || h+1 >= len(s) || !isLetter(s[h+1]) {
		return false
	}
	next := h + 2
	if next < len(s) && s[next] == '-' {
		next++
	}
	return next < len(s) && isLetter(s[next])
}

func isLetter(c rune) bool { return isWord(c) && !unicode.Is(unicode.Nd, c) }

func isWordPunctuation(c rune) bool { return isWord(c) || strings.ContainsRune(`!"'&.,?`, c) }
