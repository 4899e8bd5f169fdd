package schedule

import (
	"context"
	"fmt"
	"time"
)

// demoWeek is the first day of the week after the demo data.
const demoWeek = "2026-01-05"

// demoCreators are the creators of the demo data.
var demoCreators = []struct{ id, page, kind, zone, tone string }{
	{"ada", "ada_kitchen", paidPage, "America/New_York", "warm and precise"},
	{"ben", "ben_outdoors", freePage, "Europe/Berlin", "dry and cheerful"},
	{"cleo", "cleo_studio", paidPage, "Asia/Tokyo", "calm and curious"},
}

var demoTypes = []string{
	"cooking", "travel", "fitness", "music", "gardening", "painting", "photography", "reading", "cycling", "baking", "pottery", "hiking",
}

// demoTiers are the tiers of the demo types, best first; "" means unranked. The
// last two are AVOID.
var demoTiers = []string{"TOP", "TOP", "TOP", "MID", "MID", "MID", "MID", "LOW", "LOW", "", "AVOID", "AVOID"}

const (
	demoCaptions = 400
	demoDays     = 60
)

// seedDemo adds demo data to a database: three creators with vaults and
// rankings, 400 captions, and 60 days of messages before [demoWeek]. The data
// is always the same, and existing data is not added again.
func seedDemo(ctx context.Context, db *DB) error {
	week, err := time.Parse(time.DateOnly, demoWeek)
	if err != nil {
		return err
	}
	return db.writing(ctx, func(t tx) error {
		if err := t.lockTables(); err != nil {
			return err
		}
		there, err := t.any("creators", demoCreators[0].id)
		if err != nil || there {
			return err
		}
		d := &demo{tx: t, week: week}
		d.types()
		d.captions()
		for i := range demoCreators {
			d.creator(i)
			d.rankings(i)
			d.messages(i)
		}
		if d.err != nil {
			return fmt.Errorf("demo data: %w", d.err)
		}
		return nil
	})
}

// A demo inserts rows until the first error.
type demo struct {
	tx
	week time.Time
	err  error
}

func (d *demo) add(statement string, args ...any) {
	if d.err == nil {
		d.err = d.exec(statement, args...)
	}
}

func (d *demo) date(daysBefore int) string {
	return d.week.AddDate(0, 0, -daysBefore).Format(time.DateOnly)
}

func (d *demo) types() {
	for i, name := range demoTypes {
		d.add("INSERT INTO content_types (content_type_id, type_name) VALUES ($1, $2)", i+1, name)
	}
}

var demoPhrases = []string{"A quiet morning with", "Something new about", "Three things I learnt about", "Behind the scenes of", "My favourite moment of"}

func (d *demo) captions() {
	kinds := everySendType()
	for i := range demoCaptions {
		kind, content := kinds[i%len(kinds)], (i/len(kinds)+i)%len(demoTypes)
		active := 1
		if i%50 == 49 {
			active = 0
		}
		text := fmt.Sprintf("%s %s, part %d", demoPhrases[i%len(demoPhrases)], demoTypes[content], i+1)
		d.add("INSERT INTO caption_bank (caption_id, caption_text, caption_type, content_type_id, is_active, performance_tier) VALUES ($1, $2, $3, $4, $5, $6)",
			i+1, text, kind.Key, content+1, active, []string{"TOP", "MID", "LOW"}[i%3])
	}
}

// creator adds creator i with its persona, vault and uses of captions. The
// formulas only spread the numbers, so that creators differ.
func (d *demo) creator(i int) {
	c := demoCreators[i]
	d.add("INSERT INTO creators (creator_id, page_name, page_type, is_active, timezone) VALUES ($1, $2, $3, 1, $4)", c.id, c.page, c.kind, c.zone)
	d.add("INSERT INTO creator_personas (creator_id, persona_name, tone) VALUES ($1, $2, $3)", c.id, c.page, c.tone)
	for n := range demoTypes {
		has := 1
		if (n+i)%6 == 4 {
			has = 0
		}
		d.add("INSERT INTO vault_matrix (creator_id, content_type_id, has_content, quantity_available) VALUES ($1, $2, $3, $4)", c.id, n+1, has, has*(10+3*n))
	}
	for n := range demoCaptions {
		if (n+i)%3 == 0 {
			continue // never used
		}
		d.add("INSERT INTO caption_creator_performance (caption_id, creator_id, last_used_date, performance_score) VALUES ($1, $2, $3, $4)",
			n+1, c.id, d.date(31+(n*7+i)%90), float64(45+(n*13+i*5)%50))
	}
}

// rankings adds rankings of two dates. Only the later one counts, and it
// differs.
func (d *demo) rankings(i int) {
	for age, turn := range []int{0, 5} {
		for rank, tier := range demoTiers {
			if tier == "" {
				continue
			}
			name := demoTypes[(rank+i+turn)%len(demoTypes)]
			d.add("INSERT INTO top_content_types (creator_id, analysis_date, content_type, rank, performance_tier, total_earnings) VALUES ($1, $2, $3, $4, $5, $6)",
				demoCreators[i].id, d.date(3+28*age), name, rank+1, tier, float64(48000-3700*rank))
		}
	}
}

// messages adds two messages per day, with PPV in the evening; hours 13 and 20
// earn most.
func (d *demo) messages(i int) {
	for day := range demoDays {
		at := d.week.AddDate(0, 0, day-demoDays)
		for n, hour := range []int{13, 20} {
			kind, price := "bump_normal", 0.0
			if n == 1 {
				kind, price = "ppv_unlock", float64(16+2*((day+i)%5))
			}
			sent := at.Add(time.Duration(hour)*time.Hour + time.Duration((day*17)%60)*time.Minute)
			d.add("INSERT INTO mass_messages (creator_id, message_type, price, sent_at, earnings, content_type_id) VALUES ($1, $2, $3, $4, $5, $6)",
				demoCreators[i].id, kind, price, sent.Format(time.RFC3339), float64(40+60*n+day%7), (day+n)%len(demoTypes)+1)
		}
	}
}
