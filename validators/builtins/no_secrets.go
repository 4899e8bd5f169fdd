package builtins

import (
	"context"
	"slices"

	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/internal/secrets"
	"github.com/seed61713e19/capstan/validators"
)

type secretsParams struct {
	Allow []string `json:"allow,omitempty" jsonschema:"allowed texts that look like credentials, such as examples in documentation"`
}

// noSecretsValidator accepts text without credentials. It finds access keys and tokens of known
// services, private keys and JSON web tokens. It also finds passwords in addresses and commands,
// and assignments of random values, such as api_key = "…". Identifiers, hashes and UUIDs do not
// count. Verdicts never quote a credential. Package secrets defines the patterns and the accepted
// stand-ins.
var noSecretsValidator = validators.New("no_secrets", "Validates that no credentials such as keys, tokens and passwords are in the text",
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
