package schedule

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/internal/signatures"
)

// An item is one sending of a schedule. Missing numbers are NaN.
type item struct {
	index           int    // in the schedule
	date, time, key string // as written
	kind            *sendType
	day             int   // days since 1970-01-01, by the date alone; noDay if there is none
	at              int64 // the instant in UTC seconds; undefined without timed
	timed           bool
	noContent       bool // null or missing
	simple          bool // these fields are exactly those of raw
	content         string
	price           float64
	unused          float64 // days since the last use of the caption
	performance     float64
	caption         any
	raw             map[string]any
}

const noDay = math.MinInt

// itemAt returns the location of findings about the i-th item.
func itemAt(i int) string { return "items[" + strconv.Itoa(i) + "]" }

// Fields of an item that the gates read, sorted.
const (
	captionField = iota
	contentField
	unusedField
	performanceField
	priceField
	dateField
	timeField
	keyField
	fields
)

var fieldNames = [fields]string{
	"caption_id", "content_type", "days_since_last_use", "performance_score", "price", "scheduled_date", "scheduled_time", "send_type_key",
}

// fieldsOf returns the values of an item's known fields, and whether it has
// other fields that are not null.
func fieldsOf(raw map[string]any) (v [fields]any, others bool) {
	known := 0
	for i, name := range fieldNames {
		value, ok := raw[name]
		if ok {
			known++
		}
		v[i] = plainNumber(value)
	}
	if known == len(raw) {
		return v, false
	}
	for name, value := range raw {
		if value != nil && !slices.Contains(fieldNames[:], name) {
			return v, true
		}
	}
	return v, false
}

// plainNumber returns a json.Number as a float.
func plainNumber(v any) any {
	if n, ok := v.(json.Number); ok && signatures.UnambiguousNumber(string(n)) == nil {
		f, _ := number(n)
		return f
	}
	return v
}

// item reads the i-th item.
func (in *scheduleReader) item(i int, raw map[string]any, it *item) {
	v, others := fieldsOf(raw)
	before := in.counts[in.rule]
	it.raw, it.index, it.day, it.at = raw, i, noDay, math.MinInt64
	it.key = in.text(i, keyField, v[keyField])
	if it.kind = in.kinds[it.key]; it.kind != nil && it.kind.Key == it.key {
		it.key = it.kind.Key // one shared string, which compares faster
	}
	switch {
	case it.kind == nil && it.key != "":
		in.add(sendTypeRule, finding{at: itemAt(i), message: "no send type is called " + strconv.Quote(clip(it.key)), got: strconv.Quote(clip(it.key))})
	case v[keyField] == nil && in.needs&needSendTypes != 0:
		in.wrong(itemAt(i), "send_type_key is missing")
	}
	it.content = in.text(i, contentField, v[contentField])
	it.noContent = it.content == ""
	if !storable(it.content) {
		in.wrong(itemAt(i), "content_type holds bytes that are no text")
	}
	it.price = in.amount(i, priceField, v[priceField])
	it.unused = in.amount(i, unusedField, v[unusedField])
	it.performance = in.number(i, performanceField, v[performanceField])
	if it.caption = v[captionField]; !isCaption(it.caption) {
		in.wrong(itemAt(i), "caption_id must be a whole number or a text, not "+show(it.caption))
	}
	in.timing(i, v[dateField], v[timeField], it)
	if others {
		if err := signatures.Unambiguous(raw); err != nil {
			in.wrong(itemAt(i), reports.Fit(err.Error(), 300))
		}
	}
	it.simple = !others && in.counts[in.rule] == before && isExact(it.price) && isExact(it.unused) && isExact(it.performance)
}

// number returns the value of a plain number.
func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	case float64:
		return v, !math.IsNaN(v) && !math.IsInf(v, 0)
	case json.Number:
		f, err := v.Float64()
		return f, err == nil
	}
	return 0, false
}

// isExact reports whether every integer of the size of a float is exact.
func isExact(f float64) bool { return !(math.Abs(f) >= 1<<53) }

func (in *scheduleReader) text(i, field int, v any) string {
	s, ok := v.(string)
	if !ok && v != nil {
		in.wrong(itemAt(i), fieldNames[field]+" must be a text, not "+show(v))
	}
	if ok && s == "" {
		in.wrong(itemAt(i), fieldNames[field]+" is empty")
	}
	return s
}

