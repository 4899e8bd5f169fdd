package receipt

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	vsa "github.com/in-toto/attestation/go/predicates/vsa/v1"
	intoto "github.com/in-toto/attestation/go/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/seed61713e19/capstan/runner/signatures"
)

// The words of the summary.
const (
	verifierID   = "https://github.com/seed61713e19/capstan"
	gatesPassed  = "CAPSTAN_GATES_PASSED"
	resultPassed = "PASSED"
	resultFailed = "FAILED" // of a text that was released without a check
	textName     = "text"
	outputName   = "output"
)

// Issue signs a claim at a time and gives the receipt.
func Issue(s signatures.Signer, c Claim, at time.Time) ([]byte, error) {
	payload, err := statement(c, at)
	if err != nil {
		return nil, fmt.Errorf("receipt: %w", err)
	}
	return signatures.Seal(s, PayloadType, payload)
}

// statement is the canonical form of the in-toto statement of a claim.
func statement(c Claim, at time.Time) ([]byte, error) {
	predicate, err := predicate(c, at)
	if err != nil {
		return nil, err
	}
	s := &intoto.Statement{Type: intoto.StatementTypeUri, Subject: subjects(c), PredicateType: SummaryType, Predicate: predicate}
	if err := s.Validate(); err != nil {
		return nil, err
	}
	value, err := plain(s)
	if err != nil {
		return nil, err
	}
	return signatures.Canonical(value)
}

func subjects(c Claim) []*intoto.ResourceDescriptor {
	list := []*intoto.ResourceDescriptor{{Name: textName, Digest: hashes(c.Text)}}
	if c.Output != "" {
		list = append(list, &intoto.ResourceDescriptor{Name: outputName, Digest: hashes(c.Output)})
	}
	return list
}

// hashes is a digest as in-toto has it.
func hashes(digest string) map[string]string {
	return map[string]string{"sha256": strings.TrimPrefix(digest, "sha256:")}
}

// predicate is the summary with the claim beside it. in-toto lets a predicate
// have further fields whose names are URIs.
func predicate(c Claim, at time.Time) (*structpb.Struct, error) {
	summary := &vsa.VerificationSummary{
		Verifier:           &vsa.VerificationSummary_Verifier{Id: verifierID},
		TimeVerified:       timestamppb.New(at.UTC().Truncate(time.Second)),
		ResourceUri:        "capstan:run/" + c.Run + "/" + c.Path,
		Policy:             &vsa.VerificationSummary_Policy{Uri: "capstan:cascade/" + c.Cascade.ID, Digest: hashes(c.Cascade.Digest)},
		VerificationResult: resultPassed,
		VerifiedLevels:     []string{gatesPassed},
	}
	if len(c.Degraded) > 0 {
		summary.VerificationResult, summary.VerifiedLevels = resultFailed, nil
	}
	value, err := plain(summary)
	if err != nil {
		return nil, err
	}
	if value["verifiedLevels"] == nil {
		value["verifiedLevels"] = []any{} // required, also where there is none
	}
	claim, err := json.Marshal(c.whole())
	if err != nil {
		return nil, err
	}
	var told any
	if err := json.Unmarshal(claim, &told); err != nil {
		return nil, err
	}
	value[ClaimType] = told
	return structpb.NewStruct(value)
}

// plain gives a message as a plain value: protojson spells as it likes.
func plain(m proto.Message) (map[string]any, error) {
	text, err := protojson.Marshal(m)
	if err != nil {
		return nil, err
	}
	var value map[string]any
	return value, json.Unmarshal(text, &value)
}
