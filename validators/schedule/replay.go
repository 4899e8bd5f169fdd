package schedule

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/seed61713e19/capstan/validators/schedule/internal/statements"
)

const (
	useCertificate = `INSERT INTO schedule_certificates (creator_id, week_start, hash, used_at, issued_at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (creator_id, week_start, hash) DO NOTHING RETURNING hash`
	forgetCertificates = "DELETE FROM schedule_certificates WHERE creator_id = $1 AND week_start = $2 AND used_at < $3"
	selectHash         = "SELECT schedule_hash FROM schedule_templates WHERE creator_id = $1 AND week_start = $2"
	selectIssued       = "SELECT COALESCE(MAX(issued_at), '') FROM schedule_certificates WHERE creator_id = $1 AND week_start = $2"
	lockWeek           = "SELECT pg_advisory_xact_lock(hashtextextended($1, 1903141))"

	instantForm = "2006-01-02T15:04:05.000000000Z" // of fixed length, so that texts compare as times
)

// lock serializes saves of one week from here on. SQLite has only one writer.
func (t tx) lock(s Saved) error {
	if !t.db.postgres {
		return nil
	}
	if err := t.exec(lockWeek, s.Creator+"\n"+s.Week); err != nil {
		return fmt.Errorf("week %s of %s: %w", s.Week, s.Creator, err)
	}
	return nil
}

// recordUse records that a week is saved with a certificate, which is
// identified by its signed content. The certificate is stale if it would
// restore an old week: if other items were saved since its use, or with a
// certificate issued later. For the same items it stays valid, so that a save
// with a lost response can be repeated. Only certificates with a valid
// signature are recorded, so an unsigned one makes nothing stale.
func (t tx) recordUse(r *report, g gatekeeper, s Saved, c map[string]any) error {
	wrong := func(err error) error {
		return fmt.Errorf("certificate of week %s of %s: %w", s.Week, s.Creator, err)
	}
	signed, err := statements.Payload(c)
	if err != nil {
		return wrong(err)
	}
	text, _ := c["validation_timestamp"].(string)
	at, _ := parsed(text, stampLayouts)
	issued := at.UTC().Format(instantForm)
	var hash, items, latest string
	if _, err := t.one(selectHash, []any{s.Creator, s.Week}, &items); err != nil {
		return wrong(err)
	}
	if _, err := t.one(selectIssued, []any{s.Creator, s.Week}, &latest); err != nil {
		return wrong(err)
	}
	sum := sha256.Sum256(signed)
	isNew, err := t.one(useCertificate, []any{s.Creator, s.Week, hex.EncodeToString(sum[:]), s.SavedTime, issued}, &hash)
	if err != nil {
		return wrong(err)
	}
	switch {
	case items == s.Hash || items == "":
	case !isNew:
		r.add(certificateStale, finding{at: "validation_certificate", message: "was used before, and other items were saved since"})
	case issued < latest:
		r.add(certificateStale, finding{at: "validation_certificate", message: "other items were saved with a certificate that was issued later"})
	}
	if !isNew {
		return nil
	}
	// Certificates used before this are rejected by their age.
	age := 2 * time.Duration(g.policy.Limits.MaxAge+g.policy.Limits.MaxAhead) * time.Second
	if err := t.exec(forgetCertificates, s.Creator, s.Week, g.now.Add(-age).UTC().Format(time.RFC3339)); err != nil {
		return wrong(err)
	}
	return nil
}
