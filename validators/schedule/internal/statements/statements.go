// Package statements signs and verifies the statements of a schedule's gates:
// the certificate of schedule_quality, which save_schedule requires, and the
// critic's decision.
//
//	statements.Seal(statements.Certificate, key, statement)
//	err := statements.Verify(statements.Certificate, keys, statement)
//
// A statement is an object of plain values. [Seal] adds the key's id and the
// signature for one purpose. A statement for one purpose does not verify as
// another. The package reads no keys, clock or database. Begin with [Seal].
//
// # Format
//
// The signature is over the encoding of DSSE, "DSSEv1 LENGTH TYPE LENGTH
// PAYLOAD" with lengths in bytes. TYPE is [Certificate] or [Critic]. PAYLOAD is
// the statement without certificate_signature in the form of RFC 8785. The
// fields of a certificate are
//
//   - certificate_version: 2.0
//   - creator_id, page_type, is_active, week_start: as in the database
//   - database_id: of capstan schedule settings; a copy of a database has the same
//   - policy_digest: of gates, limits, rules without their words, and send types
//   - validation_timestamp: UTC, to the second
//   - schedule_hash: SHA-256 of the items, see below
//   - avoid_types_hash, vault_types_hash: SHA-256 of the sorted names, each as a JSON text and a line end
//   - items_validated, expected_items, caption_pool_limited, quality_score, validation_status, checks_performed, violations_found, upstream_proof_verified: of schedule_quality
//   - evidence: of each gate that checks the items valid, status and saw, the digest of the input of the verdict
//   - signing_key_id: "sha256:" and the hash of the public key in DER
//   - certificate_signature: "ed25519:" and 88 characters of standard base64 with padding
//
// schedule_hash is over lines: each item in the form of RFC 8785 without its
// null fields, sorted by instant in UTC, send_type_key, caption_id as a number
// (0 if it is not one) and the line itself, each with a line end.
//
// saw is "sha256:" and the hash, in the form of RFC 8785, of schedule_hash with
//
//   - for selection: the two hashes of types and validation_proof
//   - for quality: these, page_type, week_start, strategies (in NFKC, without invisible characters, in lower case, sorted), confidence_score and caption_pool_limited
//   - for anomaly: week_start, expected_items, prices (n, mean, sigma) and the sorted content_types
//   - for the critic: its critic_certificate
//
// The folder validators/schedule/testdata/certificate has vectors.
package statements

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/seed61713e19/capstan/internal/signatures"
)

// Purposes of statements.
const (
	Certificate signatures.Purpose = "application/vnd.capstan.schedule-certificate+json"
	Critic      signatures.Purpose = "application/vnd.capstan.schedule-critic+json"
)

// Version is the value of [VersionField] in statements of this format.
const Version = "2.0"

// Fields of every statement.
const (
	VersionField   = "certificate_version"
	KeyIDField     = "signing_key_id"
	SignatureField = "certificate_signature"
)

// Seal signs a statement and adds the key's id and the signature. Both are ""
// without a key, or if JSON readers could read the statement differently. It
// reports whether it signed.
func Seal(as signatures.Purpose, key *signatures.Key, statement map[string]any) (signed bool) {
	statement[KeyIDField], statement[SignatureField] = "", ""
	if key == nil {
		return false
	}
	statement[KeyIDField] = key.ID()
	text, err := Payload(statement)
	if err != nil {
		statement[KeyIDField] = ""
		return false
	}
	statement[SignatureField] = key.Sign(as, text)
	return true
}

// Payload returns the signed bytes of a statement: its canonical form without
// the signature.
func Payload(statement map[string]any) ([]byte, error) {
	rest := maps.Clone(statement)
	delete(rest, SignatureField)
	if err := signatures.Unambiguous(rest); err != nil {
		return nil, err
	}
	return Append(nil, rest), nil
}

// Verify returns nil if a statement's signature is valid, or else an error.
func Verify(as signatures.Purpose, keys signatures.Keys, statement map[string]any) error {
	if len(keys) == 0 {
		return errors.New("cannot be verified: no verification key is configured")
	}
	text, err := Payload(statement)
	if err != nil {
		return err
	}
	id, _ := statement[KeyIDField].(string)
	signature, _ := statement[SignatureField].(string)
	return keys.Verify(as, text, id, signature)
}

// Digest returns the digest of a plain value in canonical form, or "" if it has
// none.
func Digest(v any) string {
	if signatures.Unambiguous(v) != nil {
		return ""
	}
	return signatures.Digest(Append(nil, v))
}

// Append appends a plain value in its RFC 8785 form, as [signatures.Canonical]
// does: sorted keys, no white space, and 15.0 as 15. It is a faster
// implementation, because a schedule has up to 200,000 items. The result is
// undefined for an ambiguous value ([signatures.Unambiguous]).
func Append(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...)
	case bool:
		return strconv.AppendBool(b, v)
	case string:
		return AppendText(b, v)
	case []any:
		b = append(b, '[')
		for i, e := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = Append(b, e)
		}
		return append(b, ']')
	case map[string]any:
		return appendObject(b, v, false)
	case int:
		return strconv.AppendInt(b, int64(v), 10)
	case int64:
		return strconv.AppendInt(b, v, 10)
	case float64:
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			return AppendNumber(b, v)
		}
	case json.Number:
		if f, err := v.Float64(); err == nil {
			return AppendNumber(b, f)
		}
	}
	return fmt.Append(b, v)
}

// AppendSparse is [Append] for an object, without its null members.
func AppendSparse(b []byte, object map[string]any) []byte { return appendObject(b, object, true) }

// sortedKeys returns an object's keys in the order of their UTF-16 code units.
// That is the order of their bytes, except for characters after U+FFFF.
func sortedKeys(object map[string]any) []string {
	keys := slices.Sorted(maps.Keys(object))
	for _, key := range keys {
		if strings.ContainsFunc(key, func(r rune) bool { return r > 0xFFFF }) {
			slices.SortFunc(keys, func(a, b string) int { return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b))) })
			break
		}
	}
	return keys
}

// appendObject appends an object with sorted keys; sparse omits nulls.
func appendObject(b []byte, object map[string]any, sparse bool) []byte {
	b = append(b, '{')
	first := true
	for _, key := range sortedKeys(object) {
		value := object[key]
		if sparse && value == nil {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(AppendText(b, key), ':')
		b = Append(b, value)
	}
	return append(b, '}')
}

// AppendNumber appends a finite number as ECMAScript writes it.
func AppendNumber(b []byte, f float64) []byte {
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return strconv.AppendInt(b, int64(f), 10)
	}
	return append(b, jsontext.Float(f).String()...)
}

// AppendText appends a quoted text. It is fast for texts without escapes.
func AppendText(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' {
			b, _ = jsontext.AppendQuote(b, s) // invalid UTF-8 is rejected before
			return b
		}
	}
	return append(append(append(b, '"'), s...), '"')
}
