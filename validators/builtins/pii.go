package builtins

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"golang.org/x/text/unicode/norm"

	"github.com/seed61713e19/capstan/internal/patterns"
	"github.com/seed61713e19/capstan/internal/tables"
	"github.com/seed61713e19/capstan/validators"
)

var piiKinds = []string{"mail", "iban", "card", "national_id", "ip", "phone"}

type pii struct {
	Kinds []string `json:"kinds,omitempty" jsonschema:"kinds to find: mail, iban, card, national_id, ip, phone. Default: all"`
	Allow []string `json:"allow,omitempty" jsonschema:"allowed data, for example your address. @example.org allows all mail addresses of a domain"`

	allowed map[string]bool
}

// Prepare implements [validators.Prepared].
func (p *pii) Prepare() error {
	for _, kind := range p.Kinds {
		if !slices.Contains(piiKinds, kind) {
			return fmt.Errorf("kinds: there is no kind %q; there are %s", kind, strings.Join(piiKinds, ", "))
		}
	}
	p.allowed = map[string]bool{}
	for _, text := range p.Allow {
		p.allowed[ungrouped(normalized(text))] = true
	}
	return nil
}

// piiValidator rejects text with personal data: mail addresses, phone numbers, IBANs,
// payment cards, national identity numbers and IP addresses. tables/pii.tsv
// lists their forms. The reason contains kinds and lines, never the data.
var piiValidator = validators.New("pii", "Validates that the text has no personal data: mail addresses, phone, account, card and identity numbers, IP addresses",
	func(_ context.Context, p pii, s validators.Subject) (validators.Verdict, error) {
		found := findings{}
		text := escapes().ReplaceAllStringFunc(normalized(s.Content), func(e string) string { return strings.Repeat("\x00", len(e)) })
		taken := []byte(text)
		for _, shape := range piiShapes() {
			if len(p.Kinds) > 0 && !slices.Contains(p.Kinds, shape.kind) {
				continue
			}
			found.check = shape.kind
			shape.search(text, taken, func(at int, data string) {
				if _, domain, _ := strings.Cut(data, "@"); !p.allowed[ungrouped(data)] && !p.allowed[ungrouped("@"+domain)] {
					found.addAt(text, at, "%s", shape.name)
				}
			})
		}
		return found.verdict("no personal data was found"), nil
	})

// escapes matches escapes of JSON strings, which may be next to data.
var escapes = patterns.Lazy(`\\(?:[nrt]|u[0-9A-Fa-f]{4})`)

// normalized returns a text with the spaces, hyphens, digits and signs of
// ASCII, and without characters that have no width. Its lines stay the same.
func normalized(text string) string { return dashes.Replace(norm.NFKC.String(text)) }

var dashes = strings.NewReplacer("\u2010", "-", "\u2011", "-", "\u2012", "-", "\u2013", "-", "\u2212", "-",
	"\u00ad", "", "\u200b", "", "\u200c", "", "\u200d", "", "\u2060", "", "\ufeff", "")

// ungrouped returns a text in capitals without the signs that group it.
func ungrouped(text string) string { return strings.ToUpper(grouping.Replace(text)) }

var grouping = strings.NewReplacer(" ", "", "-", "", ".", "", "/", "", "(", "", ")", "", "+", "")

// A piiShape is a row of tables/pii.tsv. Lines without its sign or its number
// of digits are skipped.
type piiShape struct {
	kind, name, sign        string
	digits                  int
	pattern, before, except func() *regexp.Regexp
	checks                  []func(found string) bool
}

var piiShapes = sync.OnceValue(func() []piiShape {
	var shapes []piiShape
	for _, r := range tables.Rows(piiTable) {
		s := piiShape{
			kind: r["kind"], name: r["name"], digits: number(r["needs"]),
			pattern: patterns.Lazy(r["pattern"]), before: patterns.Lazy(r["before"]), except: patterns.Lazy(r["except"]),
		}
		if s.digits == 0 {
			s.sign = r["needs"]
		}
		for check := range strings.FieldsFuncSeq(r["check"], func(c rune) bool { return c == ';' }) {
			words := strings.Fields(check)
			s.checks = append(s.checks, func(found string) bool { return piiChecks[words[0]](ungrouped(found), words[1:]) })
		}
		shapes = append(shapes, s)
	}
	return shapes
})

// search reports the data of a shape in a text. It clears the data in taken, so
// that no other kind finds it again.
func (s *piiShape) search(text string, taken []byte, report func(at int, data string)) {
	checked := slices.Contains([]string{"iban", "card", "national_id"}, s.kind)
	start := 0
	for line := range strings.SplitAfterSeq(text, "\n") {
		from, end := start, start+len(line)
		start = end
		if !strings.Contains(line, s.sign) || len(digitsOf(line)) < s.digits {
			continue
		}
		for {
			at := s.pattern().FindSubmatchIndex(taken[from:end])
			if at == nil {
				break
			}
			begin, to := from+at[len(at)-2], from+at[len(at)-1]
			from += at[1]
			if last := s.end(text, taken, begin, to); last >= 0 {
				report(begin, string(taken[begin:last]))
				clear(taken[begin:last])
			} else if checked { // the next group may begin a number
				for from = begin; from < end && wordByte(taken[from]); {
					from++
				}
			}
		}
	}
}

// end returns the end of the data at a place, or -1. The pattern of an account
// or a card may reach into a number or word after it.
func (s *piiShape) end(text string, taken []byte, from, to int) int {
	for end := to; end > from; end-- {
		if end < to && wordByte(taken[end]) {
			continue // within a group
		}
		if found := string(taken[from:end]); s.alone(text, from, end) && !s.except().MatchString(found) &&
			!slices.ContainsFunc(s.checks, func(is func(string) bool) bool { return !is(found) }) {
			return end
		}
		if s.kind != "iban" && s.kind != "card" {
			break
		}
	}
	return -1
}

// alone reports whether the data at a place is not part of a longer word or
// number. A slash joins only phone numbers, because those may be dates.
func (s *piiShape) alone(text string, from, to int) bool {
	joins := "_-.+%\\"
	if s.kind == "phone" {
		joins += "/="
	}
	before, rest := text[max(0, from-16):from], text[to:]
	switch {
	case s.kind == "mail" && strings.HasSuffix(before, "://") && strings.IndexAny(rest, ":/") == 0, // a login to a server
		s.kind != "mail" && from > 0 && (wordByte(text[from-1]) || strings.IndexByte(joins, text[from-1]) >= 0),
		s.before().MatchString(before),
		s.kind == "card" && amidNumbers().MatchString(before+"#"+rest[:min(len(rest), 6)]):
		return false
	case rest == "":
		return true
	case wordByte(rest[0]), rest[0] == '_', rest[0] == '@':
		return false
	}
	return strings.IndexByte(joins, rest[0]) < 0 || len(rest) == 1 || !wordByte(rest[1])
}

// amidNumbers matches four digits before and after "#".
var amidNumbers = patterns.Lazy(`\b[0-9]{4} # [0-9]{4}\b`)

// wordByte reports whether a byte is an ASCII letter or digit.
func wordByte(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}
