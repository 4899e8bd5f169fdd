package schedule

import (
	"bytes"
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

	"github.com/seed61713e19/capstan/runner/signatures"
	"github.com/seed61713e19/capstan/validators/schema"
)

const vectors = "testdata/certificate"

// vectorWeek is a week whose items try the canonical form: fractions,
// escapes, further fields, nulls, keys beyond U+FFFF, several at one time.
func vectorWeek() map[string]any {
	w := week(54)
	itemOf(w, 0)["price"] = 18.25
	itemOf(w, 1)["note"] = "tab\there, \"quoted\" \\ and </é\u2028\u007f\x01"
	itemOf(w, 2)["more"] = map[string]any{"\ufb33": 1, "\U0001F600": 2, "€": []any{nil, true, 1e-7, 0.1, 1e15 + 0.5}}
	itemOf(w, 3)["caption_id"], itemOf(w, 3)["price"] = nil, nil
	itemOf(w, 4)["scheduled_date"], itemOf(w, 4)["scheduled_time"] = itemOf(w, 3)["scheduled_date"], itemOf(w, 3)["scheduled_time"]
	itemOf(w, 5)["scheduled_date"], itemOf(w, 5)["scheduled_time"] = itemOf(w, 3)["scheduled_date"], itemOf(w, 3)["scheduled_time"]
	itemOf(w, 5)["send_type_key"] = itemOf(w, 4)["send_type_key"]
	return w
}

// TestVectors holds the files of testdata/certificate to what is signed here;
// -update writes them. Another implementation that agrees with them agrees with
// this one.
func TestVectors(t *testing.T) {
	s := paperScene(t)
	_, public := fixedKey(t)
	w := s.certify(t, vectorWeek())
	s.w = w
	if v := s.certificate(); !v.Valid {
		t.Fatal(v.Reason)
	}
	pretty := func(v any) []byte {
		var text bytes.Buffer
		e := json.NewEncoder(&text)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if err := e.Encode(v); err != nil {
			t.Fatal(err)
		}
		return text.Bytes()
	}
	text, err := signedText(w["validation_certificate"].(map[string]any))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]byte{
		"public.pem": public, "items.json": pretty(w["items"]), "certificate.json": pretty(w["validation_certificate"]),
		"critic.json": pretty(w["critic_certificate"]), "signed.bin": signatures.Signed(certificatePurpose, text),
	} {
		file := filepath.Join(vectors, name)
		if *update {
			if err := os.WriteFile(file, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what is signed here (%v); go test -run TestVectors -update writes it", file, err)
		}
	}
}

// forgeries are changes of the certificate of the vectors, as text, and
// whether it is still the same certificate.
func forgeries(good string) map[string]string {
	swap := func(old, replacement string) string {
		if !strings.Contains(good, old) {
			panic(old)
		}
		return strings.Replace(good, old, replacement, 1)
	}
	var c map[string]any
	_ = json.Unmarshal([]byte(good), &c)
	signature := c[signatureField].(string)
	return map[string]string{
		"another week":       swap(DemoWeek, "2026-01-06"),
		"another page type":  swap(`"paid"`, `"free"`),
		"inactive":           swap(`"is_active": true`, `"is_active": false`),
		"a no for a yes":     swap(`"valid": true`, `"valid": false`),
		"a later time":       swap("2026-01-04T12:00:00Z", "2026-01-04T12:00:01Z"),
		"a newline":          swap(signature, signature+`\n`),
		"no padding":         swap(signature, strings.TrimRight(signature, "=")),
		"other last bits":    swap(signature, signature[:len(signature)-3]+string(signature[len(signature)-3]+1)+"=="),
		"another first byte": swap(signature, "ed25519:"+map[bool]string{true: "B", false: "A"}[signature[8] == 'A']+signature[9:]),
		"another key":        swap(`"sha256:`+strings.TrimPrefix(c[keyIDField].(string), "sha256:"), `"sha256:`+strings.Repeat("0", 64)),
		"one more field":     swap("{", `{"note": 1,`),
	}
}

// TestThirdParty has others check the vectors: the library of DSSE, OpenSSL, and
// forty lines of JavaScript, and each of them refuse what was changed.
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
		signature, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(fieldOf(t, text, signatureField), "ed25519:"))
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
		if said := check(criticPurpose, critic, certificate); len(said) != 2 || said[0] != "good" || said[1] == "good" {
			t.Errorf("for the critic: %q", said)
		}
		files := []string{certificate, critic}
		for name, forged := range bad {
			file := filepath.Join(t.TempDir(), strings.ReplaceAll(name, " ", "-"))
			if err := os.WriteFile(file, []byte(forged), 0o600); err != nil {
				t.Fatal(err)
			}
			files = append(files, file)
		}
		for i, said := range check(certificatePurpose, files...) {
			if (said == "good") != (i == 0) || i >= len(files) {
				t.Errorf("%s: %s", files[min(i, len(files)-1)], said)
			}
		}
	})
	// And so it is here.
	_, public := fixedKey(t)
	keys, _ := trustedKeys(string(public))
	for name, forged := range bad {
		c, err := schema.Parse([]byte(forged))
		if err != nil {
			continue // refused as it is read
		}
		if unsealed(certificatePurpose, keys, c.(map[string]any)) == nil {
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

// byLibrary verifies a certificate as the DSSE envelope that it is another form
// of.
func byLibrary(t *testing.T, certificate []byte) error {
	t.Helper()
	c, err := schema.Parse(certificate)
	if err != nil {
		return err
	}
	payload, err := signedText(c.(map[string]any))
	if err != nil {
		return err
	}
	_, public := fixedKey(t)
	keys, err := trustedKeys(string(public))
	if err != nil {
		t.Fatal(err)
	}
	var own verifier
	for id, key := range keys {
		own = verifier{id, key}
	}
	library, err := dsse.NewEnvelopeVerifier(own)
	if err != nil {
		t.Fatal(err)
	}
	_, err = library.Verify(t.Context(), &dsse.Envelope{
		PayloadType: string(certificatePurpose), Payload: base64.StdEncoding.EncodeToString(payload),
		Signatures: []dsse.Signature{{KeyID: fieldOf(t, certificate, keyIDField), Sig: strings.TrimPrefix(fieldOf(t, certificate, signatureField), "ed25519:")}},
	})
	return err
}
