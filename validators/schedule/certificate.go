package schedule

import (
	"maps"
	"time"
)

const certificateVersion = "1.0"

// A certificate is what layer 3 states of a schedule.
type certificate struct {
	creator                string
	at                     time.Time
	items                  int
	hash                   string // of the items
	facts                  facts
	score                  int
	status                 string
	proven                 bool
	vault, avoid, critical int
	checked                map[string]any
}

func (c certificate) violations() map[string]any {
	return map[string]any{"vault": c.vault, "avoid_tier": c.avoid, "critical": c.critical}
}

// issue gives the certificate as a plain value, and whether it is signed.
func (c certificate) issue(sign signer) (map[string]any, bool) {
	object := map[string]any{
		"certificate_version":     certificateVersion,
		"creator_id":              c.creator,
		"validation_timestamp":    c.at.UTC().Format(time.RFC3339),
		"schedule_hash":           c.hash,
		"avoid_types_hash":        namesHash(c.facts.avoid()),
		"vault_types_hash":        namesHash(c.facts.vaultTypes()),
		"items_validated":         c.items,
		"quality_score":           c.score,
		"validation_status":       c.status,
		"checks_performed":        c.checked,
		"violations_found":        c.violations(),
		"upstream_proof_verified": c.proven,
		"certificate_signature":   "",
	}
	if sign == nil {
		return object, false
	}
	object["certificate_signature"] = sign(signedBytes(object))
	return object, true
}

// signedBytes is what a signature is over: the whole certificate but the
// signature, in canonical form, under a name that no other signed text has.
func signedBytes(certificate map[string]any) []byte {
	rest := maps.Clone(certificate)
	delete(rest, "certificate_signature")
	return appendCanonical([]byte("capstan schedule certificate\n"), rest)
}
