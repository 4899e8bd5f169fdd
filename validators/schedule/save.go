package schedule

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/schedule/statements"
)

// A Refusal is the error of a schedule that was not saved because of what it
// holds or of its certificate.
type Refusal struct {
	Status   string
	ReturnTo string
	Issues   []validators.Issue
}

// Error lists the first of the issues with their codes.
func (r *Refusal) Error() string { return "schedule not saved: " + inWords(r.Issues) }

// A Saved schedule is what save_schedule answers.
type Saved struct {
	Saved     bool               `json:"saved"`
	Creator   string             `json:"creator_id"`
	Week      string             `json:"week_start"`
	Items     int                `json:"items_saved"`
	Revision  int                `json:"revision"` // counts the saves of this week
	Hash      string             `json:"schedule_hash"`
	Phase     int                `json:"gatekeeper_phase"`
	Status    string             `json:"status"` // APPROVED, NEEDS_REVIEW, or WARNING with findings in phase 1
	Warnings  []validators.Issue `json:"warnings"`
	SavedTime string             `json:"saved_at"`
}

// Save is save_schedule for Go: a schedule as a plain value, with its
// certificate, is saved in the database of the options, whose verification key
// decides. A schedule that may not be saved is a *[Refusal].
func Save(ctx context.Context, o Options, schedule map[string]any) (Saved, error) {
	d := o.desk()
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
	return db.save(ctx, opened(schedule), g)
}

// save puts a schedule in the place of its creator's week in one transaction:
// all items or none. Saves of one week come one after another. What is wrong
// with the schedule, or in phase 2 with its certificate, is a *[Refusal].
func (db *DB) save(ctx context.Context, m map[string]any, g gatekeeper) (Saved, error) {
	r := newReport(g.policy)
	plan := r.read(m, needSendTypes|needTimes|needWeek)
	r.weekGate(plan)
	if len(plan.items) == 0 && !r.refused() {
		r.add(inputRule, finding{at: "items", message: "there are none"})
	}
	if r.refused() {
		return Saved{}, &Refusal{Rejected, r.returnTo(), r.issues}
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
	b, err := t.background(p, g.now, g.policy)
	if err != nil {
		return Saved{}, err
	}
	b.database = own.ID
	g.phase = max(g.phase, own.Phase) // a caller can ask for more, not for less
	r, signed := g.report(), false
	if r.knows(p, b.facts) {
		signed = g.check(r, p, b)
	}
	s := Saved{
		Saved: true, Creator: b.facts.id, Week: dateText(p.week), Items: len(p.items), Hash: itemsHash(p.items), Phase: g.phase,
		SavedTime: g.now.UTC().Format(time.RFC3339),
	}
	var certificate any // the text of it
	if c, ok := p.certificate.(map[string]any); ok && !r.refused() {
		if err := t.lock(s); err != nil {
			return Saved{}, err
		}
		if signed {
			if err := t.use(r, g, s, c); err != nil {
				return Saved{}, err
			}
		}
		certificate = string(statements.Append(nil, c))
	}
	if r.refused() {
		return Saved{}, &Refusal{Rejected, r.returnTo(), r.issues}
	}
	s.Status, s.Warnings = certified(p.certificate, r), append([]validators.Issue{}, r.warnings...)
	if err := t.saveWeek(&s, p, certificate); err != nil {
		return Saved{}, err
	}
	return s, t.saveItems(s, p.items)
}

// certified is the status that a week is saved with.
func certified(certificate any, r *report) string {
	c, _ := certificate.(map[string]any)
	if status, ok := c["validation_status"].(string); ok && len(r.warnings) == 0 {
		return status
	}
	return Warning
}

const (
	upsertWeek = `INSERT INTO schedule_templates (creator_id, week_start, revision, items, status, quality_score, schedule_hash, certificate, saved_at)
		VALUES ($1, $2, 1, $3, $4, $5, $6, $7, $8)
		ON CONFLICT (creator_id, week_start) DO UPDATE SET revision = schedule_templates.revision + 1, items = excluded.items, status = excluded.status,
			quality_score = excluded.quality_score, schedule_hash = excluded.schedule_hash, certificate = excluded.certificate, saved_at = excluded.saved_at
		RETURNING revision`
	deleteItems = "DELETE FROM schedule_items WHERE creator_id = $1 AND week_start = $2"
)

// saveWeek takes the week's row, and with it the lock that other saves of the
// same week wait for, and removes the old items.
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

// batch is how many items one statement inserts.
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

// insertItems is the statement for n items. SQLite looks a numbered
// placeholder up in a list, which takes longer than the rest of the insert.
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
