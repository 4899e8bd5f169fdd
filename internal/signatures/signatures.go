// Package signatures signs statements and verifies them: bytes in, verdict out.
//
//	key, err := signatures.ParseKey(pem)
//	signature := key.Sign(purpose, payload)
//	err = key.Public().Verify(purpose, payload, key.ID(), signature)
//
// A statement is a JSON object. The signed bytes contain its purpose, its canonical
// form (RFC 8785, [Canonical]) and the lengths of both. This is the pre-authentication
// encoding of DSSE, so any DSSE library can check a signature without this package. A
// signature is valid for one purpose only, and signed bytes can only be read as one
// statement.
//
// Signed data has exactly one spelling. For the statement that is the canonical
// form. A signature is 64 bytes of Ed25519 in standard base64 with padding, and
// nothing around it; Ed25519 rejects the second number for the same signature.
// So a changed spelling never verifies.
//
// The package does not read files, the clock or the environment. The caller decides
// which keys are trusted and checks the content of a statement. Begin with [Key.Sign]
// and [Keys.Verify].
package signatures

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/seed61713e19/capstan/internal/clips"
)

// A Purpose is the use of a statement: the payload type of DSSE, such as
// application/vnd.capstan.schedule-certificate+json.
type Purpose string

// PreAuthEncoding returns the bytes that are signed: the pre-authentication
// encoding of DSSE for the purpose and the payload.
func PreAuthEncoding(as Purpose, payload []byte) []byte {
	return append(fmt.Appendf(nil, "DSSEv1 %d %s %d ", len(as), as, len(payload)), payload...)
}

// prefix is the name of the algorithm in a signature.
const prefix = "ed25519:"

// Sign signs a payload for a purpose and returns the signature as text:
// "ed25519:" and 88 characters of base64. The same key and bytes always give
// the same signature.
func (k Key) Sign(as Purpose, payload []byte) string {
	return prefix + base64.StdEncoding.EncodeToString(ed25519.Sign(k.private, PreAuthEncoding(as, payload)))
}

// SignBytes signs data without an encoding. A key is a [Signer] that never
// fails.
func (k Key) SignBytes(data []byte) ([]byte, error) {
	return ed25519.Sign(k.private, data), nil
}

// Errors of [Keys.Verify].
var (
	ErrSpelling  = errors.New("is not written as ed25519: and 64 bytes in standard base64, with nothing around them")
	ErrUntrusted = errors.New("is by a key that is not trusted here")
	ErrSignature = errors.New("is not that key's on this statement")
)

// Verify returns nil if the signature of a payload for a purpose is valid under
// the key with the id. Otherwise the error wraps [ErrUntrusted], [ErrSpelling]
// or [ErrSignature].
func (ks Keys) Verify(as Purpose, payload []byte, id, signature string) error {
	key, ok := ks[id]
	if !ok {
		return fmt.Errorf("%w: %q", ErrUntrusted, clips.Bytes(id, 80))
	}
	raw, ok := read(signature)
	if !ok {
		return ErrSpelling
	}
	return verify(key, as, payload, raw)
}

func verify(key ed25519.PublicKey, as Purpose, payload, signature []byte) error {
	if !verifies(key, PreAuthEncoding(as, payload), signature) {
		return ErrSignature
	}
	return nil
}

// read decodes a signature. It accepts only one spelling.
func read(signature string) ([]byte, bool) {
	text, ok := strings.CutPrefix(signature, prefix)
	if !ok {
		return nil, false
	}
	raw, ok := plainBase64(text)
	return raw, ok && len(raw) == ed25519.SignatureSize
}
