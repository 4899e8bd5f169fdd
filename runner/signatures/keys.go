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

// Keys are the keys that are trusted, by their ids. A rotation trusts the old
// key and the new one for a while.
type Keys map[string]ed25519.PublicKey

// ParseKey reads a private key: one PEM block of PKCS #8 that holds an Ed25519
// key. Errors tell nothing of what stands in the text.
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

// ID names the key, see [ID].
func (k Key) ID() string { return k.id }

// Public is what verifies the key's signatures.
func (k Key) Public() Keys {
	return Keys{k.id: k.private.Public().(ed25519.PublicKey)}
}

// ParseKeys reads public keys: PEM blocks of PKIX, one after the other, each with an
// Ed25519 key. A block of another kind is an error, and so is a key of small order, under
// which anybody can sign.
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
		if err := sound(public); err != nil {
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

// mark is the byte order mark that some editors put in front of what they save.
var mark = []byte("\ufeff")

func block(text []byte, kind string) (der, rest []byte, err error) {
	b, rest := pem.Decode(bytes.TrimPrefix(text, mark))
	if b == nil || b.Type != kind {
		return nil, nil, fmt.Errorf("there is no PEM block %q", kind)
	}
	return b.Bytes, rest, nil
}

// ID names a public key: "sha256:" and the hash, in hexadecimal, of its PKIX
// form in DER, which is what openssl pkey -pubin -outform DER gives.
func ID(key ed25519.PublicKey) (string, error) {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return "", fmt.Errorf("public key: %w", err)
	}
	return Digest(der), nil
}
