package validators

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/seed61713e19/capstan/internal/clips"
	"github.com/seed61713e19/capstan/internal/secrets"
)

// maxShown is the maximum length of an excerpt, in characters.
const maxShown = 300

// Unreadable adds the beginning of a reply to the error of its parser. The
// excerpt is one line of at most 300 characters, without control characters. It
// contains [secret] instead of credentials. Unreadable returns nil if err is
// nil.
func Unreadable(err error, reply string) error {
	if err == nil {
		return nil
	}
	begin := excerpt(reply)
	if begin == "" {
		return fmt.Errorf("%w; it gave nothing", err)
	}
	return fmt.Errorf("%w; it gave: %s", err, begin)
}

// excerpt returns the beginning of an untrusted text for a message. It searches
// more text than it shows, so that it finds a credential whole before the cut.
func excerpt(text string) string {
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
	return clips.Chars(line, maxShown)
}
