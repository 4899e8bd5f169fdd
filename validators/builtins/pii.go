package builtins

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/patterns"
)

// The kinds of personal data. Those with check digits hardly ever mistake another
// number for one; the others go by form alone.
var (
	piiKinds     = []string{"mail", "iban", "card", "national_id", "ip", "phone"}
	checkedKinds = []string{"iban", "card", "national_id"}
)

type pii struct {
	Kinds []string `json:"kinds,omitempty" jsonschema:"which kinds to look for, of mail, iban, card, national_id, ip and phone; all of them if empty"`
	Allow []string `json:"allow,omitempty" jsonschema:"what may stand in the text, such as your own address; @example.org allows all mail addresses of a domain"`

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
		p.allowed[ungrouped(plainly(text))] = true
	}
	return nil
}

// PII rejects text with personal data: mail addresses, phone numbers, IBANs
// (mod 97), payment cards (Luhn), national identity numbers with their check
// digits and IP addresses that are not a machine's own or for documentation. The
// reason tells kinds and lines, never the data.
var PII = validators.New("pii", "Validates that the text has no personal data: mail addresses, phone, account, card and identity numbers, IP addresses",
	func(_ context.Context, p pii, s validators.Subject) (validators.Verdict, error) {
		issues := p.find(s.Content)
		if len(issues) == 0 {
			return validators.Pass("no personal data was found"), nil
		}
		return validators.FailWith(issues...), nil
	})

// maxPII bounds what one verdict lists.
const maxPII = 20

// find looks for one kind after the other; what is one of them is no other.
func (p pii) find(text string) []validators.Issue {
	text = plainly(text)
	taken := withoutEscapes(text) // with zeros in place of what was found: of the same length, so that places agree
	plain := string(taken)
	var issues []validators.Issue
	lines := counted(taken)
	for _, kind := range piiKinds {
		if len(p.Kinds) > 0 && !slices.Contains(p.Kinds, kind) {
			continue
		}
		for _, shape := range piiShapes[kind] {
			piiSearch{shape, kind, plain, taken}.in(lines, func(at int, found string) {
				if len(issues) < maxPII && !p.allows(kind, found) {
					line := 1 + strings.Count(text[:at], "\n")
					issues = append(issues, validators.Issue{Check: kind, Severity: "error", Message: shape.what, Location: fmt.Sprintf("line %d", line)})
				}
			})
		}
	}
	return issues
}

// plainly is a text with what print has for blanks, hyphens, digits and signs in
// ASCII, and without what has no width. Its lines stay the same.
func plainly(text string) string {
	var b strings.Builder
	from := 0
	for at := range len(text) {
		switch text[at] {
		case 0xC2, 0xE2, 0xE3, 0xEF: // what they begin with
		default:
			continue
		}
		r, size := utf8.DecodeRuneInString(text[at:])
		if p := typed(r); p != r {
			b.WriteString(text[from:at])
			if p >= 0 {
				b.WriteRune(p)
			}
			from = at + size
		}
	}
	if from == 0 {
		return text
	}
	b.WriteString(text[from:])
	return b.String()
}

// typed is the sign of ASCII that one stands for, or -1 where there is nothing to see.
func typed(r rune) rune {
	switch {
	case r == utf8.RuneError: // a byte alone
		return r
	case unicode.Is(unicode.Zs, r):
		return ' '
	case r >= '\u2010' && r <= '\u2013', r == '\u2212':
		return '-'
	case r >= '！' && r <= '～': // of full width
		return r - '！' + '!'
	case r == '\u00ad', r >= '\u200b' && r <= '\u200d', r == '\u2060', r == '\ufeff':
		return -1
	}
	return r
}

// withoutEscapes has zeros in place of what JSON writes for line ends and other
// characters (\n, \u00e9): neither its letters nor its digits are a part of what
// stands beside it.
func withoutEscapes(text string) []byte {
	b := []byte(text)
	for at := 0; ; at++ {
		i := bytes.IndexByte(b[at:], '\\')
		if i < 0 || at+i+1 == len(b) {
			return b
		}
		at += i
		switch b[at+1] {
		case 'n', 'r', 't':
			clear(b[at : at+2])
		case 'u':
			if end := at + 6; end <= len(b) && !bytes.ContainsFunc(b[at+2:end], func(r rune) bool { return !unicode.Is(unicode.ASCII_Hex_Digit, r) }) {
				clear(b[at:end])
			}
		}
	}
}

// A piiLine is a line with what a shape needs: the expressions cost far more than
// counting digits, and none of them goes past a line.
type piiLine struct {
	start, end int
	run        int  // the most digits with no more than gap bytes between two of them
	colons     int  // in the line
	at         bool // it has an @
	account    bool // two capitals stand before two digits
}

// gap is how many bytes stand between two digits of a shape at most: ") (".
const gap = 3

// counted gives the lines that have as much of it as any shape needs.
func counted(text []byte) (lines []piiLine) {
	for start := 0; start < len(text); {
		end := len(text)
		if i := bytes.IndexByte(text[start:], '\n'); i >= 0 {
			end = start + i
		}
		if line := count(text[start:end]); line.at || line.run > 1 || line.colons > 1 {
			line.start, line.end = start, end
			lines = append(lines, line)
		}
		start = end + 1
	}
	return lines
}

