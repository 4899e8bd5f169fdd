package schedule

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/internal/signatures"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/schedule/internal/statements"
)

// A gatekeeper is layer 4. It checks a certificate against the items and the
// database before anything is saved.
type gatekeeper struct {
	policy *gatePolicy
	keys   signatures.Keys // none: no signature can be verified
	phase  int             // 1: findings are warnings, 2: any finding rejects
	now    time.Time
}

// report returns a report whose policy turns findings about certificates into
// warnings in phase 1.
func (g gatekeeper) report() *report {
	if g.phase != 1 {
		return newReport(g.policy)
	}
	soft := *g.policy
	soft.Rules = make(map[string]policyRule, len(g.policy.Rules))
	for name, rule := range g.policy.Rules {
		if rule.Phase == "save" {
			rule.Status = statusWarning
		}
		soft.Rules[name] = rule
	}
	return newReport(&soft)
}

// check checks the certificate of a plan, and repeats the computable checks of
// the items on the current database. It reports whether the signature is valid.
func (g gatekeeper) check(r *report, p *plan, b creatorRecord) (signed bool) {
	if !b.facts.active {
		r.add(certificateInactive, finding{at: "creators", message: "the creator is inactive now"})
	}
	r.captionNumbers(p, b)
	c, ok := p.certificate.(map[string]any)
	signed = g.read(r, c, ok, p, b)
	p.expected = expectedBy(c)
	g.recheck(r, p, b)
	return signed
}

// read checks the content of a certificate.
func (g gatekeeper) read(r *report, c map[string]any, ok bool, p *plan, b creatorRecord) (signed bool) {
	switch message := "there is no validation_certificate"; {
	case !ok && p.certificate != nil:
		message = "validation_certificate must be an object, not " + show(p.certificate)
		fallthrough
	case !ok:
		r.add(certificateMissing, finding{at: "validation_certificate", message: message})
	case r.format(c):
		g.age(r, c["validation_timestamp"])
		checkStatus(r, c)
		g.checkEvidence(r, c)
		g.compare(r, c, p, b)
		err := statements.Verify(statements.Certificate, g.keys, c)
		if signed = err == nil; !signed {
			r.certificate(certificateSignature, statements.SignatureField, err.Error(), "", c[statements.SignatureField])
		}
	}
	return signed
}

// recheck runs the computed gates on the items again. It finds changes since the certification
// and errors of the certificate. Its warnings are omitted, because only planners need them.
func (g gatekeeper) recheck(r *report, p *plan, b creatorRecord) {
	now := newReport(g.policy)
	now.vaultGate(p, b.facts)
	now.pageGate(p, b.facts)
	if g.policy.hasGate(varietyGate) {
		now.variety(p)
	}
	if g.policy.hasGate(anomalyGate) {
		now.anomaly(p, b)
	}
	r.takeRejections(now, g.phase == 1)
}

// format reports whether a certificate has the known format.
func (r *report) format(c map[string]any) bool {
	const now = "; have the schedule certified again"
	switch version := c[statements.VersionField]; {
	case version == "1.0":
		r.certificate(certificateFormat, statements.VersionField, "is 1.0: that format binds neither week nor page type, policy, database nor what the gates said"+now, statements.Version, version)
	case version != statements.Version:
		r.certificate(certificateFormat, statements.VersionField, "is not a format that is known here"+now, statements.Version, version)
	default:
		var unknown []string
		for _, field := range slices.Sorted(maps.Keys(c)) {
			if !certificateFields[field] {
				unknown = append(unknown, strconv.Quote(clip(field)))
			}
		}
		if len(unknown) == 0 {
			return true
		}
		r.add(certificateFormat, finding{at: "validation_certificate", message: "has fields that nobody here knows the meaning of: " + clip(strings.Join(unknown, ", "))})
	}
	return false
}

// compare compares the certificate with the schedule, the database and the
// policy.
func (g gatekeeper) compare(r *report, c map[string]any, p *plan, b creatorRecord) {
	f := b.facts
	for _, row := range []struct {
		rule, field, message string
		want                 any
	}{
		{certificateCreator, "creator_id", "is not the schedule's creator", f.id},
		{certificateWeek, "week_start", "is not the week of the schedule", weekText(p.week)},
		{certificatePage, "page_type", "is not the page's type now", f.pageType},
		{certificateInactive, "is_active", "was not so when the schedule was certified", true},
		{certificateDatabase, "database_id", "is not this database", b.database},
		{certificatePolicy, "policy_digest", "is not the policy by which it is saved", g.policy.digest},
		{certificateHash, "schedule_hash", "is not that of these items: others were certified", itemsHash(p.items)},
		{certificateHash, "avoid_types_hash", "is not that of the AVOID types in the database now", namesHash(f.avoid())},
		{certificateHash, "vault_types_hash", "is not that of the vault in the database now", namesHash(f.vaultTypes())},
	} {
		if got := c[row.field]; got != row.want || got == "" {
			r.certificate(row.rule, row.field, row.message, show(row.want), got)
		}
	}
	if n, ok := number(c["items_validated"]); !ok || n != float64(len(p.items)) {
		r.certificate(certificateCount, "items_validated", "is not the number of items", fmt.Sprint(len(p.items)), c["items_validated"])
	}
}

func (r *report) certificate(rule, field, message, want string, got any) {
	r.add(rule, finding{at: "validation_certificate." + field, message: field + " " + message, expected: want, got: show(got)})
}

// age rejects a certificate that is too old, too far in the future, or without
// a readable time. A time without an offset could be in any zone, so it is not
// readable.
func (g gatekeeper) age(r *report, v any) {
	const field = "validation_timestamp"
	text, _ := v.(string)
	at, ok := parsed(text, stampLayouts)
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

func checkStatus(r *report, c map[string]any) {
	if s := c["validation_status"]; s != statusApproved && s != statusNeedsReview {
		r.certificate(certificateStatus, "validation_status", "lets nothing be saved", statusApproved+" or "+statusNeedsReview, s)
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

// verdict is the gate schedule_certificate.
func (g gatekeeper) verdict(r *report, plan *plan, b creatorRecord) validators.Verdict {
	if r.checkCreator(plan, b.facts) {
		g.check(r, plan, b)
	}
	status := statusApproved
	switch {
	case r.rejected():
		status = statusRejected
	case len(r.warnings) > 0:
		status = statusWarning
	}
	return r.verdict(status, "the certificate is good", map[string]any{
		"certificate_status": status, "gatekeeper_phase": g.phase, "findings": coded(append(r.issues[:len(r.issues):len(r.issues)], r.warnings...)),
	})
}
