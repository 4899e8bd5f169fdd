package validators

import "strings"

// A secretShape is how a service's credentials look: a prefix and a run of
// characters behind it.
type secretShape struct {
	name     string
	prefixes []string
	rest     string // the characters behind the prefix: one of the alphabets
	min, max int    // how many of them; no max: any number
	random   bool   // words joined by hyphens may look like it: ask for a random part
}

const (
	digits    = "0123456789"
	hexes     = digits + "abcdef"
	capitals  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ" + digits
	letters   = "abcdefghijklmnopqrstuvwxyz" + capitals
	tokenRest = letters + "-_"
	dottedJWT = tokenRest + "."
)

var secretShapes = []secretShape{
	{"an AWS access key", []string{"AKIA", "ASIA"}, capitals, 16, 16, false},
	{"a GitHub token", []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"}, letters, 36, 0, false},
	{"a GitHub token", []string{"github_pat_"}, letters + "_", 22, 0, false},
	{"a GitLab token", []string{"glpat-"}, tokenRest, 20, 0, false},
	{"an API key", []string{"sk-"}, tokenRest, 20, 0, true}, // OpenAI, Anthropic and those who imitate them
	{"a Slack token", []string{"xoxb-", "xoxa-", "xoxp-", "xoxr-", "xoxs-", "xoxe-", "xapp-"}, letters + "-", 12, 0, false},
	{"a Slack webhook", []string{"hooks.slack.com/services/"}, letters + "/", 20, 0, false},
	{"a Stripe key", []string{"sk_live_", "rk_live_", "sk_test_", "whsec_"}, letters, 16, 0, false},
	{"a Google API key", []string{"AIza"}, tokenRest, 35, 35, false},
	{"an npm token", []string{"npm_"}, letters, 36, 36, false},
	{"a PyPI token", []string{"pypi-AgEIcHlwaS5vcmc"}, tokenRest, 20, 0, false},
	{"a Hugging Face token", []string{"hf_"}, letters, 34, 0, false},
	{"a SendGrid key", []string{"SG."}, dottedJWT, 60, 70, false},
	{"a DigitalOcean token", []string{"dop_v1_"}, hexes, 64, 64, false},
	{"a JSON web token", []string{"eyJ"}, dottedJWT, 30, 0, false},
}

// find appends where the shape stands. A run is read once, from its beginning,
// so time is linear in the text.
func (s secretShape) find(found []secret, text string) []secret {
	for _, prefix := range s.prefixes {
		for from, n := 0, 0; n < maxFound; {
			i := strings.Index(text[from:], prefix)
			if i < 0 {
				break
			}
			start := from + i
			from = start + len(prefix)
			if start > 0 && strings.IndexByte(tokenRest, text[start-1]) >= 0 {
				continue
			}
			end := from + run(text[from:], s.rest)
			if s.is(text[from:end]) {
				found = append(found, secret{s.name, start, end, len(prefix)})
				n++
			}
			from = end
		}
	}
	return found
}

// run is how many bytes of text at its beginning are in the alphabet.
func run(text, alphabet string) int {
	for i := range len(text) {
		if strings.IndexByte(alphabet, text[i]) < 0 {
			return i
		}
	}
	return len(text)
}

func (s secretShape) is(rest string) bool {
	if len(rest) < s.min || s.max > 0 && len(rest) > s.max {
		return false
	}
	switch {
	case s.prefixes[0] == "eyJ":
		return isJWT(rest)
	case s.random:
		return hasRandomPart(rest)
	}
	return true
}

// isJWT asks for three parts, the second a JSON object too.
func isJWT(rest string) bool {
	parts := strings.SplitN(strings.TrimRight(rest, "."), ".", 4)
	return len(parts) == 3 && len(parts[0]) >= 8 && strings.HasPrefix(parts[1], "eyJ") && len(parts[2]) >= 8
}

// hasRandomPart tells a key from words joined by hyphens: one part is long and
// has digits among its letters.
func hasRandomPart(rest string) bool {
	for part := range strings.FieldsFuncSeq(rest, func(r rune) bool { return r == '-' || r == '_' }) {
		if len(part) >= 16 && strings.ContainsAny(part, digits) && strings.Trim(part, digits) != "" {
			return true
		}
	}
	return false
}