func (in *scheduleReader) number(i, field int, v any) float64 {
	if v == nil {
		return math.NaN()
	}
	f, ok := number(v)
	if !ok {
		in.wrong(itemAt(i), fieldNames[field]+" must be a number, not "+show(v))
		return math.NaN()
	}
	if !isExact(f) && signatures.Unambiguous(v) != nil {
		in.wrong(itemAt(i), fieldNames[field]+" must be a number up to 2^53, not "+show(v))
		return math.NaN()
	}
	return f
}

// amount parses a number that must not be negative.
func (in *scheduleReader) amount(i, field int, v any) float64 {
	f := in.number(i, field, v)
	if f < 0 {
		in.wrong(itemAt(i), fieldNames[field]+" must not be negative, not "+show(v))
		return math.NaN()
	}
	return f
}

// storable reports whether every database can store the text.
func storable(s string) bool { return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 }

// isCaption reports whether a value is a valid caption id: an integer, a text
// or null.
func isCaption(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case int, int64:
		return signatures.Unambiguous(v) == nil
	case float64:
		return v == math.Trunc(v) && isExact(v)
	case string:
		return v != "" && storable(v)
	}
	return false
}

// captionKey returns a caption's id in the form of the database.
func captionKey(v any) any {
	switch v.(type) {
	case int, int64, float64:
		return captionNumber(v)
	}
	return v
}

func (in *scheduleReader) timing(i int, date, clockTime any, it *item) {
	it.date, it.time = in.text(i, dateField, date), in.text(i, timeField, clockTime)
	needed := in.needs&needTimes != 0
	if it.date != "" {
		var ok bool
		if it.day, ok = in.day(it.date); !ok {
			it.day = noDay
			in.wrong(itemAt(i), "scheduled_date must be a date like 2025-12-22, not "+show(it.date))
		}
	} else if needed && date == nil {
		in.wrong(itemAt(i), "scheduled_date is missing")
	}
	if it.time != "" {
		seconds, ok := clock(it.time)
		if !ok {
			in.wrong(itemAt(i), "scheduled_time must be a time like 08:47, not "+show(it.time))
		}
		if it.timed = ok && it.day != noDay; it.timed {
			it.at = int64(it.day)*86400 + int64(seconds)
		}
	} else if needed && clockTime == nil {
		in.wrong(itemAt(i), "scheduled_time is missing")
	}
}

// day parses a date. It caches the last one, because dates often repeat.
func (in *scheduleReader) day(date string) (int, bool) {
	if date == in.lastDate && date != "" {
		return in.lastDay, true
	}
	t, err := time.Parse(time.DateOnly, date)
	if err != nil || t.Year() < 1 {
		return 0, false
	}
	in.lastDate, in.lastDay = date, dayOf(t)
	return in.lastDay, true
}

// dayOf returns the number of a UTC day.
func dayOf(t time.Time) int { return int(math.Floor(float64(t.Unix()) / 86400)) }

func weekday(day int) time.Weekday { return time.Weekday(((day+4)%7 + 7) % 7) } // 1970-01-01 was a Thursday

func dateText(day int) string {
	return time.Unix(int64(day)*86400, 0).UTC().Format(time.DateOnly)
}

var clockLayouts = []string{"15:04:05", "15:04Z07:00", "15:04:05Z07:00"}

// clock parses a time of day and returns seconds after midnight UTC. A time
// without an offset is in UTC, whatever the creator's zone. With an offset, the
// seconds may be negative or exceed a day.
func clock(s string) (int, bool) {
	if len(s) == 5 && s[2] == ':' {
		h, m := digits(s[0], s[1]), digits(s[3], s[4])
		return h*3600 + m*60, h >= 0 && h < 24 && m >= 0 && m < 60
	}
	t, ok := parsed(s, clockLayouts)
	_, offset := t.Zone()
	ok = ok && s[2] == ':' && max(offset, -offset) < 86400 // the layouts also accept 8:47 and +24:00
	return t.Hour()*3600 + t.Minute()*60 + t.Second() - offset, ok
}

// parsed parses a time with the first matching layout.
func parsed(text string, layouts []string) (time.Time, bool) {
	for _, layout := range layouts {
		if at, err := time.Parse(layout, text); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}

func digits(a, b byte) int {
	if a < '0' || a > '9' || b < '0' || b > '9' {
		return -1
	}
	return int(a-'0')*10 + int(b-'0')
}
