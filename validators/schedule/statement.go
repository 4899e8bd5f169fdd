package schedule

import (
	"errors"
	"maps"

	"github.com/seed61713e19/capstan/runner/signatures"
)

// What statements are signed as. Their format is described in
// docs/schedule.md, "Certificates"; one that means something else has another
// version.
const (
	certificatePurpose signatures.Purpose = "application/vnd.capstan.schedule-certificate+json"
	criticPurpose      signatures.Purpose = "application/vnd.capstan.schedule-critic+json"

	statementVersion = "2.0"
	versionField     = "certificate_version"
	keyIDField       = "signing_key_id"
	signatureField   = "certificate_signature"
)

// seal signs a statement and puts the key's name and the signature into it.
// Without a key, and of what JSON readers could read differently, both are "".
func seal(as signatures.Purpose, key *signatures.Key, statement map[string]any) (signed bool) {
	statement[keyIDField], statement[signatureField] = "", ""
	if key == nil {
		return false
	}
	statement[keyIDField] = key.ID()
	text, err := signedText(statement)
	if err != nil {
		statement[keyIDField] = ""
		return false
	}
	statement[signatureField] = key.Sign(as, text)
	return true
}

// signedText is the payload of a statement's signature: all of it but the
// signature, in canonical form.
func signedText(statement map[string]any) ([]byte, error) {
	rest := maps.Clone(statement)
	delete(rest, signatureField)
	if err := signatures.Unambiguous(rest); err != nil {
		return nil, err
	}
	return appendCanonical(nil, rest), nil
}

// unsealed says what is wrong with a statement's signature, nil for nothing.
func unsealed(as signatures.Purpose, keys signatures.Keys, statement map[string]any) error {
	if len(keys) == 0 {
		return errors.New("cannot be verified: no verification key is configured")
	}
	text, err := signedText(statement)
	if err != nil {
		return err
	}
	id, _ := statement[keyIDField].(string)
	signature, _ := statement[signatureField].(string)
	return keys.Verify(as, text, id, signature)
}

// digestOf is the digest of a plain value in canonical form, "" where it has
// none.
func digestOf(v any) string {
	if signatures.Unambiguous(v) != nil {
		return ""
	}
	return signatures.Digest(appendCanonical(nil, v))
}
