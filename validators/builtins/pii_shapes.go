package builtins

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/validators/patterns"
)

// A piiShape is how one sort of data is written, the first group of it where there is
// one, and what else it must be.
type piiShape struct {
	what  string
	needs func(piiLine) bool
	form  func() *regexp.Regexp
	is    func(found string) bool
}

var piiShapes = map[string][]piiShape{
	"mail": {{"a mail address", hasAt, patterns.Lazy(`[A-Za-z0-9][A-Za-z0-9._%+'-]{0,63}@(?:[\pL\pN](?:[\pL\pN\pM-]{0,61}[\pL\pN\pM])?\.)+[A-Za-z]{2,24}`), isMail}},
	"iban": {
		{"an IBAN", hasAccount, patterns.Lazy(`[A-Z]{2}[0-9]{2}(?:[ -]?[A-Z0-9]){11,30}`), isIBAN},
		{"an IBAN", hasDigits(10), patterns.Lazy(`[A-Za-z]{2}[0-9]{2}[ .-]?(?:[A-Za-z]{4})?(?:[ .-]?[0-9]){10,26}`), isIBAN}, // else many a hash would be one
	},
	"card": {
		{"a payment card number", hasDigits(12), patterns.Lazy(`[2-6][0-9]{3}(?:[ -]?[0-9]){8,15}`), isCard},
		{"a payment card number", hasDigits(16), patterns.Lazy(`[2-6][0-9]{3}(?:(?:\.[0-9]{4}){3}|(?:/[0-9]{4}){3})`), isCard},
	},
	"ip": {
		{"an IP address", hasDigits(4), patterns.Lazy(`[0-9]{1,3}(?:\.[0-9]{1,3}){3}`), isAddress},
		{"an IP address", hasColons, patterns.Lazy(`[0-9A-Fa-f]{1,4}:(?:[0-9A-Fa-f]{0,4}:){1,6}[0-9A-Fa-f]{0,4}`), isLongAddress},
	},
	"phone": {
		{"a phone number", hasDigits(9), patterns.Lazy(`(?:\+|00)[1-9][0-9]{0,2}(?:(?: / |[ .-])?\(?[0-9]{1,5}\)?){2,6}`), phoneOf(9, 15)},
		{"a phone number", hasDigits(9), patterns.Lazy(`\((?:0[0-9]{2,4}|[0-9]{2,3})\)[ -]?[0-9]{3,5}[ .-]?[0-9]{3,5}`), phoneOf(9, 12)}, // (1998) is a year
		{"a phone number", hasDigits(9), patterns.Lazy(`(?:\(0[1-9][0-9]{1,4}\) ?|0[1-9][0-9]{1,4} / )[0-9]{2,8}(?:[ -][0-9]{2,5}){1,4}`), phoneOf(9, 12)},
		{"a phone number", hasDigits(10), patterns.Lazy(`(?:1[.-])?[2-9][0-9]{2}[.-][2-9][0-9]{2}[.-][0-9]{4}`), phoneOf(10, 11)},
		{"a phone number", hasDigits(9), patterns.Lazy(`0[1-9][0-9]{0,4}(?:[ /-][0-9]{2,8}){1,5}`), func(found string) bool { return phoneOf(9, 12)(found) && !dated().MatchString(found) }},
		{"a phone number", hasDigits(10), patterns.Lazy(`0[1-9](?:\.[0-9]{2}){4}`), always},
		{"a phone number", hasDigits(11), patterns.Lazy(`8[ -]?\(?[0-9]{3}\)?[ -]?[0-9]{3}-[0-9]{2}-[0-9]{2}`), always},
		{"a phone number", hasDigits(7), patterns.Lazy(`(?i)(?:\b(?:tel|tele?fon[eo]?|(?:tele)?phone|mobile?|cell|handy|fax|whatsapp|tlf|tél)(?: ?(?:no|nr|number))?|т(?:ел|елефон)|моб|电话|電話|手机|手機|携帯|전화)(?:\.:|[.:]) ?(\+?\(?[0-9](?:[ ()./-]{0,3}[0-9]){6,14})`), func(found string) bool { return phoneOf(7, 15)(found) && !years().MatchString(found) }},
	},
	"national_id": nationalIDs,
}

func always(string) bool { return true }

// isMail leaves out what only looks like an address, and is nobody's: of a
// repository (git@github.com:x/y) and of a picture (logo@2x.png).
func isMail(found string) bool {
	return !strings.HasPrefix(found, "git@") && !picture().MatchString(found)
}

var picture = patterns.Lazy(`@[1-9]x\.[a-z]+$`)

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

// ibanLengths are those of the SWIFT registry.
var ibanLengths = map[string]int{
	"AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BI": 27, "BR": 29, "BY": 28, "CH": 21, "CR": 22,
	"CY": 28, "CZ": 24, "DE": 22, "DJ": 27, "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18, "FK": 18, "FO": 18, "FR": 27, "GB": 22,
	"GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28, "HN": 28, "HR": 21, "HU": 28, "IE": 22, "IL": 23, "IQ": 23, "IS": 26, "IT": 27, "JO": 30,
	"KW": 30, "KZ": 20, "LB": 28, "LC": 32, "LI": 21, "LT": 20, "LU": 20, "LV": 21, "LY": 25, "MC": 27, "MD": 24, "ME": 22, "MK": 19, "MN": 20,
	"MR": 27, "MT": 31, "MU": 30, "NI": 28, "NL": 18, "NO": 15, "OM": 23, "PK": 24, "PL": 28, "PS": 29, "PT": 25, "QA": 29, "RO": 24, "RS": 22,
	"RU": 33, "SA": 24, "SC": 31, "SD": 18, "SE": 24, "SI": 19, "SK": 24, "SM": 27, "SO": 23, "ST": 25, "SV": 28, "TL": 23, "TN": 24, "TR": 26,
	"UA": 29, "VA": 22, "VG": 24, "XK": 20, "YE": 30,
}

// cardPrefixes are the networks' numbers: the beginning and the lengths. They are
// Visa, Mastercard, American Express, Diners, JCB, Discover and RuPay, UnionPay, Mir,
// and Maestro with Elo.
var cardPrefixes = patterns.Lazy(`^(?:4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|35\d{14}|6(?:0\d\d|4[4-9]\d|5\d\d)\d{12}|62\d{14,17}|220[0-4]\d{12,15}` +
	`|(?:50(?:18|20|38|67|8[5-9])|5893|6304|6363|6759|676[1-3])\d{12,15})$`)

// isCard takes a bare run with ten zeros in a row for a round number, such as a
// float's bits, and not for a card's.
func isCard(found string) bool {
	if strings.Contains(found, "0000000000") {
		return false
	}
	s := ungrouped(found)
	return luhn(s) && cardPrefixes().MatchString(s)
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

// isLongAddress tells an address from a name in a name's space (DB::add): it has a
// digit, or three groups.
func isLongAddress(found string) bool {
	groups := len(strings.FieldsFunc(found, func(r rune) bool { return r == ':' }))
	return (groups > 2 || strings.ContainsAny(found, "0123456789")) && isAddress(found)
}

// dated is a day with an hour behind it, or a month with whatever.
var dated = patterns.Lazy(`^0[1-9][/-](?:[0-9]{2}[/-](?:19|20)[0-9]{2} [0-9]{2}$|(?:19|20)[0-9]{2} )`)

// years are from one to the next.
var years = patterns.Lazy(`^(?:19|20)[0-9]{2} ?[-/] ?(?:19|20)[0-9]{2}$`)

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
