package builtins

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/validators/patterns"
)

// nationalIDs are identity numbers with check digits. Those that are a bare run
// of digits must also hold a date, or keep a rule of their own, so that one of
// ten numbers is not taken for one.
var nationalIDs = []piiShape{
	{"a Spanish DNI or NIE", hasDigits(7), patterns.Lazy(`(?:[0-9]{8}|[0-9]{2}\.[0-9]{3}\.[0-9]{3}|[XYZ][ -]?[0-9]{7})[ -]?[A-HJ-NP-TV-Z]`), isDNI},
	{"an Italian codice fiscale", hasDigits(7), patterns.Lazy(`(?i)[A-Z]{6}[0-9]{2}[ABCDEHLMPRST][0-9]{2}[A-Z][0-9]{3}[A-Z]`), isCodiceFiscale},
	{"a French NIR", hasDigits(14), patterns.Lazy(`[12] ?[0-9]{2} ?(?:0[1-9]|1[0-2]) ?[0-9][0-9AB] ?[0-9]{3} ?[0-9]{3} ?[0-9]{2}`), isNIR},
	{"a Chinese identity number", hasDigits(17), patterns.Lazy(`[1-9][0-9]{16}[0-9Xx]`), isChineseID},
	{"a Swiss AHV number", hasDigits(13), patterns.Lazy(`756[. ]?[0-9]{4}[. ]?[0-9]{4}[. ]?[0-9]{2}`), isAHV},
	{"a Brazilian CPF", hasDigits(11), patterns.Lazy(`[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}`), isCPF},
	{"a Belgian national number", hasDigits(11), patterns.Lazy(`[0-9]{2}\.[0-9]{2}\.[0-9]{2}-[0-9]{3}[.-][0-9]{2}|[0-9]{11}`), isBelgian},
	{"a Swedish personnummer", hasDigits(10), patterns.Lazy(`(?:19|20)?[0-9]{6}[-+][0-9]{4}`), isPersonnummer},
	{"a Finnish henkilötunnus", hasDigits(9), patterns.Lazy(`[0-9]{6}[-+A-FU-Y][0-9]{3}[0-9A-FHJ-NPR-Y]`), isHetu},
	{"a German tax number", hasDigits(11), patterns.Lazy(`[1-9][0-9](?: ?[0-9]{3}){3}`), isSteuerID},
	{"a Polish PESEL", hasDigits(11), patterns.Lazy(`[0-9]{11}`), isPESEL},
	{"a Norwegian fødselsnummer", hasDigits(11), patterns.Lazy(`[0-9]{6} ?[0-9]{5}`), isFodselsnummer},
}

// weighed is the sum of a number's digits by weights, from the first on.
func weighed(digits string, weights ...int) int {
	sum := 0
	for i, w := range weights {
		sum += int(digits[i]-'0') * w
	}
	return sum
}

// isDate tells whether a day of the calendar is written as YYYYMMDD.
func isDate(text string) bool {
	_, err := time.Parse("20060102", text)
	return err == nil
}

func isDNI(found string) bool {
	s := ungrouped(found)
	digits := s[:len(s)-1]
	if i := strings.IndexByte("XYZ", s[0]); i >= 0 {
		digits = strconv.Itoa(i) + digits[1:]
	}
	n, err := strconv.Atoi(digits)
	return err == nil && "TRWAGMYFPDXBNJZSQVHLCKE"[n%23] == s[len(s)-1]
}

func isCodiceFiscale(found string) bool {
	odd := [26]int{1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23}
	s, sum := strings.ToUpper(found), 0
	for i := range 15 {
		v := int(s[i] - '0')
		if s[i] >= 'A' {
			v = int(s[i] - 'A')
		}
		if i%2 == 0 {
			v = odd[v]
		}
		sum += v
	}
	return s[15] == byte('A'+sum%26)
}

