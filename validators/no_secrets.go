package validators

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

type secretsParams struct {
	Allow []string `json:"allow,omitempty" jsonschema:"texts that may stand although they look like credentials, such as a documentation's examples"`
}

// NoSecrets accepts text without anything that has the shape of a credential:
// access keys and tokens of well-known services, private keys, JSON web
// tokens, passwords in addresses, and assignments such as api_key = "…" of
// something that looks random. Verdicts never quote a credential. Identifiers,
// hashes and UUIDs on their own are none.
var NoSecrets = New("no_secrets", "Validates that no credentials such as keys, tokens and passwords are in the text",
	func(_ context.Context, p secretsParams, s Subject) (Verdict, error) {
		found := findings{check: "no_secrets"}
		end := 0
		for _, secret := range secretsIn(s.Content) {
			if secret.start < end || slices.Contains(p.Allow, s.Content[secret.start:secret.end]) {
				continue
			}
			found.add(lineAt(s.Content, secret.start), "this looks like %s: %s", secret.name, masked(s.Content, secret))
			if end = secret.end; found.more > 0 {
				break
			}
		}
		return found.verdict("no credentials were found"), nil
	})

// A secret is where a credential stands and what it is.
type secret struct {
	name       string
	start, end int
	shown      int // how many of its first bytes say nothing secret
}

// masked is what a verdict may show of a credential.
func masked(text string, s secret) string {
	return text[s.start:s.start+s.shown] + "… (" + count(s.end-s.start, "byte") + ")"
}

// secretsIn finds credentials, in the order of the text; some may overlap.
func secretsIn(text string) []secret {
	var found []secret
	for _, shape := range secretShapes {
		found = shape.find(found, text)
	}
	found = keysIn(found, text)
	found = addressesIn(found, text)
	found = assignmentsIn(found, text)
	slices.SortStableFunc(found, func(a, b secret) int { return cmp.Compare(a.start, b.start) })
	return found
}

// maxFound bounds what one shape collects of a hostile text.
const maxFound = 1000

// keysIn finds private keys by their first line.
func keysIn(found []secret, text string) []secret {
	const begin, what = "-----BEGIN ", "PRIVATE KEY"
	for from, n := 0, 0; n < maxFound; n++ {
		i := strings.Index(text[from:], begin)
		if i < 0 {
			break
		}
		start := from + i
		head := text[start:min(len(text), start+80)]
		head, _, _ = strings.Cut(head, "\n")
		if strings.Contains(head, what) {
			found = append(found, secret{"a private key", start, start + len(head), len(begin)})
		}
		from = start + len(begin)
	}
	return found
}
