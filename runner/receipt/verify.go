package receipt

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	intoto "github.com/in-toto/attestation/go/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/signatures"
	"github.com/seed61713e19/capstan/wards"
)

// The three words of a verification.
const (
	Passed     = "passed"      // all that was asked of text and receipt holds
	Refused    = "refused"     // something that was asked does not hold
	CannotTell = "cannot tell" // there is no receipt that could be read, or no text
)

// A Demand is what a verifier wants beside a good signature on the text. The
// zero value wants a text that was not released without a check.
type Demand struct {
	Cascade  string // digest of the policy; "" for any
	Gates    []GateDemand
	MaxAge   time.Duration // since the receipt was made; 0 for any
	Now      time.Time     // the verifier's clock; zero if there is none
	Degraded bool          // takes a text that was released without a check
}

// A GateDemand is what a verifier wants of a gate.
type GateDemand = cascades.GateDemand

// A Report is what a verification came to.
type Report struct {
	Verdict string   `json:"verdict"`
	Field   string   `json:"field,omitempty"` // the first that does not hold
	Reason  string   `json:"reason,omitempty"`
	KeyID   string   `json:"key_id,omitempty"`
	KeyName string   `json:"key_name,omitempty"`
	Checked []string `json:"checked"`         // what holds, in the order in which it was looked at
	NotSaid []string `json:"not_said"`        // what a receipt does not prove
	Made    string   `json:"made,omitempty"`  // when, as RFC 3339
	Claim   *Claim   `json:"claim,omitempty"` // once its signature holds
}

// notProven is what a receipt never proves, a sentence each.
func notProven() []string {
	return []string{
		"that the text is true",
		"that a model was the one whose name it answered to",
		"that the program that made the receipt was an unchanged capstan on an honest machine",
	}
}

// Verify says what there is to say of a text and its receipt. It looks, in this
// order, at the envelope and its signature, at the statement, at the term of
// the key, at the text, and at what is demanded, and ends at the first that
// does not hold.
func Verify(text Source, receipt []byte, trust signatures.Trust, want Demand) Report {
	r := Report{Verdict: Passed, Checked: []string{}, NotSaid: notProven()}
	if err := r.look(text, receipt, trust, want); err != nil {
		r.Verdict, r.Field, r.Reason = Refused, "", err.Error()
		if flaw, ok := errors.AsType[*signatures.Flaw](err); ok {
			r.Field, r.Reason = flaw.Field, flaw.Err.Error()
			if flaw.Unreadable {
				r.Verdict = CannotTell
			}
		}
	}
	return r
}

// Unreadable is the report where the receipt itself could not be read.
func Unreadable(err error) Report {
	return Report{Verdict: CannotTell, Field: "envelope", Reason: "cannot be read: " + err.Error(), Checked: []string{}, NotSaid: notProven()}
}

func (r *Report) holds(format string, args ...any) {
	r.Checked = append(r.Checked, fmt.Sprintf(format, args...))
}

func (r *Report) look(text Source, receipt []byte, trust signatures.Trust, want Demand) error {
	payload, id, err := trust.Keys.Open(PayloadType, receipt)
	if err != nil {
		return err
	}
	r.KeyID, r.KeyName = id, trust.Terms[id].Name
	r.holds("the signature is that of the key %s", id)
	claim, made, err := read(payload)
	if err != nil {
		return err
	}
	r.Claim, r.Made = claim, made.Format(time.RFC3339)
	r.holds("the statement says one thing, in its one spelling")
	if err := trust.InUse(id, made); err != nil {
		return &signatures.Flaw{Field: "predicate.timeVerified", Err: err}
	}
	if flaw := claim.sound(); flaw != nil {
		return flaw
	}
	if made.Before(claim.Released.Add(-skew)) {
		return flawed("predicate.timeVerified", "is %s, and the text was released at %s", r.Made, claim.Released.Format(time.RFC3339))
	}
	if !want.Now.IsZero() && made.After(want.Now.Add(skew)) {
		return flawed("predicate.timeVerified", "is %s, more than %s after this clock's %s: check both clocks", r.Made, skew, want.Now.UTC().Format(time.RFC3339))
	}
	said, err := claim.matches(text)
	if err != nil {
		return err
	}
	r.holds("%s", said)
	return r.demand(want, made)
}

