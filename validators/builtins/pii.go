package builtins

import (
	"bytes"
	"context"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/patterns"
)

// The kinds of personal data. Those with check digits (iban, card, national_id)
// hardly ever mistake another number for one; the others go by form alone.
var piiKinds = []string{"mail", "iban", "card", "national_id", "ip", "phone"}

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
		p.allowed[ungrouped(text)] = true
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
	taken := []byte(text) // with zeros in place of what was found: of the same length, so that places agree
	var issues []validators.Issue
	lines := counted(taken)
	for _, kind := range piiKinds {
		if len(p.Kinds) > 0 && !slices.Contains(p.Kinds, kind) {
			continue
		}
		for _, shape := range piiShapes[kind] {
			for _, at := range shape.findIn(lines, taken) {
				if kind == "iban" {
					at[1] = at[0] + ibanEnd(text[at[0]:at[1]])
				}
				found := string(taken[at[0]:at[1]])
				if !apart(kind, text, at) || !shape.is(found) {
					continue
				}
				for i := at[0]; i < at[1]; i++ {
					taken[i] = 0
				}
				if len(issues) < maxPII && !p.allows(kind, found) {
					line := 1 + strings.Count(text[:at[0]], "\n")
					issues = append(issues, validators.Issue{Check: kind, Severity: "error", Message: shape.what, Location: fmt.Sprintf("line %d", line)})
				}
			}
		}
	}
	return issues
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
		case b >= '0' && b <= '9':
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

// What a shape needs of a line.
func hasAt(l piiLine) bool      { return l.at }
func hasAccount(l piiLine) bool { return l.account }
func hasColons(l piiLine) bool  { return l.colons >= 2 }

func hasDigits(n int) func(piiLine) bool { return func(l piiLine) bool { return l.run >= n } }

// findIn is FindAllIndex over the lines of the text that have what a shape needs.
func (shape piiShape) findIn(lines []piiLine, text []byte) (found [][]int) {
	for _, line := range lines {
		if !shape.needs(line) {
			continue
		}
		for _, at := range shape.form().FindAllIndex(text[line.start:line.end], -1) {
			found = append(found, []int{line.start + at[0], line.start + at[1]})
		}
	}
	return found
}

func (p pii) allows(kind, found string) bool {
	if p.allowed[ungrouped(found)] {
		return true
	}
	_, domain, _ := strings.Cut(found, "@")
	return kind == "mail" && p.allowed[ungrouped("@"+domain)]
}

// apart tells whether what was found is no part of a longer word or number. A
// slash joins what looks like a phone number alone: there it may be a date.
func apart(kind, text string, at []int) bool {
	joins := "_-.+%\\"
	if kind == "phone" {
		joins += "/="
	}
	if kind != "mail" && at[0] > 0 && (wordByte(text[at[0]-1]) || strings.IndexByte(joins, text[at[0]-1]) >= 0) {
		return false
	}
	rest := text[at[1]:]
	if rest == "" {
		return true
	}
	if wordByte(rest[0]) || rest[0] == '_' || rest[0] == '@' {
		return false
	}
	return strings.IndexByte(joins, rest[0]) < 0 || len(rest) == 1 || !wordByte(rest[1])
}

