package schedule

import (
	"crypto/ed25519"
	"fmt"
	"time"

	"github.com/seed61713e19/capstan/validators"
)

// A gatekeeper is layer 4: it checks a certificate against the items and the
// database before anything is saved.
type gatekeeper struct {
	policy *Policy
	key    ed25519.PublicKey // nil: no signature can be verified
	phase  int               // 1: findings are warnings, 2: any finding refuses
	now    time.Time
}

// certificateReport collects in a policy where, in phase 1, what is wrong with
// a certificate is only a warning.
func (g gatekeeper) report() *report {
	if g.phase != 1 {
		return newReport(g.policy)
	}
	soft := *g.policy
	soft.Rules = make(map[string]Rule, len(g.policy.Rules))
	for name, rule := range g.policy.Rules {
		if rule.Phase == "save" {
			rule.Status = Warning
		}
		soft.Rules[name] = rule
	}
	return newReport(&soft)
}

// check judges the certificate of a plan.
func (g gatekeeper) check(r *report, p *plan, f facts) {
	c, ok := p.certificate.(map[string]any)
	if !ok {
		message := "there is no validation_certificate"
		if p.certificate != nil {
			message = "validation_certificate must be an object, not " + show(p.certificate)
		}
		r.add(certificateMissing, finding{at: "validation_certificate", message: message})
		return
	}
	g.age(r, c["validation_timestamp"])
	checkStatus(r, c)
	if id, ok := c["creator_id"].(string); !ok || id == "" || id != f.id && id != p.creator {
		r.certificate(certificateCreator, "creator_id", "is not the schedule's creator", f.id, c["creator_id"])
	}
	if n, ok := number(c["items_validated"]); !ok || n != float64(len(p.items)) {
		r.certificate(certificateCount, "items_validated", "is not the number of items", fmt.Sprint(len(p.items)), c["items_validated"])
	}
	hashes := []struct{ field, want string }{
		{"schedule_hash", itemsHash(p.items)}, {"avoid_types_hash", namesHash(f.avoid())}, {"vault_types_hash", namesHash(f.vaultTypes())},
	}
	for _, h := range hashes {
		if c[h.field] != h.want {
			r.certificate(certificateHash, h.field, "is not the hash of what is there now", h.want, c[h.field])
		}
	}
	g.signature(r, c)
}

func (r *report) certificate(rule, field, message, want string, got any) {
	r.add(rule, finding{at: "validation_certificate." + field, message: field + " " + message, expected: want, got: show(got)})
}

// age refuses what is too old, from too far ahead, or without a time that can
// be read. A time without an offset could be of any zone, and is not read.
func (g gatekeeper) age(r *report, v any) {
	const field = "validation_timestamp"
	text, _ := v.(string)
	at, ok := stamp(text)
	if !ok {
		r.certificate(certificateTime, field, "is missing or cannot be read", "a time like 2025-12-19T10:30:45Z", v)
		return
	}
	l := g.policy.Limits
	switch age := g.now.Sub(at); {
	case age >= time.Duration(l.MaxAge)*time.Second:
		r.certificate(certificateStale, field, fmt.Sprintf("is %v old", age.Truncate(time.Second)), fmt.Sprintf("less than %d seconds", l.MaxAge), v)
	case age < -time.Duration(l.MaxAhead)*time.Second:
		r.certificate(certificateTime, field, fmt.Sprintf("is %v ahead", -age.Truncate(time.Second)), fmt.Sprintf("at most %d seconds", l.MaxAhead), v)
	}
}

var stampLayouts = []string{time.RFC3339, "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04:05Z0700"}

func stamp(text string) (time.Time, bool) {
	for _, layout := range stampLayouts {
		if at, err := time.Parse(layout, text); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}

func checkStatus(r *report, c map[string]any) {
	if s := c["validation_status"]; s != Approved && s != NeedsReview {
		r.certificate(certificateStatus, "validation_status", "lets nothing be saved", Approved+" or "+NeedsReview, s)
	}
	found, _ := c["violations_found"].(map[string]any)
	for _, v := range []struct{ rule, field string }{
		{certificateVault, "vault"}, {certificateAvoid, "avoid_tier"}, {certificateStatus, "critical"},
	} {
		if n, ok := number(found[v.field]); !ok || n != 0 {
			r.certificate(v.rule, "violations_found."+v.field, "must be 0", "0", found[v.field])
		}
	}
}

func (g gatekeeper) signature(r *report, c map[string]any) {
	const field = "certificate_signature"
	text, _ := c[field].(string)
	switch {
	case g.key == nil:
		r.certificate(certificateSignature, field, "cannot be verified: no verification key is configured", "", nil)
	case !verified(g.key, signedBytes(c), text):
		r.certificate(certificateSignature, field, "is not the operator's on this certificate", "", c[field])
	}
}

// verdict is the schedule_certificate gate.
func (g gatekeeper) verdict(m map[string]any, f facts) validators.Verdict {
	r := g.report()
	plan := r.read(m, 0)
	if !f.known() {
		r.add(creatorRefused, finding{at: "creator_id", message: "no creator is called " + show(plan.creator)})
	}
	g.check(r, plan, f)
	status := Approved
	switch {
	case r.refused():
		status = Rejected
	case len(r.warnings) > 0:
		status = Warning
	}
	return r.verdict(status, "the certificate is good", map[string]any{
		"certificate_status": status, "gatekeeper_phase": g.phase, "findings": coded(append(r.issues[:len(r.issues):len(r.issues)], r.warnings...)),
	})
}
