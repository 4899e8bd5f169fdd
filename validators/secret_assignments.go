package validators

import (
	"math"
	"strings"

	"github.com/seed61713e19/capstan/validators/patterns"
)

// Only so far around a sign is looked at, so time is linear in the text.
const (
	nameReach  = 64
	valueReach = 256
)

var assignment = patterns.Lazy(`^(?:[:=]=?|=>)?[ \t]*(?:(?i:bearer|basic|token)[ \t]+)?(?:"([^"\n]{8,})"?|'([^'\n]{8,})'?|` + "`([^`\n]{8,})`?" + `|([\w\-+/=~!@#$%^&*]{12,})(?:[^\w(.\[]|$))`)

// assignmentsIn finds name = value, name: value and the like where the name
// speaks of a credential and the value looks random.
func assignmentsIn(found []secret, text string) []secret {
	for from, n := 0, 0; n < maxFound; {
		i := strings.IndexAny(text[from:], ":=")
		if i < 0 {
			break
		}
		at := from + i
		from = at + 1
		name := nameBefore(text[max(0, at-nameReach):at])
		if !secretName(name) {
			continue
		}
		m := assignment().FindStringSubmatchIndex(text[at:min(len(text), at+valueReach)])
		for g := 2; g < len(m); g += 2 {
			if m[g] >= 0 && looksSecret(text[at+m[g]:at+m[g+1]]) {
				found = append(found, secret{"a credential in " + name, at + m[g], at + m[g+1], 0})
				n++
			}
		}
	}
	return found
}

// nameBefore is the identifier that text ends in, quotes and spaces aside.
func nameBefore(text string) string {
	text = strings.TrimRight(text, " \t\"'`")
	i := len(text)
	for i > 0 && strings.IndexByte(tokenRest+".", text[i-1]) >= 0 {
		i--
	}
	return text[i:]
}

// secretName says that one of the words of an identifier, or two neighbours,
// speak of a credential: API_KEY, clientSecret, db.password.
func secretName(name string) bool {
	if name == "" {
		return false
	}
	parts := nameParts(name)
	for i, part := range parts {
		if secretWords[part] || i > 0 && secretWords[parts[i-1]+part] {
			return true
		}
	}
	return false
}

var secretWords = map[string]bool{
	"secret": true, "secrets": true, "password": true, "passwd": true, "pwd": true, "passphrase": true, "token": true,
	"apikey": true, "accesskey": true, "privatekey": true, "secretkey": true, "authkey": true, "authtoken": true, "authorization": true,
	"credential": true, "credentials": true, "apitoken": true, "accesstoken": true,
}

func nameParts(name string) []string {
	var parts []string
	start := 0
	for i := 1; i <= len(name); i++ {
		if i == len(name) || isUpper(name[i]) && !isUpper(name[i-1]) || strings.IndexByte("-_.", name[i]) >= 0 {
			if part := strings.Trim(name[start:i], "-_."); part != "" {
				parts = append(parts, strings.ToLower(part))
			}
			start = i
		}
	}
	return parts
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }

// references are what code and templates write to name a credential that is
// elsewhere; standIns what documentation writes in place of one.
var (
	references = []string{"${", "$(", "{{", "%(", "<", "env.", "environ", "...", "…", "***", "xxx", "XXX"}
	standIns   = strings.NewReplacer("your", "", "example", "", "placeholder", "", "changeme", "", "change", "", "redacted", "", "dummy", "", "sample", "",
		"insert", "", "replace", "", "fake", "", "todo", "", "here", "", "api", "", "key", "", "token", "", "me", "", "-", "", "_", "", ".", "", " ", "")
)

// looksSecret says that a value is neither a stand-in nor words: it has
// letters and digits, and they repeat little.
func looksSecret(value string) bool {
	for _, reference := range references {
		if strings.Contains(value, reference) {
			return false
		}
	}
	lower := strings.ToLower(value)
	if bare := standIns.Replace(lower); len(bare) < len(lower) && len(bare) < 12 {
		return false
	}
	if strings.ContainsAny(value, " \t") || !strings.ContainsAny(value, digits) || !strings.ContainsAny(lower, letters[:26]) {
		return false
	}
	return entropy(value) >= 2.8
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

// addressesIn finds passwords in addresses: scheme://user:password@host.
func addressesIn(found []secret, text string) []secret {
	for from, n := 0, 0; n < maxFound; {
		i := strings.Index(text[from:], "://")
		if i < 0 {
			break
		}
		at := from + i + len("://")
		from = at
		rest := text[at:min(len(text), at+valueReach)]
		rest = rest[:len(rest)-len(strings.TrimLeftFunc(rest, inAuthority))]
		user, password, ok := strings.Cut(rest, ":")
		j := strings.IndexByte(password, '@')
		if !ok || j < 6 || user == "" || !passwordLike(password[:j]) {
			continue
		}
		start := at + len(user) + 1
		found = append(found, secret{"a password in an address", start, start + j, 0})
		n++
	}
	return found
}

func inAuthority(r rune) bool { return r > ' ' && !strings.ContainsRune(`/?#"'<>`+"`", r) }

// passwordLike leaves out what examples of addresses have.
func passwordLike(s string) bool {
	switch s {
	case "password", "passwd", "secret", "pass", "changeme", "example":
		return false
	}
	for _, reference := range references {
		if strings.Contains(s, reference) {
			return false
		}
	}
	return strings.IndexByte("[{%$", s[0]) < 0
}