// wordByte is a letter or a digit of ASCII: scripts without blanks stand next to
// a number without being a part of it.
func wordByte(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

// ungrouped is a text without what is only there to group it.
func ungrouped(text string) string {
	return strings.ToUpper(strings.NewReplacer(" ", "", "-", "", ".", "", "/", "", "(", "", ")", "").Replace(text))
}

// A piiShape is how one sort of data is written, and what else it must be.
type piiShape struct {
	what  string
	needs func(piiLine) bool
	form  func() *regexp.Regexp
	is    func(found string) bool
}

var piiShapes = map[string][]piiShape{
	"mail": {{"a mail address", hasAt, patterns.Lazy(`[A-Za-z0-9][A-Za-z0-9._%+'-]{0,63}@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]{2,24}`), always}},
	"iban": {{"an IBAN", hasAccount, patterns.Lazy(`[A-Z]{2}[0-9]{2}(?:[ -]?[A-Z0-9]){11,30}`), isIBAN}},
	"card": {{"a payment card number", hasDigits(12), patterns.Lazy(`[2-6][0-9]{3}(?:[ -]?[0-9]){8,15}`), isCard}},
	"ip": {
		{"an IP address", hasDigits(4), patterns.Lazy(`[0-9]{1,3}(?:\.[0-9]{1,3}){3}`), isAddress},
		{"an IP address", hasColons, patterns.Lazy(`[0-9A-Fa-f]{1,4}:(?:[0-9A-Fa-f]{0,4}:){1,6}[0-9A-Fa-f]{0,4}`), isAddress},
	},
	"phone": {
		{"a phone number", hasDigits(9), patterns.Lazy(`(?:\+|00)[1-9][0-9]{0,2}(?:[ .-]?\(?[0-9]{1,5}\)?){2,6}`), phoneOf(9, 15)},
		{"a phone number", hasDigits(9), patterns.Lazy(`\(0?[0-9]{2,4}\)[ -]?[0-9]{3,5}[ .-]?[0-9]{3,5}`), phoneOf(9, 12)},
		{"a phone number", hasDigits(10), patterns.Lazy(`[2-9][0-9]{2}([.-])[2-9][0-9]{2}[.-][0-9]{4}`), phoneOf(10, 10)},
		{"a phone number", hasDigits(9), patterns.Lazy(`0[1-9][0-9]{0,4}(?:[ /-][0-9]{2,8}){1,5}`), phoneOf(9, 12)},
	},
	"national_id": nationalIDs,
}

func always(string) bool { return true }

// isIBAN holds an account number against its check digits, ISO 13616, and its
// country's length.
func isIBAN(found string) bool {
	s := ungrouped(found)
	if ibanLengths[s[:2]] != len(s) {
		return false
	}
	rest := 0
	for _, c := range s[4:] + s[:4] {
		if c >= 'A' {
			rest = (rest*100 + int(c-'A') + 10) % 97
		} else {
			rest = (rest*10 + int(c-'0')) % 97
		}
	}
	return rest == 1
}

// ibanEnd is where an account number of its country's length ends: a word in
// capitals may follow.
func ibanEnd(found string) int {
	left := ibanLengths[found[:2]]
	for i := range len(found) {
		if wordByte(found[i]) {
			left--
		}
		if left == 0 {
			return i + 1
		}
	}
	return len(found)
}

// ibanLengths are those of the SWIFT registry.
var ibanLengths = map[string]int{
	"AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BR": 29, "CH": 21, "CR": 22, "CY": 28, "CZ": 24,
	"DE": 22, "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18, "FO": 18, "FR": 27, "GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27,
	"GT": 28, "HR": 21, "HU": 28, "IE": 22, "IL": 23, "IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LI": 21, "LT": 20, "LU": 20,
	"LV": 21, "MC": 27, "MD": 24, "ME": 22, "MK": 19, "MR": 27, "MT": 31, "MU": 30, "NL": 18, "NO": 15, "PK": 24, "PL": 28, "PS": 29, "PT": 25,
	"QA": 29, "RO": 24, "RS": 22, "SA": 24, "SE": 24, "SI": 19, "SK": 24, "SM": 27, "TN": 24, "TR": 26, "UA": 29, "VG": 24, "XK": 20,
}

// cardPrefixes are the networks' numbers: the beginning and the lengths.
var cardPrefixes = patterns.Lazy(`^(?:4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|35\d{14}|6(?:011|4[4-9]\d|5\d\d)\d{12}|62\d{14,17})$`)

// isCard takes a bare run with ten zeros in a row for a round number, such as a
// float's bits, and not for a card's.
func isCard(found string) bool {
	if strings.Contains(found, "0000000000") {
		return false
	}
	s := ungrouped(found)
	return cardPrefixes().MatchString(s) && luhn(s)
}

// luhn is the check of ISO/IEC 7812.
func luhn(digits string) bool {
	sum := 0
	for i := range len(digits) {
		d := int(digits[len(digits)-1-i] - '0')
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}

// notPersonal are addresses that are nobody's: for documentation (RFC 5737, RFC
// 3849).
var notPersonal = []netip.Prefix{
	netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("198.51.100.0/24"), netip.MustParsePrefix("203.0.113.0/24"),
	netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("255.255.255.0/24"), netip.MustParsePrefix("0.0.0.0/8"),
}

func isAddress(found string) bool {
	a, err := netip.ParseAddr(found)
	if err != nil || a.IsLoopback() || a.IsUnspecified() || a.IsMulticast() {
		return false
	}
	return !slices.ContainsFunc(notPersonal, func(p netip.Prefix) bool { return p.Contains(a) })
}

// phoneOf tells whether so many digits were found.
func phoneOf(least, most int) func(string) bool {
	return func(found string) bool {
		n := 0
		for _, c := range found {
			if c >= '0' && c <= '9' {
				n++
			}
		}
		return n >= least && n <= most
	}
}
