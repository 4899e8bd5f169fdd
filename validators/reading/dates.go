package reading

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

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

// hours are times of day in halves of a day, and with an h or a sign: 3:30 PM, 9 a.m.,
// 15h30, 15时30分, 下午3点.
var hours = patterns.Lazy(`\b(\d{1,2})(?:[:.](\d{2}))?\s?([aApP])\.?[mM]\b\.?|\b(\d{1,2}) ?h ?(\d{2})\b|(上午|下午|晚上|午前|午後|오전|오후) ?(\d{1,2}) ?[时時点點시](?: ?(\d{1,2}) ?[分분])?|\b(\d{1,2}) ?[时時点點시] ?(\d{1,2}) ?[分분]`)

// halves are those of a day by the first letter of their names.
var halves = strings.NewReplacer("上午", "a", "午前", "a", "오전", "a", "下午", "p", "晚上", "p", "午後", "p", "오후", "p")

// clock takes such times out of words, as figures of the whole day.
func clock(words string) (found []Figure, rest string) {
	if !anyFigure(words) || !strings.ContainsAny(words, "mMh时時点點시") {
		return nil, words
	}
	rest = hours().ReplaceAllStringFunc(words, func(s string) string {
		m := hours().FindStringSubmatch(s)
		hour, _ := strconv.Atoi(m[1] + m[4] + m[7] + m[9])
		minute := cmp.Or(m[2]+m[5]+m[8]+m[10], "00")
		if len(minute) == 1 {
			minute = "0" + minute
		}
		f := Figure{Text: s}
		if half := m[3] + halves.Replace(m[6]); half != "" {
			f.Bare = forms(strconv.Itoa(hour) + ":" + minute)
			hour %= 12
			if strings.EqualFold(half, "p") {
				hour += 12
			}
		}
		f.Forms = forms(strconv.Itoa(hour) + ":" + minute)
		found = append(found, f)
		return " " + standIn + " "
	})
	return found, rest
}

var monthNumbers = sync.OnceValue(func() map[string]string {
	m := map[string]string{}
	for _, row := range []string{
		"1 January Jan Januar Jänner janvier enero gennaio janeiro januari", "2 February Feb Februar février febrero febbraio fevereiro februari", "3 March Mar März mars marzo março maart",
		"4 April Apr april avril abril aprile", "5 May Mai mai mayo maggio maio mei maj", "6 June Jun Juni juni juin junio giugno junho", "7 July Jul Juli juli juillet julio luglio julho",
		"8 August Aug août agosto augustus augusti", "9 September Sep Sept september septembre septiembre settembre setembro", "10 October Oct Oktober oktober octobre octubre ottobre outubro",
		"11 November Nov november novembre noviembre novembro", "12 December Dec Dezember december décembre diciembre dicembre dezembro",
	} {
		names := strings.Fields(row)
		for _, name := range names[1:] {
			m[name] = names[0]
		}
	}
	return m
})

// months are those that are named, or of dates alone: those with a figure beside them.
func months(words string, dates bool) (found []Figure) {
	if dates && !anyFigure(words) {
		return nil
	}
	all := strings.FieldsFunc(words, func(r rune) bool { return !wordRune(r) })
	for i, word := range all {
		n := monthNumbers()[word]
		if n != "" && (!dates || slices.ContainsFunc(all[max(0, i-2):min(len(all), i+3)], func(w string) bool { return w[0] >= '0' && w[0] <= '9' })) {
			found = append(found, Figure{Text: word, Forms: []string{n}, Month: true})
		}
	}
	return found
}

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
