package pages

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/internal/schema"
)

// runeStart returns the start of the character at an offset.
func runeStart(text string, at int) int {
	at = max(0, min(at, len(text)))
	for back := 0; at > 0 && at < len(text) && back < utf8.UTFMax-1 && !utf8.RuneStart(text[at]); back++ {
		at--
	}
	return at
}

// prettyJSON returns a text unchanged, nil as "", and other values as indented JSON.
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

// formatCount formats a number with a space between thousands.
func formatCount[N int | int64](n N) string {
	digits := strconv.FormatInt(int64(n), 10)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "\u202f" + digits[i:]
	}
	return digits
}

// formatScore formats a score with at most three decimals, nil as "".
func formatScore(s *float64) string {
	if s == nil {
		return ""
	}
	return strings.TrimRight(strings.TrimRight(strconv.FormatFloat(*s, 'f', 3, 64), "0"), ".")
}

// plural returns a number and its noun: "1 turn", "2 turns", "2 retries".
func plural(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "ry"):
		return formatCount(n) + " " + strings.TrimSuffix(noun, "y") + "ies"
	}
	return formatCount(n) + " " + noun + "s"
}

// formatMoney formats US dollars; "" for zero.
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

// formatDuration formats a duration in at most two units; "" for zero.
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

func formatSeconds(s float64) string { return formatDuration(time.Duration(s * float64(time.Second))) }

// formatAxis formats seconds in one unit for an axis.
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

// formatStamp formats a time exactly and in UTC.
func formatStamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// formatPercent returns the percentage of a part; "" if whole is zero.
func formatPercent(part, whole int) string {
	if whole == 0 {
		return ""
	}
	return strconv.FormatFloat(math.Floor(1000*float64(part)/float64(whole))/10, 'f', -1, 64) + " %"
}

// signs are the signs of statuses, which help readers without colour vision.
var signs = map[string]string{
	"succeeded": "✓", "blocked": "⊘", "exhausted": "✗", "failed": "⚠", "waiting": "?", "over_budget": "$", "cancelled": "■",
	"running": "…", "skipped": "–", "degraded": "≈", "": "…",
	// of attempts and verdicts
	"passed": "✓", "rejected": "✗", "error": "⚠", "retry": "↻",
}

func statusSign(status string) string {
	if s, ok := signs[status]; ok {
		return s
	}
	return "·"
}

// statusWord returns a status in words.
func statusWord(status string) string {
	if status == "" {
		return "running"
	}
	return strings.ReplaceAll(status, "_", " ")
}
