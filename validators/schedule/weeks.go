package schedule

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
)

// A Week is a saved week, a row of schedule_templates.
type Week struct {
	Creator  string   `json:"creator_id"`
	Start    string   `json:"week_start"`
	Revision int      `json:"revision"` // number of saves
	Items    int      `json:"items"`
	Status   string   `json:"status"` // APPROVED, NEEDS_REVIEW, or WARNING with findings in phase 1
	Score    *float64 `json:"quality_score"`
	Hash     string   `json:"schedule_hash"`
	Saved    string   `json:"saved_at"` // in UTC
}

// A Row is an item of a saved week, a row of schedule_items.
type Row struct {
	Position    int             `json:"position"` // from 0, in the order of the schedule
	Date        string          `json:"scheduled_date"`
	Time        string          `json:"scheduled_time"`
	SendType    string          `json:"send_type_key"`
	ContentType *string         `json:"content_type"`
	Price       *float64        `json:"price"`
	Caption     any             `json:"caption_id"`
	Item        json.RawMessage `json:"item"` // the whole certified item
}

// Weeks returns the saved weeks, sorted by creator and start. A creator (id or
// page name) or a start selects weeks; "" selects all.
func (db *DB) Weeks(ctx context.Context, creator, start string) (list []Week, err error) {
	err = db.reading(ctx, func(t tx) error {
		if creator != "" {
			f, err := t.creator(creator)
			if err != nil {
				return err
			}
			if !f.known() {
				return fmt.Errorf("no creator is called %q", clip(creator))
			}
			creator = f.id
		}
		list, err = t.weeks(creator, start)
		return err
	})
	return list, err
}

func (t tx) weeks(creator, start string) ([]Week, error) {
	list := []Week{}
	err := t.each("weeks", `SELECT creator_id, week_start, revision, items, status, quality_score, schedule_hash, saved_at FROM schedule_templates
		WHERE (creator_id = $1 OR $1 = '') AND (week_start = $2 OR $2 = '') ORDER BY creator_id, week_start`,
		[]any{creator, start}, func(scan func(...any) error) error {
			var w Week
			err := scan(&w.Creator, &w.Start, &w.Revision, &w.Items, &w.Status, &w.Score, &w.Hash, &w.Saved)
			list = append(list, w)
			return err
		})
	return list, err
}

// Rows returns the items of a saved week in order. The creator must be an id.
func (db *DB) Rows(ctx context.Context, creator, start string) ([]Row, error) {
	list := []Row{}
	err := db.reading(ctx, func(t tx) error {
		return t.rows(`SELECT position, scheduled_date, scheduled_time, send_type_key, content_type, price, caption_id, item FROM schedule_items
			WHERE creator_id = $1 AND week_start = $2 ORDER BY position`, []any{creator, start}, func(scan func(...any) error) error {
			var r Row
			var item sql.NullString
			err := scan(&r.Position, &r.Date, &r.Time, &r.SendType, &r.ContentType, &r.Price, &r.Caption, &item)
			if text, ok := r.Caption.([]byte); ok {
				r.Caption = string(text)
			}
			r.Item = json.RawMessage(item.String)
			list = append(list, r)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("week %s of %s: %w", start, creator, err)
	}
	return list, nil
}
