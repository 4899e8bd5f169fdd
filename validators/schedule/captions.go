package schedule

import (
	"cmp"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A caption is a caption that layer 1 allows: active, of a content type in the
// creator's vault that is not AVOID at the latest analysis date.
type caption struct {
	ID              any      `json:"caption_id"`
	Text            string   `json:"caption_text"`
	Type            *string  `json:"caption_type"`
	ContentType     string   `json:"content_type"`
	PerformanceTier *string  `json:"performance_tier"`
	Score           *float64 `json:"performance_score"`
	LastUsed        *string  `json:"last_used_date"`
	DaysUnused      *int     `json:"days_since_last_use"` // null: never used
}

// allowed selects the content types that layer 1 allows: those in the creator's
// vault, without those that are AVOID at the latest analysis date. Unranked
// types pass, and names match exactly. $1 is the creator.
const allowed = `SELECT t.content_type_id, t.type_name
	FROM vault_matrix v JOIN content_types t ON t.content_type_id = v.content_type_id
	WHERE v.creator_id = $1 AND v.has_content = 1 AND NOT EXISTS (SELECT 1 FROM top_content_types r
		WHERE r.creator_id = $1 AND r.content_type = t.type_name AND r.performance_tier = 'AVOID'
		AND r.analysis_date = (SELECT MAX(analysis_date) FROM top_content_types WHERE creator_id = $1))`

const captionColumns = `SELECT c.caption_id, c.caption_text, c.caption_type, a.type_name, c.performance_tier, p.performance_score, p.last_used_date`

// Queries for captions that layer 1 allows; $2 is the limit. Each reads along
// an index and stops at the limit. CROSS JOIN makes SQLite keep the order of
// the tables.
const (
	// best selects captions with a score for the creator, best first. It searches only the
	// creator's $3 best captions.
	best = `WITH a AS (` + allowed + `) ` + captionColumns + `
		FROM (SELECT caption_id, performance_score, last_used_date FROM caption_creator_performance
			WHERE creator_id = $1 AND performance_score IS NOT NULL ORDER BY performance_score DESC, caption_id LIMIT $3) p
		CROSS JOIN caption_bank c CROSS JOIN a
		WHERE c.caption_id = p.caption_id AND c.is_active = 1 AND a.content_type_id = c.content_type_id%s
		ORDER BY p.performance_score DESC, p.caption_id LIMIT $2`
	// ofType selects captions of content type $3 with a score. It sorts numbers
	// from the indexes and reads only the best texts. The term + 0 prevents
	// PostgreSQL from reading all scores in their order.
	ofType = captionColumns + ` FROM content_types a CROSS JOIN (SELECT c.caption_id, p.performance_score, p.last_used_date
			FROM caption_bank c CROSS JOIN caption_creator_performance p
			WHERE c.content_type_id = $3 AND c.is_active = 1 AND p.caption_id = c.caption_id AND p.creator_id = $1
			AND p.performance_score IS NOT NULL%s ORDER BY p.performance_score + 0 DESC, c.caption_id LIMIT $2) p
		CROSS JOIN caption_bank c WHERE a.content_type_id = $3 AND c.caption_id = p.caption_id
		ORDER BY p.performance_score DESC, p.caption_id LIMIT $2`
	// unscored selects captions of content type $3 without a score.
	unscored = captionColumns + ` FROM content_types a CROSS JOIN caption_bank c
		LEFT JOIN caption_creator_performance p ON p.creator_id = $1 AND p.caption_id = c.caption_id
		WHERE a.content_type_id = $3 AND c.content_type_id = $3 AND c.is_active = 1 AND p.performance_score IS NULL%s
		ORDER BY c.caption_id LIMIT $2`
	counted = `SELECT COUNT(*) FROM (SELECT 1 FROM caption_bank WHERE content_type_id = $1 AND is_active = 1 LIMIT $2) AS found`
)

// sweepSize is the number of a creator's best captions that are searched before
// its content types are.
const sweepSize = 2000

// A captionQuery asks for captions of one creator, of one send type or all.
type captionQuery struct {
	creator string
	kind    *sendType
	limit   int
	now     time.Time
}

// captions returns the best captions for a creator: by its own score, best
// first, then those without a score by id.
func (t tx) captions(q captionQuery) ([]caption, error) {
	types, err := t.allowedTypes(q.creator)
	if err != nil || len(types) == 0 {
		return []caption{}, err
	}
	list, err := t.best(q, types)
	if err != nil || len(list) >= q.limit {
		return list, err
	}
	rest := q
	rest.limit -= len(list)
	more, err := t.eachType(unscored, rest, types)
	slices.SortStableFunc(more, func(a, b caption) int { return compareIDs(a.ID, b.ID) })
	return append(list, more[:min(len(more), rest.limit)]...), err
}

// best returns captions with a score. If the wanted captions are rare among the
// creator's best ones, they are searched by content type, unless fewer scores
// than captions of those types remain.
func (t tx) best(q captionQuery, types []any) ([]caption, error) {
	list, err := t.fetch(best, q, sweepSize, "")
	if err != nil || len(list) >= q.limit {
		return list, err
	}
	scored, err := t.scored(q.creator, sweepSize+1)
	if err != nil || scored <= sweepSize {
		return list, err
	}
	if q.kind == nil {
		const many = 200_000
		captions, err := t.active(types, many)
		if err == nil {
			scored, err = t.scored(q.creator, captions+1)
		}
		if err != nil {
			return nil, err
		}
		if scored <= captions {
			return t.fetch(best, q, math.MaxInt32, "")
		}
	}
	list, err = t.eachType(ofType, q, types)
	slices.SortStableFunc(list, func(a, b caption) int { return cmp.Or(cmp.Compare(*b.Score, *a.Score), compareIDs(a.ID, b.ID)) })
	return list[:min(len(list), q.limit)], err
}

// scored returns the number of the creator's captions with a score. It stops at most.
func (t tx) scored(creator string, most int) (n int, err error) {
	_, err = t.one(`SELECT COUNT(*) FROM (SELECT 1 FROM caption_creator_performance WHERE creator_id = $1 AND performance_score IS NOT NULL LIMIT $2) AS found`,
		[]any{creator, most}, &n)
	return n, err
}

// eachType runs a query for each content type and each name of the send type,
// so that both databases use the index.
func (t tx) eachType(query string, q captionQuery, types []any) ([]caption, error) {
	names := []string{""}
	if q.kind != nil {
		names = q.kind.names()
	}
	var list []caption
	for _, content := range types {
		for _, name := range names {
			found, err := t.fetch(query, q, content, name)
			if err != nil {
				return nil, err
			}
			list = append(list, found...)
		}
	}
	return list, nil
}

// fetch runs a query with its third argument. name is a caption type; "" means
// all those of the send type.
func (t tx) fetch(query string, q captionQuery, third any, name string) ([]caption, error) {
	args := []any{q.creator, q.limit, third}
	filter := ""
	switch {
	case name != "":
		args = append(args, name)
		filter = " AND c.caption_type = $4"
	case q.kind != nil:
		marks := make([]string, 0, 3)
		for _, name := range q.kind.names() {
			args = append(args, name)
			marks = append(marks, "$"+strconv.Itoa(len(args)))
		}
		filter = " AND c.caption_type IN (" + strings.Join(marks, ", ") + ")"
	}
	list := []caption{}
	err := t.each("captions", fmt.Sprintf(query, filter), args, func(scan func(...any) error) error {
		c, err := scanCaption(scan, q.now)
		list = append(list, c)
		return err
	})
	return list, err
}

// allowedTypes returns the ids of the content types that layer 1 allows.
func (t tx) allowedTypes(creator string) ([]any, error) {
	var ids []any
	err := t.each("content types", allowed, []any{creator}, func(scan func(...any) error) error {
		var id any
		var name string
		err := scan(&id, &name)
		ids = append(ids, id)
		return err
	})
	return ids, err
}

// surviving returns the number of captions that layer 1 allows. It stops at most.
func (t tx) surviving(creator string, most int) (int, error) {
	types, err := t.allowedTypes(creator)
	if err != nil {
		return 0, err
	}
	return t.active(types, most)
}

// active returns the number of active captions of the content types. It stops at most.
func (t tx) active(types []any, most int) (int, error) {
	total := 0
	for _, id := range types {
		var n int
		if _, err := t.one(counted, []any{id, most - total}, &n); err != nil {
			return 0, fmt.Errorf("captions: %w", err)
		}
		if total += n; total >= most {
			break
		}
	}
	return total, nil
}

// compareIDs orders integers by value, and texts after them.
func compareIDs(a, b any) int {
	n, whole := a.(int64)
	m, both := b.(int64)
	switch {
	case whole && both:
		return cmp.Compare(n, m)
	case whole:
		return -1
	case both:
		return 1
	}
	return strings.Compare(fmt.Sprint(a), fmt.Sprint(b))
}

func scanCaption(scan func(...any) error, now time.Time) (caption, error) {
	var c caption
	var used sql.NullString
	if err := scan(&c.ID, &c.Text, &c.Type, &c.ContentType, &c.PerformanceTier, &c.Score, &used); err != nil {
		return c, err
	}
	if id, ok := c.ID.([]byte); ok {
		c.ID = string(id)
	}
	if !used.Valid || used.String == "" {
		return c, nil
	}
	at, ok := instant(used.String)
	if !ok {
		return c, fmt.Errorf("caption %v: last_used_date %q is not a date", c.ID, clip(used.String))
	}
	c.LastUsed = &used.String
	days := max(dayOf(now.UTC())-dayOf(at), 0)
	c.DaysUnused = &days
	return c, nil
}

// instantLayouts are the forms of times in the database; fractions of seconds
// may follow.
var instantLayouts = []string{
	time.RFC3339, "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05Z07", "2006-01-02 15:04:05", "2006-01-02T15:04:05", time.DateOnly,
	"2006-01-02T15:04:05Z0700", "2006-01-02T15:04Z07:00", "2006-01-02T15:04", "2006-01-02 15:04",
}

// instant parses a time of the database. A time without an offset is in UTC.
func instant(s string) (time.Time, bool) {
	at, ok := parsed(s, instantLayouts)
	return at.UTC(), ok
}
