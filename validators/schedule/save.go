package schedule

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/schedule/internal/statements"
)

// A Refusal is the error for a schedule that was not saved because of its
// content or its certificate.
type Refusal struct {
	Status   string
	ReturnTo string
	Issues   []validators.Issue
}

// Error returns the first issues with their codes.
func (r *Refusal) Error() string { return "schedule not saved: " + inWords(r.Issues) }

// A Saved is the result of save_schedule.
type Saved struct {
	Saved     bool               `json:"saved"`
	Creator   string             `json:"creator_id"`
	Week      string             `json:"week_start"`
	Items     int                `json:"items_saved"`
	Revision  int                `json:"revision"` // number of saves of this week
	Hash      string             `json:"schedule_hash"`
	Phase     int                `json:"gatekeeper_phase"`
	Status    string             `json:"status"` // APPROVED, NEEDS_REVIEW, or WARNING with findings in phase 1
	Warnings  []validators.Issue `json:"warnings"`
	SavedTime string             `json:"saved_at"`
}

// Save is save_schedule for Go. It saves a schedule, a plain value with its
// certificate, in the database of the options. The database's verification key
// decides. If the schedule is rejected, the error is a *[Refusal].
func Save(ctx context.Context, o Options, schedule map[string]any) (Saved, error) {
	d := o.resolve()
	if o.Databases == nil {
		defer d.Databases.Close()
	}
	g, err := d.gatekeeper(nil)
	if err != nil {
		return Saved{}, err
	}
	db, err := d.database("")
	if err != nil {
		return Saved{}, err
	}
	return db.save(ctx, unwrapSchedule(schedule), g)
}

// save replaces its creator's week by a schedule in one transaction. Saves of
// one week are serialized. A fault of the schedule, or in phase 2 of its
// certificate, is a *[Refusal].
func (db *DB) save(ctx context.Context, m map[string]any, g gatekeeper) (Saved, error) {
	r := newReport(g.policy)
	plan := r.read(m, needSendTypes|needTimes|needWeek)
	r.weekGate(plan)
	if len(plan.items) == 0 && !r.rejected() {
		r.add(inputRule, finding{at: "items", message: "there are none"})
	}
	if r.rejected() {
		return Saved{}, &Refusal{statusRejected, r.returnTo(), r.issues}
	}
	var saved Saved
	err := db.writing(ctx, func(t tx) (err error) {
		saved, err = t.save(plan, g)
		return err
	})
	return saved, err
}

func (t tx) save(p *plan, g gatekeeper) (Saved, error) {
	own, err := t.settings()
	if err != nil {
		return Saved{}, err
	}
	if g.keys, err = own.keys(g.keys); err != nil {
		return Saved{}, err
	}
	b, err := t.creatorRecord(p, g.now, g.policy)
	if err != nil {
		return Saved{}, err
	}
	b.database = own.ID
	g.phase = max(g.phase, own.Phase) // a caller may only raise the phase
	r, signed := g.report(), false
	if r.checkCreator(p, b.facts) {
		signed = g.check(r, p, b)
	}
	s := Saved{
		Saved: true, Creator: b.facts.id, Week: dateText(p.week), Items: len(p.items), Hash: itemsHash(p.items), Phase: g.phase,
		SavedTime: g.now.UTC().Format(time.RFC3339),
	}
	var certificate any // as text
	if c, ok := p.certificate.(map[string]any); ok && !r.rejected() {
		if err := t.lock(s); err != nil {
			return Saved{}, err
		}
		if signed {
			if err := t.recordUse(r, g, s, c); err != nil {
				return Saved{}, err
			}
		}
		certificate = string(statements.Append(nil, c))
	}
	if r.rejected() {
		return Saved{}, &Refusal{statusRejected, r.returnTo(), r.issues}
	}
	s.Status, s.Warnings = savedStatus(p.certificate, r), append([]validators.Issue{}, r.warnings...)
	if err := t.saveWeek(&s, p, certificate); err != nil {
		return Saved{}, err
	}
	return s, t.saveItems(s, p.items)
}

// savedStatus returns the status with which a week is saved.
func savedStatus(certificate any, r *report) string {
	c, _ := certificate.(map[string]any)
	if status, ok := c["validation_status"].(string); ok && len(r.warnings) == 0 {
		return status
	}
	return statusWarning
}

const (
	upsertWeek = `INSERT INTO schedule_templates (creator_id, week_start, revision, items, status, quality_score, schedule_hash, certificate, saved_at)
		VALUES ($1, $2, 1, $3, $4, $5, $6, $7, $8)
		ON CONFLICT (creator_id, week_start) DO UPDATE SET revision = schedule_templates.revision + 1, items = excluded.items, status = excluded.status,
			quality_score = excluded.quality_score, schedule_hash = excluded.schedule_hash, certificate = excluded.certificate, saved_at = excluded.saved_at
		RETURNING revision`
	deleteItems = "DELETE FROM schedule_items WHERE creator_id = $1 AND week_start = $2"
)

// saveWeek updates the week's row, which locks out other saves of the week, and
// deletes the old items.
func (t tx) saveWeek(s *Saved, p *plan, certificate any) error {
	var score any
	if c, ok := p.certificate.(map[string]any); ok {
		if f, ok := number(c["quality_score"]); ok {
			score = f
		}
	}
	_, err := t.one(upsertWeek, []any{s.Creator, s.Week, s.Items, s.Status, score, s.Hash, certificate, s.SavedTime}, &s.Revision)
	if err != nil {
		return fmt.Errorf("week %s of %s: %w", s.Week, s.Creator, err)
	}
	if err := t.exec(deleteItems, s.Creator, s.Week); err != nil {
		return fmt.Errorf("week %s of %s: %w", s.Week, s.Creator, err)
	}
	return nil
}

// batch is the number of items in one insert statement.
const batch = 64

func (t tx) saveItems(s Saved, items []item) error {
	for start := 0; start < len(items); start += batch {
		part := items[start:min(start+batch, len(items))]
		args := make([]any, 0, itemColumns*len(part))
		for i := range part {
			it := &part[i]
			args = append(args, s.Creator, s.Week, start+i, it.date, it.time, it.kind.Key, optional(it.content), optionalNumber(it.price),
				captionKey(it.caption), string(it.appendCanonical(nil)))
		}
		if err := t.exec(insertItems(len(part), t.db.postgres), args...); err != nil {
			return fmt.Errorf("items[%d] to items[%d]: %w", start, start+len(part)-1, err)
		}
	}
	return nil
}

func optional(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func optionalNumber(f float64) any {
	if math.IsNaN(f) {
		return nil
	}
	return f
}

const itemColumns = 10

// insertItems returns the statement for n items. For SQLite it uses unnumbered placeholders,
// because SQLite searches numbered placeholders in a slow list.
func insertItems(n int, postgres bool) string {
	var b strings.Builder
	b.WriteString(`INSERT INTO schedule_items (creator_id, week_start, position, scheduled_date, scheduled_time, send_type_key, content_type, price, caption_id, item) VALUES `)
	for i := range n * itemColumns {
		switch {
		case i == 0:
			b.WriteByte('(')
		case i%itemColumns == 0:
			b.WriteString("), (")
		default:
			b.WriteString(", ")
		}
		b.WriteByte('?')
		if postgres {
			b.WriteString(strconv.Itoa(i + 1))
		}
	}
	text := b.String() + ")"
	if postgres {
		text = strings.ReplaceAll(text, "?", "$")
	}
	return text
}
