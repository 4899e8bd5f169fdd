package signatures_test

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/signatures"
)

// forged returns a payload and a signature that verify under a key of small order. They
// are made without a private key. R is the neutral point and S is 0, so the equation
// S·B = R + h·A holds for each hash h that the order of A divides.
func forged(t *testing.T, key ed25519.PublicKey) (payload, signature []byte) {
	t.Helper()
	signature = make([]byte, ed25519.SignatureSize)
	signature[0] = 1
	for i := range 1000 {
		payload = fmt.Appendf(nil, `{"n":%d}`, i)
		if ed25519.Verify(key, signatures.PreAuthEncoding(purpose, payload), signature) {
			return payload, signature
		}
	}
	t.Fatalf("%x: no payload verifies", []byte(key))
	return nil, nil
}

// TestWeakKey checks that a key under which anybody can sign is neither loaded nor used.
func TestWeakKey(t *testing.T) {
	const minus, eighth, other = "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05", "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"
	zeros, ones := strings.Repeat("00", 30), strings.Repeat("ff", 30)
	for _, y := range []string{"01" + zeros + "00", minus, "00" + zeros + "00", eighth, other, "ed" + ones + "7f", "ee" + ones + "7f"} {
		for _, sign := range []byte{0, 0x80} {
			key, err := hex.DecodeString(y)
			if err != nil {
				t.Fatal(err)
			}
			key[31] |= sign
			payload, raw := forged(t, key)
			der, err := x509.MarshalPKIXPublicKey(ed25519.PublicKey(key))
			if err != nil {
				t.Fatal(err)
			}
			text := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
			if _, err := signatures.ParseKeys(text); err == nil || !strings.Contains(err.Error(), hex.EncodeToString(key)) {
				t.Errorf("%x is loaded: %v", key, err)
			}
			if _, err := signatures.ParseTrust(text); err == nil {
				t.Errorf("%x is trusted", key)
			}
			keys := signatures.Keys{"k": key}
			if keys.Verify(purpose, payload, "k", "ed25519:"+base64.StdEncoding.EncodeToString(raw)) == nil || keys.SignedBytes("k", signatures.PreAuthEncoding(purpose, payload), raw) {
				t.Errorf("a forged signature verifies under %x", key)
			}
			envelope, err := signatures.Seal(forger{raw}, purpose, payload)
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := keys.Open(purpose, envelope); err == nil {
				t.Errorf("a forged envelope opens under %x", key)
			}
		}
	}
	for _, y := range []string{"ef" + ones + "7f", "f0" + ones + "7f", "ff" + ones + "ff"} { // what RFC 8032 does not decode
		key, _ := hex.DecodeString(y)
		der, err := x509.MarshalPKIXPublicKey(ed25519.PublicKey(key))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := signatures.ParseKeys(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})); err == nil {
			t.Errorf("%s is loaded", y)
		}
	}
}

type forger struct{ signature []byte }

func (f forger) ID() string                       { return "k" }
func (f forger) SignBytes([]byte) ([]byte, error) { return f.signature, nil }
