package builtins

import (
	"context"
	"slices"

	"github.com/seed61713e19/capstan/runner/reports"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/secrets"
)

type secretsParams struct {
	Allow []string `json:"allow,omitempty" jsonschema:"texts that may stand although they look like credentials, such as a documentation's examples"`
}

// NoSecrets accepts text without anything that has the shape of a credential:
// access keys and tokens of well-known services, private keys, JSON web
// tokens, passwords in addresses and commands, and assignments such as
// api_key = "…" of something that looks random. Verdicts never quote a
// credential. Identifiers, hashes and UUIDs on their own are none. What it
// finds and what it takes for a stand-in is told by package secrets.
var NoSecrets = validators.New("no_secrets", "Validates that no credentials such as keys, tokens and passwords are in the text",
	func(_ context.Context, p secretsParams, s validators.Subject) (validators.Verdict, error) {
		found := findings{check: "no_secrets"}
		for secret := range secrets.In(s.Content) {
			text := s.Content[secret.Start:secret.End]
			if slices.Contains(p.Allow, text) {
				continue
			}
			found.add(lineAt(s.Content, secret.Start), "this looks like %s: %s… (%s)", secret.Name, text[:secret.Shown], reports.Count(len(text), "byte"))
			if found.more > 0 {
				break
			}
		}
		return found.verdict("no credentials were found"), nil
	})
