package validatorstest_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/builtins"
	. "github.com/seed61713e19/capstan/validators/validatorstest"
)

// token makes what looks random: the repository holds no credential, not even
// a false one.
func token(prefix, alphabet string, n int) string {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	b := []byte(prefix)
	for range n {
		b = append(b, alphabet[r.IntN(len(alphabet))])
	}
	return string(b)
}

const (
	upper    = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	alphanum = "abcdefghijklmnopqrstuvwxyz0123456789" + upper
)

var secrets = map[string]string{
	"AWS":           token("AK"+"IA", upper, 16),
	"GitHub":        token("gh"+"p_", alphanum, 36),
	"GitHub, fine":  token("github"+"_pat_", alphanum, 82),
	"GitLab":        token("gl"+"pat-", alphanum, 20),
	"OpenAI":        token("s"+"k-", alphanum, 48),
	"OpenAI, new":   token("s"+"k-proj-", alphanum+"_", 80),
	"Anthropic":     token("s"+"k-ant-api03-", alphanum, 90),
	"Slack":         token("xo"+"xb-1234567890-", alphanum, 24),
	"Stripe":        token("sk"+"_live_", alphanum, 24),
	"Google":        token("AI"+"za", alphanum, 35),
	"JWT":           token("ey"+"J", alphanum, 20) + token(".ey"+"J", alphanum, 30) + token(".", alphanum, 43),
	"private key":   "-----BEGIN RSA " + "PRIVATE KEY-----",
	"PGP key":       "-----BEGIN PGP " + "PRIVATE KEY BLOCK-----",
	"key, escaped":  `{"private_key": "-----BEGIN ` + `PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n"}`,
	"key, one line": "-----BEGIN RSA " + "PRIVATE KEY----- MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7",
	"key, in one":   "-----BEGIN EC " + "PRIVATE KEY-----MHcCAQEEIIrYSSNQFaA2Hwf1duRSxKtLYX5CB04fSeQ6tF1aY/PuoAoGCCqG-----END EC",
	"key, bare":     "-----BEGIN OPENSSH " + "PRIVATE KEY",
	"assignment":    token("", alphanum, 32),
	"address":       token("", alphanum, 16),
	"authorization": token("", alphanum, 40),
}

var carriers = map[string]string{
	"assignment": `api_key = "%"`, "address": "postgres://app:%@db.example.com/x", "authorization": "Authorization: Bearer %",
}

var secretCases = []Case{
	{Name: "prose", Content: essay, Valid: true},
	{Name: "identifiers", Content: "id 550e8400-e29b-41d4-a716-446655440000, sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08, commit eb4ae58d0f6b1c2a3d4e5f60718293a4b5c6d7e8", Valid: true},
	{Name: "hashes named", Content: `{"sha": "eb4ae58d0f6b1c2a3d4e5f60718293a4b5c6d7e8", "etag": "W/\"33a64df551425fcc55e4d42a148795d9f25f89d4\"", "integrity": "sha384-oqVuAfXRKap7fdgcCY5uykM6+R9GqQ8K/uxy9rx7HNQlGYl1kPzQho1wx4JwY8wC"}`, Valid: true},
	{Name: "placeholders", Content: "api_key = \"your-api-key-here-1234\"\nTOKEN=${GITHUB_TOKEN1}\npassword: <your password 1>\nsecret: \"xxxxxxxx1\"\nkey: process.env.API_KEY2\nOPENAI_API_KEY=sk-...\napi_key: \"changeme123\"", Valid: true},
	{Name: "words", Content: "The token: a small piece of metal. Password: at least twelve characters, 1 digit. Secret: nobody knows. max_tokens = 4096, token_count: 123456789012345, tokenizer = \"bert-base-uncased-l12\"", Valid: true},
	{Name: "code", Content: "token = generate_token_v2(user)\npassword = getpass.getpass2()\nsecret := config.Secrets2.Value\nsk-loading-spinner-animation-2 .sk-circle1-child", Valid: true},
	{Name: "addresses", Content: "https://example.com:8080/a@b http://user:password@host git@github.com:a/b.git ftp://user:${PASS}@h", Valid: true},
	{Name: "public key", Content: "-----BEGIN PUBLIC KEY-----\nssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ me@host", Valid: true},
	{Name: "a private key's lines alone", Content: `It begins with -----BEGIN ` + `PRIVATE KEY-----\n and ends with -----END PRIVATE KEY-----, -----BEGIN ` + `PRIVATE KEYS.`, Valid: true},
	{Name: "allowed", With: with{"allow": []any{secrets["AWS"]}}, Content: "for example " + secrets["AWS"], Valid: true},
	{Name: "not allowed", With: with{"allow": []any{secrets["AWS"]}}, Content: "for example " + secrets["GitHub"], Reason: "a GitHub token"},
	{Name: "client secret", Content: `clientSecret: '` + token("", alphanum, 24) + `'`, Reason: "a credential in clientSecret"},
	{Name: "environment", Content: "x\nexport DB_PASSWORD=" + token("", alphanum, 20), Reason: "line 2: this looks like a credential in DB_PASSWORD"},
}

// Each kind of secret is found, with its line, and no verdict contains the secret.
func TestSecretsAreFoundAndMasked(t *testing.T) {
	noSecrets, err := builtins.Default().Find("no_secrets")
	if err != nil {
		t.Fatal(err)
	}
	check, err := noSecrets.Bind(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, secret := range secrets {
		carrier := carriers[name]
		if carrier == "" {
			carrier = "use %."
		}
		text := "First line.\n" + strings.ReplaceAll(carrier, "%", secret) + "\nLast line, " + secret[:2] + "."
		v, err := check(t.Context(), validators.Subject{Content: text})
		if err != nil || v.Valid || len(v.Issues) != 1 || v.Issues[0].Location != "line 2" {
			t.Errorf("%s: got %+v, %v", name, v, err)
			continue
		}
		if strings.Contains(name, "key") {
			continue // a private key's first line is no secret
		}
		for i := len("github_pat_"); i+8 <= len(secret); i++ {
			if shown := secret[i : i+8]; strings.Contains(v.Reason+v.Issues[0].Message, shown) {
				t.Fatalf("%s: the verdict shows %s: %s", name, shown, v.Reason)
			}
		}
	}
}
