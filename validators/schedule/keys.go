package schedule

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"strings"
)

// Keygen makes a pair of Ed25519 keys as PEM: the private one (PKCS #8) signs
// certificates and belongs to the quality gate alone, the public one (PKIX)
// verifies them in the gatekeeper.
func Keygen() (private, public []byte, err error) {
	pub, priv, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("key: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(priv)
	if err != nil {
		return nil, nil, fmt.Errorf("private key: %w", err)
	}
	private = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	if der, err = x509.MarshalPKIXPublicKey(pub); err != nil {
		return nil, nil, fmt.Errorf("public key: %w", err)
	}
	return private, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), nil
}

// A signer signs the canonical bytes of a certificate; nil where no key is
// configured.
type signer func(message []byte) string

const signaturePrefix = "ed25519:"

func newSigner(key string) (signer, error) {
	if key == "" {
		return nil, nil
	}
	block, err := keyBlock(key, "PRIVATE KEY")
	if err != nil {
		return nil, fmt.Errorf("signing key: %w", err)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block)
	private, ok := parsed.(ed25519.PrivateKey)
	if err != nil || !ok {
		return nil, errors.New("signing key: not an Ed25519 private key in PKCS #8") // no word of what it holds
	}
	return func(message []byte) string {
		return signaturePrefix + base64.StdEncoding.EncodeToString(ed25519.Sign(private, message))
	}, nil
}

// verifyKey reads the gatekeeper's key; without one there is none to trust.
func verifyKey(key string) (ed25519.PublicKey, error) {
	if key == "" {
		return nil, nil
	}
	block, err := keyBlock(key, "PUBLIC KEY")
	if err != nil {
		return nil, fmt.Errorf("verification key: %w", err)
	}
	parsed, err := x509.ParsePKIXPublicKey(block)
	public, ok := parsed.(ed25519.PublicKey)
	if err != nil || !ok {
		return nil, errors.New("verification key: not an Ed25519 public key")
	}
	return public, nil
}

// keyBlock takes the one block of that kind out of a PEM text, or out of the
// file that the text names.
func keyBlock(key, kind string) ([]byte, error) {
	text := []byte(key)
	if !strings.Contains(key, "-----BEGIN") {
		var err error
		if text, err = os.ReadFile(strings.TrimSpace(key)); err != nil {
			return nil, err
		}
	}
	block, _ := pem.Decode(text)
	if block == nil || block.Type != kind {
		return nil, fmt.Errorf("there is no PEM block %q", kind)
	}
	return block.Bytes, nil
}

// verified tells whether a signature is the key's on a message.
func verified(public ed25519.PublicKey, message []byte, signature string) bool {
	encoded, ok := strings.CutPrefix(signature, signaturePrefix)
	if !ok || len(public) != ed25519.PublicKeySize {
		return false
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(encoded)
	return err == nil && ed25519.Verify(public, message, raw)
}
