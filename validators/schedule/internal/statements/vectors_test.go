package statements_test

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"

	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/internal/signatures"
	"github.com/seed61713e19/capstan/validators/schedule/internal/statements"
)

const vectors = "../../testdata/certificate"

// forgeries returns changed texts of the certificate, and whether each still is a valid
// certificate.
func forgeries(good string) map[string]string {
	swap := func(old, replacement string) string {
		if !strings.Contains(good, old) {
			panic(old)
		}
		return strings.Replace(good, old, replacement, 1)
	}
	var c map[string]any
	_ = json.Unmarshal([]byte(good), &c)
	signature := c[statements.SignatureField].(string)
	return map[string]string{
		"another week":       swap("2026-01-05", "2026-01-06"),
		"another page type":  swap(`"paid"`, `"free"`),
		"inactive":           swap(`"is_active": true`, `"is_active": false`),
		"a no for a yes":     swap(`"valid": true`, `"valid": false`),
		"a later time":       swap("2026-01-04T12:00:00Z", "2026-01-04T12:00:01Z"),
		"a newline":          swap(signature, signature+`\n`),
		"no padding":         swap(signature, strings.TrimRight(signature, "=")),
		"other last bits":    swap(signature, signature[:len(signature)-3]+string(signature[len(signature)-3]+1)+"=="),
		"another first byte": swap(signature, "ed25519:"+map[bool]string{true: "B", false: "A"}[signature[8] == 'A']+signature[9:]),
		"another key":        swap(`"sha256:`+strings.TrimPrefix(c[statements.KeyIDField].(string), "sha256:"), `"sha256:`+strings.Repeat("0", 64)),
		"one more field":     swap("{", `{"note": 1,`),
	}
}

// TestThirdParty checks the vectors with the DSSE library, OpenSSL, and forty lines of
// JavaScript. Each must refuse the changed certificates.
func TestThirdParty(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(vectors, "certificate.json"))
	if err != nil {
		t.Fatal(err)
	}
	bad := forgeries(string(text))
	t.Run("dsse", func(t *testing.T) {
		if err := byLibrary(t, text); err != nil {
			t.Error(err)
		}
		for name, forged := range bad {
			// The library decodes base64 as it comes; that it has one spelling is our rule.
			if spelling := name == "a newline" || name == "other last bits"; !spelling && byLibrary(t, []byte(forged)) == nil {
				t.Errorf("%s verifies", name)
			}
		}
	})
	t.Run("openssl", func(t *testing.T) {
		program := installed(t, "openssl")
		raw := filepath.Join(t.TempDir(), "signature.bin")
		signature, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(fieldOf(t, text, statements.SignatureField), "ed25519:"))
		if err := os.WriteFile(raw, signature, 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(program, "pkeyutl", "-verify", "-pubin", "-inkey", filepath.Join(vectors, "public.pem"), "-rawin", "-in", filepath.Join(vectors, "signed.bin"), "-sigfile", raw).CombinedOutput()
		if err != nil || !strings.Contains(string(out), "Verified Successfully") {
			t.Errorf("%v: %s", err, out)
		}
	})
	t.Run("node", func(t *testing.T) {
		program := installed(t, "node")
		check := func(purpose signatures.Purpose, files ...string) []string {
			args := append([]string{filepath.Join(vectors, "verify.mjs"), filepath.Join(vectors, "public.pem"), string(purpose), filepath.Join(vectors, "items.json")}, files...)
			out, _ := exec.Command(program, args...).CombinedOutput()
			return strings.Split(strings.TrimSpace(string(out)), "\n")
		}
		certificate, critic := filepath.Join(vectors, "certificate.json"), filepath.Join(vectors, "critic.json")
		if texts := check(statements.Critic, critic, certificate); len(texts) != 2 || texts[0] != "good" || texts[1] == "good" {
			t.Errorf("for the critic: %q", texts)
		}
		files := []string{certificate, critic}
		for name, forged := range bad {
			file := filepath.Join(t.TempDir(), strings.ReplaceAll(name, " ", "-"))
			if err := os.WriteFile(file, []byte(forged), 0o600); err != nil {
				t.Fatal(err)
			}
			files = append(files, file)
		}
		for i, texts := range check(statements.Certificate, files...) {
			if (texts == "good") != (i == 0) || i >= len(files) {
				t.Errorf("%s: %s", files[min(i, len(files)-1)], texts)
			}
		}
	})
	// And so it is here.
	keys := trusted(t)
	good, err := schema.Parse(text)
	if err != nil || statements.Verify(statements.Certificate, keys, good.(map[string]any)) != nil || statements.Verify(statements.Critic, keys, good.(map[string]any)) == nil {
		t.Errorf("the certificate does not verify, or as a critic's decision (%v)", err)
	}
	for name, forged := range bad {
		c, err := schema.Parse([]byte(forged))
		if err != nil {
			continue // refused as it is read
		}
		if statements.Verify(statements.Certificate, keys, c.(map[string]any)) == nil {
			t.Errorf("%s verifies", name)
		}
	}
}

// installed finds a program, or skips the test so that it is seen.
func installed(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skipf("NOT CHECKED by %s, which is not installed: certificates are verified by our own code here alone", program)
	}
	return path
}

// trusted are the keys that the vectors are signed with.
func trusted(t *testing.T) signatures.Keys {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(vectors, "public.pem"))
	if err != nil {
		t.Fatal(err)
	}
	keys, err := signatures.ParseKeys(text)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func fieldOf(t *testing.T, certificate []byte, field string) string {
	t.Helper()
	var c map[string]any
	if err := json.Unmarshal(certificate, &c); err != nil {
		t.Fatal(err)
	}
	s, _ := c[field].(string)
	return s
}

// A verifier is a public key for the library of DSSE.
type verifier struct {
	id  string
	key ed25519.PublicKey
}

func (v verifier) KeyID() (string, error)   { return v.id, nil }
func (v verifier) Public() crypto.PublicKey { return v.key }
func (v verifier) Verify(_ context.Context, data, sig []byte) error {
	if !ed25519.Verify(v.key, data, sig) {
		return errors.New("no")
	}
	return nil
}

// byLibrary verifies a certificate as a DSSE envelope.
func byLibrary(t *testing.T, certificate []byte) error {
	t.Helper()
	c, err := schema.Parse(certificate)
	if err != nil {
		return err
	}
	payload, err := statements.Payload(c.(map[string]any))
	if err != nil {
		return err
	}
	var own verifier
	for id, key := range trusted(t) {
		own = verifier{id, key}
	}
	library, err := dsse.NewEnvelopeVerifier(own)
	if err != nil {
		t.Fatal(err)
	}
	_, err = library.Verify(t.Context(), &dsse.Envelope{
		PayloadType: string(statements.Certificate), Payload: base64.StdEncoding.EncodeToString(payload),
		Signatures: []dsse.Signature{{KeyID: fieldOf(t, certificate, statements.KeyIDField), Sig: strings.TrimPrefix(fieldOf(t, certificate, statements.SignatureField), "ed25519:")}},
	})
	return err
}
