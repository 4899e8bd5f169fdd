package signatures

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
)

// A Key signs. Make one with [ParseKey].
type Key struct {
	private ed25519.PrivateKey
	id      string
}

// Keys are trusted public keys by id. A rotation trusts the old and the new key
// for a while.
type Keys map[string]ed25519.PublicKey

// ParseKey parses a private key: one PEM block of PKCS #8 with an Ed25519 key. Errors
// do not contain the text.
func ParseKey(text []byte) (Key, error) {
	der, rest, err := block(text, "PRIVATE KEY")
	if err != nil {
		return Key{}, err
	}
	parsed, err := x509.ParsePKCS8PrivateKey(der)
	private, ok := parsed.(ed25519.PrivateKey)
	if err != nil || !ok {
		return Key{}, errors.New("not an Ed25519 private key in PKCS #8")
	}
	if len(bytes.TrimSpace(rest)) > 0 {
		return Key{}, errors.New("the file continues after the private key")
	}
	id, err := ID(private.Public().(ed25519.PublicKey))
	return Key{private, id}, err
}

// ID returns the id of the key, see [ID].
func (k Key) ID() string { return k.id }

// Public returns the public key, which verifies the key's signatures.
func (k Key) Public() Keys {
	return Keys{k.id: k.private.Public().(ed25519.PublicKey)}
}

// ParseKeys parses public keys: PEM blocks of PKIX with Ed25519 keys. A block of
// another kind is an error. A key of small order is an error too, because anybody can
// sign under it.
func ParseKeys(text []byte) (Keys, error) {
	keys := Keys{}
	for rest := text; len(keys) == 0 || bytes.Contains(rest, []byte("-----BEGIN")); {
		var der []byte
		var err error
		if der, rest, err = block(rest, "PUBLIC KEY"); err != nil {
			return nil, err
		}
		parsed, err := x509.ParsePKIXPublicKey(der)
		public, ok := parsed.(ed25519.PublicKey)
		if err != nil || !ok {
			return nil, errors.New("not an Ed25519 public key")
		}
		if err := checkKey(public); err != nil {
			return nil, fmt.Errorf("the public key %x %w", []byte(public), err)
		}
		id, err := ID(public)
		if err != nil {
			return nil, err
		}
		keys[id] = public
	}
	return keys, nil
}

// mark is the byte order mark that some editors write at the beginning of a
// file.
var mark = []byte("\ufeff")

func block(text []byte, kind string) (der, rest []byte, err error) {
	b, rest := pem.Decode(bytes.TrimPrefix(text, mark))
	if b == nil || b.Type != kind {
		return nil, nil, fmt.Errorf("there is no PEM block %q", kind)
	}
	return b.Bytes, rest, nil
}

// ID returns the id of a public key: "sha256:" and the hexadecimal hash of its
// PKIX form in DER, as openssl pkey -pubin -outform DER writes it.
func ID(key ed25519.PublicKey) (string, error) {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return "", fmt.Errorf("public key: %w", err)
	}
	return Digest(der), nil
}