// demand looks at what the verifier wants.
func (r *Report) demand(want Demand, made time.Time) error {
	c := r.Claim
	if len(c.Degraded) > 0 {
		if !want.Degraded {
			return flawed("degraded", "says that the text was released without %s", strings.Join(c.Degraded, ", "))
		}
		r.holds("the text was released without %s, which is allowed here", strings.Join(c.Degraded, ", "))
	}
	if want.Cascade != "" {
		if c.Cascade.Digest != want.Cascade {
			return flawed("cascade.digest", "is %s, not %s", c.Cascade.Digest, want.Cascade)
		}
		r.holds("the cascade is %s", want.Cascade)
	}
	for _, g := range want.Gates {
		if err := c.passedBy(g); err != nil {
			return &signatures.Flaw{Field: "gates", Err: err}
		}
		r.holds("%s passed the text", g)
	}
	if want.MaxAge > 0 {
		if age := want.Now.Sub(made); age > want.MaxAge {
			return flawed("predicate.timeVerified", "is %s ago, more than %s", age.Round(time.Second), want.MaxAge)
		}
		r.holds("it is not older than %s", want.MaxAge)
	}
	return nil
}

// skew is how far the clocks of two machines may differ.
const skew = 5 * time.Minute

// passedBy is nil where the gate passed the text: every one of that name that could
// have refused it, and exactly that gate among them.
func (c *Claim) passedBy(want GateDemand) error {
	other, there := "", false
	for _, g := range c.Gates {
		switch {
		case g.Name != want.Name || !g.mayRefuse():
		case g.Verdict != GatePassed:
			return fmt.Errorf("%s rejected the text: %s", want.Name, g.Verdict)
		case want.Digest != "" && g.Digest != want.Digest:
			other = g.Digest
		default:
			there = true
		}
	}
	switch {
	case there:
		return nil
	case other != "":
		return fmt.Errorf("found %s as %s, want %s", want.Name, other, want.Digest)
	}
	return fmt.Errorf("have none of the name %q that could refuse a text", want.Name)
}

// mayRefuse tells whether the gate could have refused the text: an advisory one
// refuses nothing, and a pre-ward has judged what the text was made from.
func (g *Gate) mayRefuse() bool { return g.Mode != advisory && g.Moment != string(wards.Pre) }

// read takes the one spelling of a statement apart.
func read(payload []byte) (*Claim, time.Time, error) {
	unreadable := func(field, format string, args ...any) (*Claim, time.Time, error) {
		return nil, time.Time{}, &signatures.Flaw{Field: field, Err: fmt.Errorf(format, args...), Unreadable: true}
	}
	var s intoto.Statement
	if err := protojson.Unmarshal(payload, &s); err != nil {
		return unreadable("payload", "is no in-toto statement")
	}
	if err := s.Validate(); err != nil || s.Type != intoto.StatementTypeUri {
		return unreadable("_type", "is no in-toto statement v1")
	}
	if s.PredicateType != SummaryType {
		return unreadable("predicateType", "is %q, not %q", s.PredicateType, SummaryType)
	}
	told := s.Predicate.AsMap()
	raw, ok := told[ClaimType]
	if !ok {
		for name := range told {
			if version, newer := strings.CutPrefix(name, claimBase); newer {
				return unreadable("predicate", "is a receipt of version %s; this capstan reads v1: use a newer one", version)
			}
		}
		return unreadable("predicate", "is no receipt: it has no %s", ClaimType)
	}
	claim, err := readClaim(raw)
	if err != nil {
		return unreadable("predicate", "has a claim that this capstan cannot read, which may be newer: %w", err)
	}
	at, _ := told["timeVerified"].(string)
	made, err := time.Parse(time.RFC3339, at)
	if err != nil {
		return unreadable("predicate.timeVerified", "is no time")
	}
	again, err := statement(*claim, made)
	if err != nil {
		return unreadable("predicate", "has a claim that cannot be made: %w", err)
	}
	if !bytes.Equal(again, payload) {
		return nil, made, &signatures.Flaw{Field: difference(payload, again), Err: errors.New("contradicts the rest of the statement, or is not in its original form")}
	}
	return claim, made, nil
}

func readClaim(raw any) (*Claim, error) {
	text, err := json.Marshal(raw)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	c := new(Claim)
	return c, d.Decode(c)
}
