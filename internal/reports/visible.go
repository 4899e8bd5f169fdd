package reports

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Visible returns text with every character visible that would act on a terminal or
// a page, or hide in it. Control characters become their pictures (␛). Characters
// that change the direction of writing, and most of those without a width, become
// their code point (⟦U+202E⟧). Line ends and tabs stay.
func Visible(text string) string {
	if strings.IndexFunc(text, hidden) < 0 && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text) + len(text)/8)
	for _, r := range text {
		switch {
		case !hidden(r):
			b.WriteRune(r)
		case r < ' ':
			b.WriteRune('␀' + r)
		case r == 0x7f:
			b.WriteRune('␡')
		default:
			fmt.Fprintf(&b, "⟦U+%04X⟧", r)
		}
	}
	return b.String()
}

// VisibleLine is [Visible] for a text that must not start a new line, such as a
// file name.
func VisibleLine(text string) string {
	return strings.NewReplacer("\n", "␊", "\t", "␉").Replace(Visible(text))
}

func hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r >= ' ' && r < 0x7f:
		return false
	case r == '\u200c' || r == '\u200d' || r == '\ufe0f':
		return false // parts of words and of emoji
	}
	return unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029'
}

// A VisibleWriter writes what [Visible] returns for a text, however the text is cut
// into writes. Call Flush at the end.
type VisibleWriter struct {
	Out io.Writer

	mu   sync.Mutex
	rest []byte // the beginning of a character
}

// Write writes p, except for the beginning of a character at its end.
func (w *VisibleWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := append(w.rest, p...)
	end := len(text)
	for back := 1; back < utf8.UTFMax && back <= len(text); back++ {
		if last := text[len(text)-back:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				end -= back
			}
			break
		}
	}
	w.rest = append([]byte(nil), text[end:]...)
	if _, err := io.WriteString(w.Out, Visible(string(text[:end]))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush writes the beginning of a character whose end is missing.
func (w *VisibleWriter) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err := io.WriteString(w.Out, Visible(string(w.rest)))
	w.rest = nil
	return err
}
