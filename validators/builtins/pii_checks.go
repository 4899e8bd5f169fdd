package builtins

import (
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/seed61713e19/capstan/internal/tables"
)

// piiChecks maps the names of checks in tables/pii.tsv to functions of the
// ungrouped match and the arguments in the cell.
var piiChecks = map[string]func(s string, args []string) bool{
	"address":  func(s string, _ []string) bool { _, err := netip.ParseAddr(s); return err == nil },
	"digits":   func(s string, args []string) bool { return slices.Contains(args, strconv.Itoa(len(digitsOf(s)))) },
	"luhn":     func(s string, args []string) bool { d := digitsOf(s); return luhn(d[len(d)-number(args[0]):]) },
	"iban":     func(s string, _ []string) bool { return isIBAN(s) },
	"card":     func(s string, _ []string) bool { return luhn(s) && cardNumbers().MatchString(s) },
	"mod":      modCheck,
	"key97":    key97,
	"mod11_10": mod11and10,
}

func number(digits string) int { n, _ := strconv.Atoi(digits); return n }

func digitsOf(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r < '0' || r > '9' }), "")
}

// luhn reports whether the check digit of ISO/IEC 7812 is right.
func luhn(digits string) bool {
	sum := 0
	for i := range len(digits) {
		d := int(digits[len(digits)-1-i] - '0')
		if i%2 == 1 {
			d = d*2/10 + d*2%10
		}
		sum += d
	}
	return sum%10 == 0
}

// modCheck implements "mod MODULUS SIGNS [WEIGHT…]". The character after the
// weighted digits must be the character of SIGNS at the remainder. Without
// weights, the digits before the last character are one number. X, Y and Z at
// the start are 0, 1 and 2. The pattern of the row checks the length of s.
func modCheck(s string, args []string) bool {
	modulus, signs, weights, rest := number(args[0]), args[1], args[2:], 0
	if i := strings.IndexByte("XYZ", s[0]); i >= 0 {
		s = strconv.Itoa(i) + s[1:]
	}
	at := len(weights)
	if at == 0 {
		at = len(s) - 1
	}
	for i, c := range digitsOf(s[:at]) {
		if len(weights) > 0 {
			rest += number(weights[i]) * int(c-'0')
		} else {
			rest = (rest*10 + int(c-'0')) % modulus
		}
	}
	return signs[rest%modulus] == s[at]
}

// key97 implements "key97 [PREFIX]". The digits before the last two, with or
// without PREFIX, and the last two must add up to 0 modulo 97. 2A and 2B are
// the departments of Corsica.
func key97(s string, args []string) bool {
	s = strings.NewReplacer("2A", "19", "2B", "18").Replace(s)
	return slices.ContainsFunc(append([]string{""}, args...), func(prefix string) bool {
		return 97-number(prefix+s[:len(s)-2])%97 == number(s[len(s)-2:])
	})
}

// mod11and10 implements MOD 11,10 of ISO 7064 for a number in which exactly one
// of the first ten digits is repeated, at most twice.
func mod11and10(s string, _ []string) bool {
	product, repeated := 10, 0
	for _, c := range s[:10] {
		sum := (int(c-'0')+product-1)%10 + 1
		product = 2 * sum % 11
	}
	for d := '0'; d <= '9'; d++ {
		if n := strings.Count(s[:10], string(d)); n > 3 {
			return false
		} else if n > 1 {
			repeated++
		}
	}
	return repeated == 1 && (11-product)%10 == int(s[10]-'0')
}

var ibanLengths = sync.OnceValue(func() map[string]int {
	lengths := map[string]int{}
	for _, r := range tables.Rows(ibansTable) {
		lengths[r["country"]] = number(r["length"])
	}
	return lengths
})

// isIBAN checks the length for the country and the check digits of ISO 13616.
func isIBAN(s string) bool {
	rest := 0
	for _, c := range s[4:] + s[:4] {
		n, _ := strconv.ParseInt(string(c), 36, 0)
		if n > 9 {
			rest *= 10
		}
		rest = (rest*10 + int(n)) % 97
	}
	return rest == 1 && ibanLengths()[s[:2]] == len(s)
}

var cardNumbers = sync.OnceValue(func() *regexp.Regexp {
	var networks []string
	for _, r := range tables.Rows(cardsTable) {
		networks = append(networks, r["pattern"])
	}
	return regexp.MustCompile(`^(?:` + strings.Join(networks, "|") + `)$`)
})
