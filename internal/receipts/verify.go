package receipts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/internal/signatures"
	"github.com/seed61713e19/capstan/wards"
)

// Verdicts of a verification.
const (
	Passed     = "passed"      // everything that was demanded of text and receipt holds
	Refused    = "refused"     // something that was demanded does not hold
	CannotTell = "cannot tell" // there is no readable receipt, or no text
)

// A Demand is the list of a verifier's requirements besides a valid signature on the
// text. The zero value requires only that the text has passed its checks.
type Demand struct {
	Cascade  string // digest of the policy; default: any
	Gates    []signatures.GateDemand
	MaxAge   time.Duration // since the receipt was made; default: any
	Now      time.Time     // the verifier's clock; zero if there is none
	Degraded bool          // accept a text that was released without a passed check
}

// A Report is the result of a verification.
type Report struct {
	Verdict   string   `json:"verdict"`
	Field     string   `json:"field,omitempty"` // the first field that does not hold
	Reason    string   `json:"reason,omitempty"`
	KeyID     string   `json:"key_id,omitempty"`
	KeyName   string   `json:"key_name,omitempty"`
	Checked   []string `json:"checked"`         // the passed checks, in order
	NotProven []string `json:"not_proven"`      // what a receipt does not prove
	Made      string   `json:"made,omitempty"`  // time of issue in RFC 3339
	Claim     *Claim   `json:"claim,omitempty"` // set once its signature is verified
}

// notProven lists the limits of a receipt, one sentence each.
func notProven() []string {
	return []string{
		"that the text is true",
		"that a model was the one whose name it answered to",
		"that the program that made the receipt was an unchanged capstan on an honest machine",
	}
}

// Verify verifies a text and its receipt. It checks the envelope and its
// signature, the statement, the validity period of the key, the text and the
// demands, in this order. It stops at the first failure.
func Verify(text Source, receipt []byte, trust signatures.Trust, want Demand) Report {
	r := Report{Verdict: Passed, Checked: []string{}, NotProven: notProven()}
	if err := r.check(text, receipt, trust, want); err != nil {
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

// Unreadable returns the report for a receipt that cannot be read.
func Unreadable(err error) Report {
	return Report{Verdict: CannotTell, Field: "envelope", Reason: "cannot be read: " + err.Error(), Checked: []string{}, NotProven: notProven()}
}

func (r *Report) pass(format string, args ...any) {
	r.Checked = append(r.Checked, fmt.Sprintf(format, args...))
}

func (r *Report) check(text Source, receipt []byte, trust signatures.Trust, want Demand) error {
	payload, id, err := trust.Keys.Open(PayloadType, receipt)
	if err != nil {
		return err
	}
	r.KeyID, r.KeyName = id, trust.Terms[id].Name
	r.pass("the signature is that of the key %s", id)
	claim, made, err := parseStatement(payload)
	if err != nil {
		return err
	}
	r.Claim, r.Made = claim, made.Format(time.RFC3339)
	r.pass("the statement says one thing, in its one spelling")
	if err := trust.InUse(id, made); err != nil {
		return &signatures.Flaw{Field: "predicate.timeVerified", Err: err}
	}
	if flaw := claim.flaw(); flaw != nil {
		return flaw
	}
	if made.Before(claim.Released.Add(-skew)) {
		return newFlaw("predicate.timeVerified", "is %s, and the text was released at %s", r.Made, claim.Released.Format(time.RFC3339))
	}
	if !want.Now.IsZero() && made.After(want.Now.Add(skew)) {
		return newFlaw("predicate.timeVerified", "is %s, more than %s after this clock's %s: check both clocks", r.Made, skew, want.Now.UTC().Format(time.RFC3339))
	}
	match, err := claim.matches(text)
	if err != nil {
		return err
	}
	r.pass("%s", match)
	return r.demand(want, made)
}

// demand checks the verifier's demands.
func (r *Report) demand(want Demand, made time.Time) error {
	c := r.Claim
	if len(c.Degraded) > 0 {
		if !want.Degraded {
			return newFlaw("degraded", "says that the text was released without %s", strings.Join(c.Degraded, ", "))
		}
		r.pass("the text was released without %s, which is allowed here", strings.Join(c.Degraded, ", "))
	}
	if want.Cascade != "" {
		if c.Cascade.Digest != want.Cascade {
			return newFlaw("cascade.digest", "is %s, not %s", c.Cascade.Digest, want.Cascade)
		}
		r.pass("the cascade is %s", want.Cascade)
	}
	for _, g := range want.Gates {
		if err := c.passedBy(g); err != nil {
			return &signatures.Flaw{Field: "gates", Err: err}
		}
		r.pass("%s passed the text", g)
	}
	if want.MaxAge > 0 {
		if age := want.Now.Sub(made); age > want.MaxAge {
			return newFlaw("predicate.timeVerified", "is %s ago, more than %s", age.Round(time.Second), want.MaxAge)
		}
		r.pass("it is not older than %s", want.MaxAge)
	}
	return nil
}

// skew is the maximum difference between the clocks of two machines.
const skew = 5 * time.Minute

// passedBy returns nil if the gate passed the text. Every gate of that name that can
// reject the text must have passed it. The demanded gate must be one of these gates.
func (c *Claim) passedBy(want signatures.GateDemand) error {
	other, there := "", false
	for _, g := range c.Gates {
		switch {
		case g.Name != want.Name || !g.canReject():
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

// canReject reports whether the gate can reject the text. An advisory gate
// rejects nothing, and a pre-ward sees only the input of the text.
func (g *Gate) canReject() bool { return g.Mode != advisory && g.Moment != string(wards.Pre) }

// parseStatement parses a statement. It rejects every spelling except the
// canonical one.
func parseStatement(payload []byte) (*Claim, time.Time, error) {
	unreadable := func(field, format string, args ...any) (*Claim, time.Time, error) {
		return nil, time.Time{}, &signatures.Flaw{Field: field, Err: fmt.Errorf(format, args...), Unreadable: true}
	}
	var s inTotoStatement
	d := json.NewDecoder(bytes.NewReader(payload))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return unreadable("payload", "is no in-toto statement")
	}
	if s.Type != statementType {
		return unreadable("_type", "is no in-toto statement v1")
	}
	if s.PredicateType != SummaryType {
		return unreadable("predicateType", "is %q, not %q", s.PredicateType, SummaryType)
	}
	raw, ok := s.Predicate[ClaimType]
	if !ok {
		for name := range s.Predicate {
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
	at, _ := s.Predicate["timeVerified"].(string)
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
