package schedule

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
)

const (
	useCertificate = `INSERT INTO schedule_certificates (creator_id, week_start, hash, used_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (creator_id, week_start, hash) DO NOTHING RETURNING hash`
	forgetCertificates = "DELETE FROM schedule_certificates WHERE creator_id = $1 AND week_start = $2 AND used_at < $3"
	selectHash         = "SELECT schedule_hash FROM schedule_templates WHERE creator_id = $1 AND week_start = $2"
)

// use notes that a week is saved with a certificate, given as its canonical
// text. One that it was saved with before is stale where other items were saved
// since: it would bring an old week back. Where the items are the same it is
// good again, so that a save whose answer was lost can be repeated.
func (t tx) use(r *report, g gatekeeper, s Saved, certificate string) error {
	wrong := func(err error) error {
		return fmt.Errorf("certificate of week %s of %s: %w", s.Week, s.Creator, err)
	}
	sum := sha256.Sum256([]byte(certificate))
	var hash, items string
	isNew, err := t.one(useCertificate, []any{s.Creator, s.Week, hex.EncodeToString(sum[:]), s.SavedTime}, &hash)
	if err != nil {
		return wrong(err)
	}
	if isNew {
		// What was used this long ago is refused for its age.
		age := 2 * time.Duration(g.policy.Limits.MaxAge+g.policy.Limits.MaxAhead) * time.Second
		if err := t.exec(forgetCertificates, s.Creator, s.Week, g.now.Add(-age).UTC().Format(time.RFC3339)); err != nil {
			return wrong(err)
		}
		return nil
	}
	query := selectHash
	if t.db.postgres {
		query += " FOR UPDATE" // a save that replaces it may be under way
	}
	if _, err := t.one(query, []any{s.Creator, s.Week}, &items); err != nil {
		return wrong(err)
	}
	if items != s.Hash {
		r.add(certificateStale, finding{at: "validation_certificate", message: "was used before, and other items were saved since"})
	}
	return nil
}
