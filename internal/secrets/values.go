package secrets

import (
	"math"
	"slices"
	"strings"
)

// references are beginnings of a reference to a credential in code and
// templates; standIns are placeholders in documentation.
var (
	references = []string{"${", "$(", "{{", "%(", "<", "env.", "environ", "...", "…", "***", "xxx", "XXX"}
	standIns   = strings.NewReplacer("your", "", "example", "", "placeholder", "", "changeme", "", "change", "", "redacted", "", "dummy", "", "sample", "",
		"p@ssw0rd", "", "passw0rd", "", "insert", "", "replace", "", "fake", "", "todo", "", "here", "", "api", "", "key", "", "token", "", "me", "", "-", "", "_", "", ".", "", " ", "")
)

// looksRandom reports whether a value has letters and digits with few
// repetitions. Placeholders and words are not random.
func looksRandom(value string) bool {
	if strings.ContainsAny(value, " \t") || !strings.ContainsAny(value, digits) || !strings.ContainsAny(value, small+capital) || refers(value) {
		return false
	}
	lower := strings.ToLower(value)
	if bare := standIns.Replace(lower); len(bare) < len(lower) && len(bare) < 12 && (len(bare) < 8 || !isHumanPassword(value)) {
		return false
	}
	if number := run(value, digits); number > 0 && number < len(value) && value[number] == ':' {
		return telegram(value, number)
	}
	return entropy(value) >= 2.8 && !public(value) && !strings.Contains(value, "EXAMPLE")
}

// telegram reports whether a text that begins with a number and a colon is a
// token of Telegram, and not a time or a place.
func telegram(value string, number int) bool {
	rest := value[number+1:]
	return number >= 5 && number <= 16 && len(rest) == 35 && rest[0] == 'A' && run(rest, wordy+"-") == len(rest)
}

func refers(value string) bool {
	return slices.ContainsFunc(references, func(r string) bool { return strings.Contains(value, r) })
}

// hasRandomPart reports whether one part of a value is long and mixes letters
// and digits. A path of names has no such part.
func hasRandomPart(value string) bool {
	for part := range strings.FieldsFuncSeq(value, func(r rune) bool { return strings.ContainsRune("-_.:", r) }) {
		if len(part) >= 16 && strings.ContainsAny(part, digits) && strings.Trim(part, digits) != "" && entropy(part) >= 3 {
			return true
		}
	}
	return false
}

// madeRun is the number of successive characters, equal or in alphabetical
// order, that a person types and a generator does not. One token in a billion
// has such a run.
const madeRun = 8

// madeUp reports whether a person typed a token as an example.
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
		if up >= madeRun || same >= madeRun {
			return true
		}
	}
	return strings.Contains(value, "EXAMPLE")
}

// entropy returns Shannon's entropy, in bits per byte.
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
