package receipts

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/internal/signatures"
)

// Terms of the summary.
const (
	statementType = "https://in-toto.io/Statement/v1"

	verifierID   = "https://github.com/seed61713e19/capstan"
	gatesPassed  = "CAPSTAN_GATES_PASSED"
	resultPassed = "PASSED"
	resultFailed = "FAILED" // of a text that was released without a passed check
	textName     = "text"
	outputName   = "output"
)

// Issue signs a claim at a time and returns the receipt.
func Issue(s signatures.Signer, c Claim, at time.Time) ([]byte, error) {
	payload, err := statement(c, at)
	if err != nil {
		return nil, fmt.Errorf("receipt: %w", err)
	}
	return signatures.Seal(s, PayloadType, payload)
}

// An inTotoStatement is version 1 of the statement of in-toto:
// https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md.
type inTotoStatement struct {
	Type          string         `json:"_type"`
	Subject       []subject      `json:"subject"`
	PredicateType string         `json:"predicateType"`
	Predicate     map[string]any `json:"predicate"`
}

type subject struct {
	Name   string            `json:"name"`
	Digest map[string]string `json:"digest"`
}

// statement returns the canonical JSON of a claim's statement.
func statement(c Claim, at time.Time) ([]byte, error) {
	subjects := []subject{{Name: textName}}
	digests := []string{c.Text}
	if c.Output != "" {
		subjects, digests = append(subjects, subject{Name: outputName}), append(digests, c.Output)
	}
	var err error
	for i := range subjects {
		if subjects[i].Digest, err = digestSet(digests[i]); err != nil {
			return nil, err
		}
	}
	predicate, err := predicate(c, at)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(inTotoStatement{Type: statementType, Subject: subjects, PredicateType: SummaryType, Predicate: predicate})
	if err != nil {
		return nil, err
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return nil, err
	}
	return signatures.Canonical(value)
}

// digestSet returns a digest in the form of in-toto. A digest must be "sha256:"
// and 64 hexadecimal digits.
func digestSet(digest string) (map[string]string, error) {
	sum := strings.TrimPrefix(digest, "sha256:")
	if b, err := hex.DecodeString(sum); err != nil || len(b) != 32 {
		return nil, fmt.Errorf("%q is not a SHA-256 digest", digest)
	}
	return map[string]string{"sha256": sum}, nil
}

// predicate returns the verification summary with the claim as a further field.
// SLSA allows further fields whose names are URIs.
func predicate(c Claim, at time.Time) (map[string]any, error) {
	policy := map[string]any{"uri": "capstan:cascade/" + c.Cascade.ID}
	digest, err := digestSet(c.Cascade.Digest)
	if err != nil {
		return nil, err
	}
	policy["digest"] = digest
	result, levels := resultPassed, []string{gatesPassed}
	if len(c.Degraded) > 0 {
		result, levels = resultFailed, []string{} // the list is required, even if it is empty
	}
	return map[string]any{
		"verifier":           map[string]string{"id": verifierID},
		"timeVerified":       at.UTC().Truncate(time.Second).Format(time.RFC3339),
		"resourceUri":        "capstan:run/" + c.Run + "/" + c.Path,
		"policy":             policy,
		"verificationResult": result,
		"verifiedLevels":     levels,
		ClaimType:            c.normalized(),
	}, nil
}
