package signatures_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"

	"github.com/seed61713e19/capstan/internal/signatures"
)

const purpose = signatures.Purpose("application/vnd.capstan.test+json")

// pair is a fixed key as PEM.
func pair(t *testing.T, seed byte) (private, public []byte) {
	t.Helper()
	key := ed25519.NewKeyFromSeed(slices.Repeat([]byte{seed}, ed25519.SeedSize))
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	private = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	if der, err = x509.MarshalPKIXPublicKey(key.Public()); err != nil {
		t.Fatal(err)
	}
	return private, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

func parse(t *testing.T, seed byte) (signatures.Key, signatures.Keys) {
	t.Helper()
	private, public := pair(t, seed)
	key, err := signatures.ParseKey(private)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := signatures.ParseKeys(public)
	if err != nil {
		t.Fatal(err)
	}
	return key, keys
}

func TestSignedBytes(t *testing.T) {
	// The example of the DSSE specification.
	if got := string(signatures.PreAuthEncoding("http://example.com/HelloWorld", []byte("hello world"))); got != "DSSEv1 29 http://example.com/HelloWorld 11 hello world" {
		t.Errorf("%q", got)
	}
}

// TestOneSpelling checks that only one spelling of a signature verifies.
func TestOneSpelling(t *testing.T) {
	key, keys := parse(t, 1)
	text := []byte(`{"a":1}`)
	good := key.Sign(purpose, text)
	if err := keys.Verify(purpose, text, key.ID(), good); err != nil {
		t.Fatal(err)
	}
	raw, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(good, "ed25519:"))
	// The order of the group. A careless verifier accepts s + L instead of s.
	order, _ := new(big.Int).SetString("7237005577332262213973186563042994240857116359379907606001950938285454250989", 10)
	s := slices.Clone(raw[32:])
	slices.Reverse(s)
	s = new(big.Int).Add(new(big.Int).SetBytes(s), order).FillBytes(make([]byte, 32))
	slices.Reverse(s)
	malleable := append(slices.Clone(raw[:32]), s...)
	body := strings.TrimPrefix(good, "ed25519:")
	for name, row := range map[string]struct {
		text string
		want error
	}{
		"a newline behind":       {good + "\n", signatures.ErrSpelling},
		"a newline before":       {"\n" + good, signatures.ErrSpelling},
		"a newline behind colon": {"ed25519:\n" + body, signatures.ErrSpelling},
		"a newline inside":       {good[:40] + "\n" + good[40:], signatures.ErrSpelling},
		"a return inside":        {good[:40] + "\r" + good[40:], signatures.ErrSpelling},
		"a blank":                {good + " ", signatures.ErrSpelling},
		"no padding":             {strings.TrimRight(good, "="), signatures.ErrSpelling},
		"more padding":           {good + "==", signatures.ErrSpelling},
		"URL alphabet":           {"ed25519:" + base64.URLEncoding.EncodeToString(slices.Repeat([]byte{0xff}, 64)), signatures.ErrSpelling},
		"other last bits":        {good[:len(good)-3] + string(good[len(good)-3]+1) + "==", signatures.ErrSpelling},
		"upper case":             {"ED25519:" + body, signatures.ErrSpelling},
		"no name":                {body, signatures.ErrSpelling},
		"63 bytes":               {"ed25519:" + base64.StdEncoding.EncodeToString(raw[:63]), signatures.ErrSpelling},
		"65 bytes":               {"ed25519:" + base64.StdEncoding.EncodeToString(append(slices.Clone(raw), 0)), signatures.ErrSpelling},
		"none":                   {"", signatures.ErrSpelling},
		"s + L":                  {"ed25519:" + base64.StdEncoding.EncodeToString(malleable), signatures.ErrSignature},
		"zeros":                  {"ed25519:" + base64.StdEncoding.EncodeToString(make([]byte, 64)), signatures.ErrSignature},
	} {
		if err := keys.Verify(purpose, text, key.ID(), row.text); !errors.Is(err, row.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for i := range raw {
		for bit := range 8 {
			other := slices.Clone(raw)
			other[i] ^= 1 << bit
			if keys.Verify(purpose, text, key.ID(), "ed25519:"+base64.StdEncoding.EncodeToString(other)) == nil {
				t.Errorf("byte %d, bit %d is not looked at", i, bit)
			}
		}
	}
}

// TestBound checks that a signature is valid for one purpose, one text and one key only.
func TestBound(t *testing.T) {
	key, keys := parse(t, 1)
	other, others := parse(t, 2)
	text := []byte(`{"a":1}`)
	good := key.Sign(purpose, text)
	for name, err := range map[string]error{
		"another purpose":      keys.Verify(purpose+"2", text, key.ID(), good),
		"text into purpose":    keys.Verify(purpose+" 7 {", text[1:], key.ID(), good),
		"another text":         keys.Verify(purpose, []byte(`{"a":2}`), key.ID(), good),
		"more text":            keys.Verify(purpose, append(slices.Clone(text), '\n'), key.ID(), good),
		"a key not trusted":    others.Verify(purpose, text, key.ID(), good),
		"another key's id":     signatures.Keys{key.ID(): keys[key.ID()], other.ID(): others[other.ID()]}.Verify(purpose, text, other.ID(), good),
		"no keys":              signatures.Keys(nil).Verify(purpose, text, key.ID(), good),
		"no id":                keys.Verify(purpose, text, "", good),
		"by another key":       keys.Verify(purpose, text, key.ID(), other.Sign(purpose, text)),
		"a bare signature":     keys.Verify(purpose, text, key.ID(), "ed25519:"+base64.StdEncoding.EncodeToString(ed25519.Sign(ed25519.NewKeyFromSeed(slices.Repeat([]byte{1}, 32)), text))),
		"an id in upper case":  keys.Verify(purpose, text, strings.ToUpper(key.ID()), good),
		"an id and a newline":  keys.Verify(purpose, text, key.ID()+"\n", good),
		"an id without a name": keys.Verify(purpose, text, strings.TrimPrefix(key.ID(), "sha256:"), good),
	} {
		if err == nil {
			t.Errorf("%s verifies", name)
		}
	}
}

func TestKeys(t *testing.T) {
	private, public := pair(t, 1)
	_, second := pair(t, 2)
	both, err := signatures.ParseKeys(slices.Concat(public, []byte("\n"), second))
	if err != nil || len(both) != 2 {
		t.Errorf("%v, %v", both, err)
	}
	bad := []byte("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n")
	for _, text := range [][]byte{nil, []byte("x"), private, slices.Concat(public, private), slices.Concat(public, bad), bad, slices.Concat(public, []byte("-----BEGIN "))} {
		if keys, err := signatures.ParseKeys(text); err == nil {
			t.Errorf("%q: %v", text, keys)
		}
	}
	for _, text := range [][]byte{nil, public, slices.Concat(private, private), []byte("-----BEGIN PRIVATE KEY-----\nU0VDUkVU\n-----END PRIVATE KEY-----\n")} {
		if _, err := signatures.ParseKey(text); err == nil || strings.Contains(err.Error(), "SECRET") || strings.Contains(err.Error(), "U0VD") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestOtherKinds checks that keys of other kinds and formats are rejected.
func TestOtherKinds(t *testing.T) {
	private, public := pair(t, 1)
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(curve)
	if err != nil {
		t.Fatal(err)
	}
	pub, err := x509.MarshalPKIXPublicKey(curve.Public())
	if err != nil {
		t.Fatal(err)
	}
	block := func(kind string, der []byte) []byte { return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}) }
	crlf := func(text []byte) []byte { return bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n")) }
	raw, _ := pem.Decode(private)
	for name, text := range map[string][]byte{
		"P-256": block("PRIVATE KEY", der), "encrypted": block("ENCRYPTED PRIVATE KEY", raw.Bytes), "of openssh": block("OPENSSH PRIVATE KEY", raw.Bytes),
		"cut off": private[:len(private)/2],
	} {
		if k, err := signatures.ParseKey(text); err == nil {
			t.Errorf("private, %s: %v", name, k.ID())
		}
	}
	for name, text := range map[string][]byte{"P-256": block("PUBLIC KEY", pub), "a certificate": block("CERTIFICATE", pub), "behind another": slices.Concat(public, block("PUBLIC KEY", pub))} {
		if keys, err := signatures.ParseKeys(text); err == nil {
			t.Errorf("public, %s: %v", name, keys)
		}
	}
	marked := func(text []byte) []byte { return append([]byte("\ufeff"), text...) }
	for name, saved := range map[string]func([]byte) []byte{"with CR LF": crlf, "with a byte order mark": marked} {
		if _, err := signatures.ParseKey(saved(private)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if keys, err := signatures.ParseKeys(saved(public)); err != nil || len(keys) != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := signatures.ParseKey(marked(marked(private))); err == nil {
		t.Error("two byte order marks are none")
	}
}

// TestTrust checks that a misleading file of trusted keys is rejected completely.
func TestTrust(t *testing.T) {
	_, public := pair(t, 1)
	_, second := pair(t, 2)
	key, _ := parse(t, 1)
	both, err := json.Marshal(string(public) + string(second))
	if err != nil {
		t.Fatal(err)
	}
	quoted, err := json.Marshal(string(public))
	if err != nil {
		t.Fatal(err)
	}
	file := func(entry string) string {
		return `{"format": "capstan.keys/1", "keys": [{"public": ` + string(quoted) + entry + `}]}`
	}
	for name, text := range map[string]string{
		"good": file(""), "with a term": file(`, "name": "a", "from": "2026-01-01T00:00:00Z", "until": "2027-01-01T00:00:00+01:00"`),
		"PEM": string(public), "with a byte order mark": "\ufeff" + file(""), "PEM with a sentence before": "The key of 2026:\n" + string(public),
	} {
		if trust, err := signatures.ParseTrust([]byte(text)); err != nil || trust.Keys[key.ID()] == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, text := range map[string]string{
		"nothing": "", "another format": strings.Replace(file(""), "keys/1", "keys/2", 1), "no format": strings.Replace(file(""), `"format"`, `"form"`, 1),
		"a field more": strings.Replace(file(""), "{", `{"revoked": [], `, 1), "a field of a key more": file(`, "untill": "2027-01-01T00:00:00Z"`),
		"a key in two cases": file(`, "until": "2027-01-01T00:00:00Z", "Until": "2028-01-01T00:00:00Z"`), "a key in another case": file(`, "Until": "2027-01-01T00:00:00Z"`),
		"the keys in two cases": strings.Replace(file(""), "{", `{"Keys": [], `, 1), "a long s": file(`, "ſince": "2027-01-01T00:00:00Z"`), "a null": "null", "a key that is a list": strings.Replace(file(""), "[{", "[[], {", 1), "a format in another case": strings.Replace(file(""), `"format"`, `"Format"`, 1),
		"a key twice": file(`, "until": "2027-01-01T00:00:00Z", "until": "2028-01-01T00:00:00Z"`), "no keys": `{"format": "capstan.keys/1", "keys": []}`,
		"a day": file(`, "until": "2027-01-01"`), "no time": file(`, "from": "soon"`), "a term of no time": file(`, "from": "2027-01-01T00:00:00Z", "until": "2027-01-01T00:00:00Z"`),
		"a term backwards": file(`, "from": "2027-01-01T00:00:00Z", "until": "2026-01-01T00:00:00Z"`), "more behind": file("") + "{}",
		"the same key in two entries": strings.Replace(file(""), "]", `, {"public": `+string(quoted)+`, "until": "2000-01-01T00:00:00Z"}]`, 1),
		"two in one":                  strings.Replace(file(""), string(quoted), string(both), 1),
		"not PEM":                     strings.Replace(file(""), string(quoted), `"AAAA"`, 1), "null": strings.Replace(file(""), string(quoted), "null", 1),
	} {
		if trust, err := signatures.ParseTrust([]byte(text)); err == nil {
			t.Errorf("%s: %+v", name, trust)
		}
	}
}

// A library verifies with the verifier that ships with DSSE.
type library struct{ key ed25519.PublicKey }

func (l library) KeyID() (string, error)   { return signatures.ID(l.key) }
func (l library) Public() crypto.PublicKey { return l.key }
func (l library) Verify(_ context.Context, data, sig []byte) error {
	if !ed25519.Verify(l.key, data, sig) {
		return errors.New("no")
	}
	return nil
}

// TestDSSE checks that the DSSE library reads and verifies our envelopes, and signs the same
// bytes.
func TestDSSE(t *testing.T) {
	key, keys := parse(t, 1)
	payload := []byte(`{"a":1}`)
	if own, theirs := signatures.PreAuthEncoding("a ü", payload), dsse.PAE("a ü", payload); !bytes.Equal(own, theirs) {
		t.Errorf("%q, theirs %q", own, theirs)
	}
	text, err := signatures.Seal(key, purpose, payload)
	if err != nil {
		t.Fatal(err)
	}
	envelope := &dsse.Envelope{}
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	if err := strict.Decode(envelope); err != nil {
		t.Fatal(err)
	}
	v, err := dsse.NewEnvelopeVerifier(library{keys[key.ID()]})
	if err != nil {
		t.Fatal(err)
	}
	if accepted, err := v.Verify(t.Context(), envelope); err != nil || len(accepted) != 1 {
		t.Errorf("%v, %v", accepted, err)
	}
	envelope.PayloadType += "2"
	if _, err := v.Verify(t.Context(), envelope); err == nil {
		t.Error("another purpose verifies")
	}
}
