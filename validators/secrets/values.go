package secrets

import (
	"math"
	"slices"
	"strings"
)

// references are what code and templates write to name a credential that is
// elsewhere; standIns what documentation writes in place of one.
var (
	references = []string{"${", "$(", "{{", "%(", "<", "env.", "environ", "...", "…", "***", "xxx", "XXX"}
	standIns   = strings.NewReplacer("your", "", "example", "", "placeholder", "", "changeme", "", "change", "", "redacted", "", "dummy", "", "sample", "",
		"p@ssw0rd", "", "passw0rd", "", "insert", "", "replace", "", "fake", "", "todo", "", "here", "", "api", "", "key", "", "token", "", "me", "", "-", "", "_", "", ".", "", " ", "")
)

// looksRandom says that a value is neither a stand-in nor words: it has
// letters and digits, and they repeat little.
func looksRandom(value string) bool {
	if strings.ContainsAny(value, " \t") || !strings.ContainsAny(value, digits) || !strings.ContainsAny(value, small+capital) || refers(value) {
		return false
	}
	lower := strings.ToLower(value)
	if bare := standIns.Replace(lower); len(bare) < len(lower) && len(bare) < 12 && (len(bare) < 8 || !chosen(value)) {
		return false
	}
	if number := run(value, digits); number > 0 && number < len(value) && value[number] == ':' {
		return telegram(value, number)
	}
	return entropy(value) >= 2.8 && !public(value) && !strings.Contains(value, "EXAMPLE")
}

// telegram says that what begins with a number and a colon, as a time or a place
// does, is a token of Telegram's, which begins so too.
func telegram(value string, number int) bool {
	rest := value[number+1:]
	return number >= 5 && number <= 16 && len(rest) == 35 && rest[0] == 'A' && run(rest, wordy+"-") == len(rest)
}

func refers(value string) bool {
	return slices.ContainsFunc(references, func(r string) bool { return strings.Contains(value, r) })
}

// hasRandomPart tells a credential of several parts from a path of names: one
// part is long and mixes letters and digits.
func hasRandomPart(value string) bool {
	for part := range strings.FieldsFuncSeq(value, func(r rune) bool { return strings.ContainsRune("-_.:", r) }) {
		if len(part) >= 16 && strings.ContainsAny(part, digits) && strings.Trim(part, digits) != "" && entropy(part) >= 3 {
			return true
		}
	}
	return false
}

// made is how many characters in a row, letters of the alphabet in its order or
// the same one, a person writes and no generator does: one token in a billion has them.
const made = 8

// madeUp says that a token was typed by a person as an example.
func madeUp(value string) bool {
	up, same := 1, 1
	for i := 1; i < len(value); i++ {
		up, same = up+1, same+1
		if value[i] != value[i-1]+1 || !within(small+capital, value[i]) {
			up = 1
		}
		if value[i] != value[i-1] || value[i] == '-' {
			same = 1
		}
		if up >= made || same >= made {
			return true
		}
	}
	return strings.Contains(value, "EXAMPLE")
}

// entropy is Shannon's, in bits for each byte.
func entropy(s string) float64 {
	var counts [256]int
	for i := range len(s) {
		counts[s[i]]++
	}
	bits := 0.0
	for _, n := range counts {
		if n > 0 {
			p := float64(n) / float64(len(s))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}
