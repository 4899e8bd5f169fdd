package schedule

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"strings"

	"github.com/seed61713e19/capstan/internal/files"
	"github.com/seed61713e19/capstan/internal/signatures"
)

// Keygen returns a pair of Ed25519 keys as PEM. The private one (PKCS #8) signs
// certificates and belongs only to the signing gates. The public one (PKIX)
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

// newSigner returns the signing key, or nil if none is configured.
func newSigner(key string) (*signatures.Key, error) {
	return readKeys(key, "signing key", func(text []byte) (*signatures.Key, error) {
		k, err := signatures.ParseKey(text)
		return &k, err
	})
}

// trustedKeys returns the gatekeeper's keys. Without any, no certificate is
// trusted.
func trustedKeys(key string) (signatures.Keys, error) {
	return readKeys(key, "verification key", signatures.ParseKeys)
}

// maxKeys is the maximum size of a file of keys, in bytes.
const maxKeys = 1 << 20

func isPEM(key string) bool { return strings.Contains(key, "-----BEGIN") }

// readKeys parses keys in PEM, or in the file that key names. It returns the
// zero value for "".
func readKeys[K any](key, what string, parse func([]byte) (K, error)) (read K, err error) {
	if key == "" {
		return read, nil
	}
	text := []byte(key)
	if !isPEM(key) {
		text, err = files.Read(strings.TrimSpace(key), maxKeys)
	}
	if err == nil {
		read, err = parse(text)
	}
	if err != nil {
		var none K
		return none, fmt.Errorf("%s: %w", what, err)
	}
	return read, nil
}
