package signatures

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"slices"
)

// errWeak is the error for a key of small order. Anybody can make signatures
// that verify under it.
var errWeak = errors.New("is a point of small order, under which anybody can sign: it is no public key that capstan receipt keygen makes")

// errEncoding is the error for a key that RFC 8032 does not decode (section
// 5.1.3).
var errEncoding = errors.New("is not in the encoding of RFC 8032: its y is 2^255 - 19 or more")

// smallOrder contains the y of each point of Ed25519 whose order divides the
// cofactor 8, encoded as in RFC 8032, without the sign of x.
var smallOrder = []string{
	"0100000000000000000000000000000000000000000000000000000000000000", // order 1: y = 1
	"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", // order 2: y = -1
	"0000000000000000000000000000000000000000000000000000000000000000", // order 4: y = 0
	"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05", // order 8
	"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a", // order 8
}

// checkKey returns an error for a public key that crypto/ed25519 accepts but
// that proves nothing about the signer.
func checkKey(key ed25519.PublicKey) error {
	if len(key) != ed25519.PublicKeySize {
		return errEncoding
	}
	y := slices.Clone(key)
	last := len(y) - 1
	y[last] &= 0x7f // the sign of x
	if y[0] >= 0xed && y[last] == 0x7f && bytes.Count(y[1:last], []byte{0xff}) == last-1 {
		return errEncoding
	}
	if slices.Contains(smallOrder, hex.EncodeToString(y)) {
		return errWeak
	}
	return nil
}

// verifies reports whether a signature over data is valid under a sound key.
func verifies(key ed25519.PublicKey, data, signature []byte) bool {
	return len(signature) == ed25519.SignatureSize && checkKey(key) == nil && ed25519.Verify(key, data, signature)
}
