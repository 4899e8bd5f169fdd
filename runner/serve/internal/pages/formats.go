package pages

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/schema"
)

// oneLine returns text in one line of at most 300 characters.
func oneLine(text string) string { return validators.OneLine(text, 300) }

// runeStart is the beginning of the character at an offset, within the text.
func runeStart(text string, at int) int {
	at = max(0, min(at, len(text)))
	for back := 0; at > 0 && at < len(text) && back < utf8.UTFMax-1 && !utf8.RuneStart(text[at]); back++ {
		at--
	}
	return at
}

// prettyJSON is a value as people read it: a text as it is, anything else as
// indented JSON, nothing as "".
func prettyJSON(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	text, err := schema.Indent(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// formatCount writes a number with its thousands apart.
func formatCount[N int | int64](n N) string {
	digits := strconv.FormatInt(int64(n), 10)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "\u202f" + digits[i:]
	}
	return digits
}

// formatScore is a verdict's score with three digits behind the point at the most, "" where
// it has none.
func formatScore(s *float64) string {
	if s == nil {
		return ""
	}
	return strings.TrimRight(strings.TrimRight(strconv.FormatFloat(*s, 'f', 3, 64), "0"), ".")
}

// plural is a count with its noun: "1 turn", "2 turns", "2 retries".
func plural(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "ry"):
		return formatCount(n) + " " + strings.TrimSuffix(noun, "y") + "ies"
	}
	return formatCount(n) + " " + noun + "s"
}

// formatMoney writes US dollars to the digits that tell something; "" for none.
func formatMoney(usd float64) string {
	switch {
	case usd == 0 || math.IsNaN(usd):
		return ""
	case math.Abs(usd) < 0.0001:
		return "< $0.0001"
	case math.Abs(usd) < 1:
		return fmt.Sprintf("$%.4f", usd)
	default:
		return fmt.Sprintf("$%.2f", usd)
	}
}

// formatDuration writes a duration to two units; "" for none.
func formatDuration(d time.Duration) string {
	switch {
	case d <= 0:
		return ""
	case d < time.Millisecond:
		return "< 1 ms"
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Truncate(100*time.Millisecond).Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%d m %02d s", int(d.Minutes()), int(d.Seconds())%60)
	default:
		return fmt.Sprintf("%s h %02d m", formatCount(int(d.Hours())), int(d.Minutes())%60)
	}
}

// formatSeconds is [formatDuration] of a number of them.
func formatSeconds(s float64) string { return formatDuration(time.Duration(s * float64(time.Second))) }

// formatAxis writes seconds for an axis, in one unit.
func formatAxis(s float64) string {
	unit, name := 1.0, " s"
	switch {
	case s == 0:
		return "0"
	case s < 1:
		unit, name = 0.001, " ms"
	case s >= 2*3600:
		unit, name = 3600, " h"
	case s >= 120:
		unit, name = 60, " min"
	}
	return strconv.FormatFloat(s/unit, 'g', 3, 64) + name
}

// formatSize writes a number of bytes.
func formatSize(n int) string {
	switch {
	case n < 1<<10:
		return plural(n, "byte")
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	default:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
}

// formatClock is a time of the day, in UTC.
func formatClock(t time.Time) string { return t.UTC().Format("15:04:05") }

// formatDate is a time with its day, in UTC.
func formatDate(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") }

// formatStamp is a time as programs read it, exact and in UTC.
func formatStamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// formatPercent writes a part of a whole; "" where there is no whole.
func formatPercent(part, whole int) string {
	if whole == 0 {
		return ""
	}
	return strconv.FormatFloat(math.Floor(1000*float64(part)/float64(whole))/10, 'f', -1, 64) + " %"
}

// signs say with a sign what a status says with a colour.
var signs = map[string]string{
	"succeeded": "✓", "blocked": "⊘", "exhausted": "✗", "failed": "⚠", "waiting": "?", "over_budget": "$", "cancelled": "■",
	"running": "…", "skipped": "–", "degraded": "≈", "": "…",
	// of attempts and verdicts
	"passed": "✓", "rejected": "✗", "error": "⚠", "retry": "↻",
}

// statusSign is that of a status, "·" for one that has none.
func statusSign(status string) string {
	if s, ok := signs[status]; ok {
		return s
	}
	return "·"
}

// statusWord is a status in words; "" is that of what goes on.
func statusWord(status string) string {
	if status == "" {
		return "running"
	}
	return strings.ReplaceAll(status, "_", " ")
}
