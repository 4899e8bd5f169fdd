package validators

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/seed61713e19/capstan/validators/secrets"
)

// maxShown is how much is shown of an answer that is no verdict, in characters.
const maxShown = 300

// Unreadable is the error of an answer that is no verdict, with the beginning of
// what was said: 300 characters in one line, without control characters, with
// [secret] where a credential stands. It is nil where err is.
func Unreadable(err error, said string) error {
	if err == nil {
		return nil
	}
	begin := beginning(said)
	if begin == "" {
		return fmt.Errorf("%w; it gave nothing", err)
	}
	return fmt.Errorf("%w; it gave: %s", err, begin)
}

// beginning is the beginning of a foreign text, for a person. More is looked at than
// is shown, so that a credential is found whole before the text is cut.
func beginning(text string) string {
	text = strings.ToValidUTF8(text[:min(len(text), 64*maxShown)], "\uFFFD")
	var b strings.Builder
	at := 0
	for s := range secrets.In(text) {
		b.WriteString(text[at:s.Start] + "[secret]")
		at = s.End
	}
	b.WriteString(text[at:])
	line := strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) {
			return ' '
		}
		return r
	}, b.String())), " ")
	if runes := []rune(line); len(runes) > maxShown {
		return string(runes[:maxShown]) + "…"
	}
	return line
}