func count(text []byte) (line piiLine) {
	run, last := 0, -1
	for i, b := range text {
		switch {
		case isDigit(b):
			if i-last > gap+1 {
				run = 0
			}
			if run++; run > 1 && i-last == 1 && i >= 3 && isCapital(text[i-2]) && isCapital(text[i-3]) {
				line.account = true
			}
			last = i
			line.run = max(line.run, run)
		case b == '@':
			line.at = true
		case b == ':':
			line.colons++
		}
	}
	return line
}

func isCapital(b byte) bool { return b >= 'A' && b <= 'Z' }
func isDigit(b byte) bool   { return b >= '0' && b <= '9' }

// What a shape needs of a line.
func hasAt(l piiLine) bool      { return l.at }
func hasAccount(l piiLine) bool { return l.account }
func hasColons(l piiLine) bool  { return l.colons >= 2 }

func hasDigits(n int) func(piiLine) bool { return func(l piiLine) bool { return l.run >= n } }

// A piiSearch looks for one shape in a text, of which taken has zeros in place of
// what was found before.
type piiSearch struct {
	piiShape
	kind  string
	plain string
	taken []byte
}

// in takes what the lines have that have what the shape needs. What is none is gone
// by; where check digits tell, by one group, as the next may begin one.
func (s piiSearch) in(lines []piiLine, take func(at int, found string)) {
	for _, line := range lines {
		if !s.needs(line) {
			continue
		}
		for from := line.start; ; {
			at := s.form().FindSubmatchIndex(s.taken[from:line.end])
			if at == nil {
				break
			}
			at = at[len(at)-2:]
			start, end := from+at[0], s.end(from+at[0], from+at[1])
			switch from += at[1]; {
			case end >= 0:
				take(start, string(s.taken[start:end]))
				clear(s.taken[start:end])
				from = end
			case slices.Contains(checkedKinds, s.kind):
				for from = start; from < line.end && wordByte(s.taken[from]); {
					from++
				}
			}
		}
	}
}

// end is where the data ends that was found at a place, or -1 if it is none. The
// number of an account or a card is of many lengths, and what was found may go on
// into another number beside it, or into a word in capitals.
func (s piiSearch) end(from, to int) int {
	for end := to; end > from; end-- {
		if end < to && wordByte(s.taken[end]) {
			continue // within a group
		}
		if apart(s.kind, s.plain, []int{from, end}) && s.is(string(s.taken[from:end])) && (s.kind != "card" || cardBeside(s.taken, from, end)) {
			return end
		}
		if s.kind != "iban" && s.kind != "card" {
			break
		}
	}
	return -1
}

// cardBeside tells a card's number with another number beside it from a piece of a
// row of numbers: it is in groups as cards have them, and one of four digits does not
// stand on both sides.
func cardBeside(text []byte, from, end int) bool {
	before, after := 0, 0
	for i := from - 1; i > 0 && text[from-1] == ' ' && isDigit(text[i-1]) && before < 5; i-- {
		before++
	}
	for i := end + 1; i < len(text) && text[end] == ' ' && isDigit(text[i]) && after < 5; i++ {
		after++
	}
	return before == 0 && after == 0 || cardGroups().Match(text[from:end]) && (before != 4 || after != 4)
}

var cardGroups = patterns.Lazy(`^(?:[0-9]+|[0-9]{4}(?:[ -][0-9]{4}){2,3}(?:[ -][0-9]{1,4})?|[0-9]{4}[ -][0-9]{6}[ -][0-9]{4,5})$`)

func (p pii) allows(kind, found string) bool {
	if p.allowed[ungrouped(found)] {
		return true
	}
	_, domain, _ := strings.Cut(found, "@")
	return kind == "mail" && p.allowed[ungrouped("@"+domain)]
}

// apart tells whether what was found is no part of a longer word or number. A
// slash joins what looks like a phone number alone: there it may be a date. What has
// a port or a path behind it may be who is to log in at a server.
func apart(kind, text string, at []int) bool {
	joins := "_-.+%\\"
	if kind == "phone" {
		joins += "/="
	}
	if kind != "mail" && at[0] > 0 && (wordByte(text[at[0]-1]) || strings.IndexByte(joins, text[at[0]-1]) >= 0) {
		return false
	}
	rest := text[at[1]:]
	switch before := text[max(0, at[0]-maxBefore):at[0]]; {
	case kind == "ip" && numbered().MatchString(before), kind == "mail" && strings.HasSuffix(before, "://") && strings.IndexAny(rest, ":/") == 0:
		return false
	case rest == "":
		return true
	}
	if wordByte(rest[0]) || rest[0] == '_' || rest[0] == '@' {
		return false
	}
	return strings.IndexByte(joins, rest[0]) < 0 || len(rest) == 1 || !wordByte(rest[1])
}

// numbered is what stands before a number of a version or a chapter, which may look
// like an address.
var numbered = patterns.Lazy(`(?i)(?:\b(?:version|release|firmware|build|section|chapter|clause|abschnitt|kapitel|step)|§|版本)[ :]*$`)

// maxBefore is how many bytes of what stands before are looked at.
const maxBefore = 16

// wordByte is a letter or a digit of ASCII: scripts without blanks stand next to
// a number without being a part of it.
func wordByte(b byte) bool {
	return isDigit(b) || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

// ungrouped is a text without what is only there to group it.
func ungrouped(text string) string {
	return strings.ToUpper(grouping.Replace(text))
}

var grouping = strings.NewReplacer(" ", "", "-", "", ".", "", "/", "", "(", "", ")", "")