func isNIR(found string) bool {
	s := ungrouped(found)
	body := strings.NewReplacer("2A", "19", "2B", "18").Replace(s[5:7])
	n, err := strconv.Atoi(s[:5] + body + s[7:13])
	key, broken := strconv.Atoi(s[13:])
	return err == nil && broken == nil && 97-n%97 == key
}

func isChineseID(s string) bool {
	sum := weighed(s, 7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
	return isDate(s[6:14]) && (s[6:8] == "19" || s[6:8] == "20") && "10X98765432"[sum%11] == strings.ToUpper(s)[17]
}

func isAHV(found string) bool {
	s := ungrouped(found)
	return weighed(s, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1)%10 == 0
}

func isCPF(found string) bool {
	s := ungrouped(found)
	check := func(sum int) byte { return byte('0' + sum*10%11%10) }
	return strings.Trim(s, s[:1]) != "" && check(weighed(s, 10, 9, 8, 7, 6, 5, 4, 3, 2)) == s[9] &&
		check(weighed(s, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2)) == s[10]
}

func isBelgian(found string) bool {
	s := ungrouped(found)
	if s == found && !isDate("19"+s[:6]) && !isDate("20"+s[:6]) {
		return false
	}
	key, _ := strconv.Atoi(s[9:])
	return slices.ContainsFunc([]string{"", "2"}, func(century string) bool { // of those born since 2000
		n, err := strconv.Atoi(century + s[:9])
		return err == nil && 97-n%97 == key
	})
}

func isPersonnummer(found string) bool {
	s := strings.ReplaceAll(ungrouped(found), "+", "")
	s = s[len(s)-10:]
	day := lower(s[:6], 4, 6)
	return (isDate("19"+day) || isDate("20"+day)) && luhn(s)
}

// lower is a number with one of its digits so much less, if it is as much: those who
// are in a country for a while have a day of birth that no month has.
func lower(digits string, at int, by byte) string {
	if digits[at] < '0'+by {
		return digits
	}
	return digits[:at] + string(digits[at]-by) + digits[at+1:]
}

func isHetu(s string) bool {
	n, err := strconv.Atoi(s[:6] + s[7:10])
	century := "20"
	if i := strings.IndexByte("+-YXWVU", s[6]); i >= 0 {
		century = []string{"18", "19"}[min(i, 1)]
	}
	return err == nil && isDate(century+s[4:6]+s[2:4]+s[:2]) && "0123456789ABCDEFHJKLMNPRSTUVWXY"[n%31] == s[10]
}

// isSteuerID: ISO 7064 mod 11,10, and of the first ten digits one alone stands
// there twice or three times.
func isSteuerID(found string) bool {
	s := ungrouped(found)
	var count [10]int
	product := 10
	for _, c := range s[:10] {
		count[c-'0']++
		sum := cmp.Or((int(c-'0')+product)%10, 10)
		product = 2 * sum % 11
	}
	more := 0
	for _, n := range count {
		if n > 3 {
			return false
		}
		if n > 1 {
			more++
		}
	}
	return more == 1 && (11-product)%10 == int(s[10]-'0')
}

func isPESEL(s string) bool {
	month, _ := strconv.Atoi(s[2:4])
	century := []string{"19", "20", "21", "22", "18"}[month/20]
	day := century + s[:2] + strconv.Itoa(100 + month%20)[1:] + s[4:6]
	return isDate(day) && (weighed(s, 1, 3, 7, 9, 1, 3, 7, 9, 1, 3)+int(s[10]-'0'))%10 == 0
}

func isFodselsnummer(found string) bool {
	s := ungrouped(found)
	day := lower(s[:2], 0, 4)
	return (isDate("19"+s[4:6]+s[2:4]+day) || isDate("20"+s[4:6]+s[2:4]+day)) &&
		weighed(s, 3, 7, 6, 1, 8, 9, 4, 5, 2, 1)%11 == 0 && weighed(s, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1)%11 == 0
}
