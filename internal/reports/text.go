package reports

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
	"unicode/utf8"
)

// A Text is text for people: lines and tables.
type Text struct{ text []byte }

// Line adds a line.
func (t *Text) Line(format string, args ...any) {
	t.text = append(fmt.Appendf(t.text, format, args...), '\n')
}

// Table adds rows with aligned columns. The last column has no padding.
func (t *Text) Table(rows [][]string) {
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, cells := range rows {
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	_ = w.Flush() // a buffer takes everything
	t.text = append(t.text, b.Bytes()...)
}

// Listed is how many items a list of a text shows at most. Other formats have them all.
const Listed = 50

// List adds a line for each of at most [Listed] items, and the number of further items.
func List[T any](t *Text, items []T, add func(T)) {
	for _, item := range items[:min(len(items), Listed)] {
		add(item)
	}
	if more := len(items) - Listed; more > 0 {
		t.Line("and %d more", more)
	}
}

// String returns the text.
func (t Text) String() string { return string(t.text) }

// Write writes the text.
func (t Text) Write(out io.Writer) error {
	_, err := out.Write(t.text)
	return err
}

// Count returns a number with its noun: "1 word", "2 words".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// Time returns a time for people, in UTC: the names of runs are in UTC too, and the server
// and its readers may be in different zones.
func Time(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05Z") }

// Clock returns a time of day for people, in UTC.
func Clock(t time.Time) string { return t.UTC().Format("15:04:05Z") }

// Cell returns a number for a large table, in which 0 is "·".
func Cell(n int) string {
	if n == 0 {
		return "·"
	}
	return strconv.Itoa(n)
}

// Fit returns an untrusted text as one line of at most limit characters, which end with "…" if
// it was cut. White space becomes single blanks. Characters that do not print, or change the
// direction of writing, are left out. So a text that a reason quotes cannot shape a
// report or a terminal.
func Fit(s string, limit int) string {
	line := make([]rune, 0, min(len(s), limit+1))
	space := false
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			space = true
			continue
		case r == utf8.RuneError || !unicode.IsPrint(r):
			continue
		}
		if space && len(line) > 0 {
			line = append(line, ' ')
		}
		space = false
		if line = append(line, r); len(line) > limit {
			return strings.TrimSpace(string(line[:limit-1])) + "…"
		}
	}
	return string(line)
}

// Name returns an untrusted name as one line of at most 300 characters.
func Name(s string) string { return Fit(s, 300) }

// OneExpression joins the texts of expressions, without duplicates, in a line of at most 80
// characters.
func OneExpression(texts []string) string {
	var list []string
	for _, text := range texts {
		if text != "" && !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return Fit(strings.Join(list, " | "), 80)
}
