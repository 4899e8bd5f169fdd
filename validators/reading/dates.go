package reading

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/seed61713e19/capstan/validators/patterns"
)

const (
	monthName = `(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sep(?:t(?:ember)?)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\b\.?`
	weekday   = `(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b`
)

// What a date looks like: by numbers, with a month's name, a time of day, a day
// of the week, a month that is none of the words may and march.
var datePattern = patterns.Lazy(`\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?\b` +
	`|\b\d{1,2}(?:st|nd|rd|th|\.)? (?:of )?` + monthName + `(?:,? \d{4}\b)?` +
	`|\b` + monthName + ` \d{1,2}(?:st|nd|rd|th)?\b(?:,? \d{4}\b)?` +
	`|\b` + monthName + `,? (?:of )?\d{4}\b` +
	`|\b\d{1,2}[./]\d{1,2}[./](?:\d{4}|\d{2})\b` +
	`|\b\d{1,2}:\d{2}(?::\d{2})?(?:\s?[aApP]\.?[mM]\b\.?)?|\b\d{1,2}\s?[aApP]\.?[mM]\b\.?` +
	`|\b(?:January|February|April|June|July|August|September|October|November|December)\b|\b` + weekday)

var (
	datedDay   = patterns.Lazy(`\b(\d{1,2})(?:st|nd|rd|th|\.)?(?:$|[ ,])`)
	datedYear  = patterns.Lazy(`\b\d{4}\b`)
	halfDay    = patterns.Lazy(` ?([ap])\.?m\.?$`)
	datedMonth = patterns.Lazy(monthName)
)

var dayNames = marked("day", "uary", "pril", "June", "July", "August", "ember", "ober")

func anyDate(words string) bool { return anyFigure(words) || dayNames(words) }

// dated writes a date with a month's name as 2024-03-01.
func dated(s string) string {
	name := datedMonth().FindString(s)
	if name == "" {
		return halfDay().ReplaceAllString(strings.ToLower(oneLine(s)), " ${1}m")
	}
	month := strings.Index("janfebmaraprmayjunjulaugsepoctnovdec", strings.ToLower(name[:3]))/3 + 1
	out := cmp.Or(datedYear().FindString(s), "any")
	out += fmt.Sprintf("-%02d", month)
	if m := datedDay().FindStringSubmatch(s); m != nil {
		day, _ := strconv.Atoi(m[1])
		out += fmt.Sprintf("-%02d", day)
	}
	return out
}
