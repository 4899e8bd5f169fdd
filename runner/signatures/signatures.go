// Package signatures signs statements and verifies them: bytes in, verdict out.
//
// A statement is a JSON object. What is signed of it is its canonical form
// (RFC 8785, [Canonical]) behind the purpose that it was signed for, both with
// their lengths: the pre-authentication encoding of DSSE, so that whoever has a
// DSSE library, or ten lines of their own, can check a signature without this
// package. A signature for one purpose is none for another, and nothing that is
// signed can be read as two statements.
//
// What was signed has one spelling. The canonical form sees to that for the
// statement; a signature is 64 bytes of Ed25519 in standard base64 with its
// padding and nothing around it, and Ed25519 itself refuses the other number
// that would stand for the same signature. So who changes the spelling of what
// is signed has something that does not verify, not something new.
//
// Nothing here reads a file, a clock or the environment. Which keys are
// trusted, and what a statement has to say, is for the caller to know.
package signatures

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// A Purpose says what a statement is signed as: the payload type of DSSE, a
// media type such as application/vnd.capstan.schedule-certificate+json.
type Purpose string

// Signed gives the bytes that a signature is over: DSSE's pre-authentication
// encoding of the purpose and the payload.
func Signed(as Purpose, payload []byte) []byte {
	return append(fmt.Appendf(nil, "DSSEv1 %d %s %d ", len(as), as, len(payload)), payload...)
}

// prefix names the algorithm in a signature's spelling.
const prefix = "ed25519:"

// Sign signs a payload for a purpose and gives the signature as it is written:
// "ed25519:" and 88 characters of base64. The same key and bytes give the same
// signature.
func (k Key) Sign(as Purpose, payload []byte) string {
	return prefix + base64.StdEncoding.EncodeToString(ed25519.Sign(k.private, Signed(as, payload)))
}

// SignBytes signs data as it is: a key is a [Signer] that never fails.
func (k Key) SignBytes(data []byte) ([]byte, error) {
	return ed25519.Sign(k.private, data), nil
}

// What is wrong with a signature, as [Keys.Verify] tells it.
var (
	ErrSpelling  = errors.New("is not written as ed25519: and 64 bytes in standard base64, with nothing around them")
	ErrUntrusted = errors.New("is by a key that is not trusted here")
	ErrSignature = errors.New("is not that key's on this statement")
)

// Verify tells whether a signature is that of the key with the id on a payload,
// for that purpose. nil says that it is; an error wraps [ErrUntrusted],
// [ErrSpelling] or [ErrSignature].
func (ks Keys) Verify(as Purpose, payload []byte, id, signature string) error {
	key, ok := ks[id]
	if !ok {
		return fmt.Errorf("%w: %q", ErrUntrusted, clip(id))
	}
	raw, ok := read(signature)
	if !ok {
		return ErrSpelling
	}
	return verify(key, as, payload, raw)
}

func verify(key ed25519.PublicKey, as Purpose, payload, signature []byte) error {
	if !signed(key, Signed(as, payload), signature) {
		return ErrSignature
	}
	return nil
}

// read takes the one spelling of a signature.
func read(signature string) ([]byte, bool) {
	text, ok := strings.CutPrefix(signature, prefix)
	if !ok {
		return nil, false
	}
	raw, ok := plainBase64(text)
	return raw, ok && len(raw) == ed25519.SignatureSize
}

func clip(s string) string {
	const most = 80
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
