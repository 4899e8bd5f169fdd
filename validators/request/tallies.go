package request

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/seed61713e19/capstan/validators/patterns"
)

// What a word beside a number says of so many tests.
type meaning int

const (
	none meaning = iota
	passes
	failures
	errs
	skips
	totals
	others // that stand in the same lists
)

var words = sync.OnceValue(func() map[string]meaning {
	all := map[string]meaning{}
	for m, list := range map[meaning]string{
		passes: "passed passing pass succeeded successful success successes erfolgreich bestanden", failures: "failed failing fail failure failures fehler", errs: "error errors errored",
		skips: "skipped skips skip pending ignored todo disabled incomplete deselected excluded", totals: "test tests spec specs example examples run runs scenario scenarios total completed gesamt",
		others: "assertions warning warnings xfailed xpassed measured filtered snapshots file files suite suites risky deprecations finished",
	} {
		for word := range strings.FieldsSeq(list) {
			all[word] = m
		}
	}
	return all
})

// An entry is a number with its word: 3 failed, 2 tests passed, Failures: 1.
type entry struct {
	begin, end int
	word       string
	count      int
}

// entries are those of a line, in their order.
func entries(line string) (all []entry) {
	for at := 0; at < len(line); at++ {
		if line[at] < '0' || line[at] > '9' {
			continue
		}
		end := at
		for end < len(line) && line[end] >= '0' && line[end] <= '9' {
			end++
		}
		if e, is := entryOf(line, at, end); is && (all == nil || e.begin >= all[len(all)-1].end) {
			all, end = append(all, e), e.end
		}
		at = end - 1
	}
	return all
}

// entryOf reads the word behind a number, or the one before it with a colon.
func entryOf(line string, at, end int) (e entry, is bool) {
	n, err := strconv.Atoi(line[at:end])
	if err != nil || at > 0 && (isLetter(line[at-1]) || strings.IndexByte(".-_/", line[at-1]) >= 0) {
		return e, false
	}
	word, to := wordAt(line, end)
	if next, far := wordAt(line, to); words()[word] == totals && words()[next] != none {
		word, to = next, far // 2 tests failed
	}
	if words()[word] != none && !labels(line, to) {
		return entry{at, to, word, n}, true
	}
	label := strings.TrimRight(strings.TrimSuffix(line[:at], `"`), " ")
	if label == "" || label[len(label)-1] != ':' && label[len(label)-1] != '=' {
		return e, false
	}
	label = label[:len(label)-1]
	from := len(label)
	for from > 0 && isLetter(label[from-1]) {
		from--
	}
	if word = strings.ToLower(label[from:]); word == "run" {
		from = len(strings.TrimSuffix(label, "Tests run"))
	}
	switch before := label[:from]; {
	case words()[word] == none:
		return e, false
	case strings.HasSuffix(before, "unexpected "):
		word = "failures" // of unittest: successes
	case strings.HasSuffix(before, "expected "):
		return e, false
	}
	return entry{from, end, word, n}, true
}

// labels tells whether a word is that of the number behind it: Tests: 3 Failed: 1.
func labels(line string, end int) bool {
	if end == len(line) || line[end] != ':' && line[end] != '=' {
		return false
	}
	rest := strings.TrimPrefix(strings.TrimLeft(line[end+1:], " "), `"`)
	return rest != "" && rest[0] >= '0' && rest[0] <= '9'
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// wordAt is the word behind a blank, in small letters.
func wordAt(line string, at int) (word string, end int) {
	if at >= len(line) || line[at] != ' ' {
		return "", at
	}
	end = at + 1
	for end < len(line) && isLetter(line[end]) {
		end++
	}
	return strings.ToLower(line[at+1 : end]), end
}

// between are what may stand between the entries of a list, beside a remark in
// brackets. In lists of labels, and in JUnit's XML, there is nothing.
var (
	between = []string{`"`, ",", ";", "|", "/", ", with", "and", ", and"}
	remark  = patterns.Lazy(`^ \([^()]*\)`)
)

// continued tells whether an entry goes on the list that another one ends.
func continued(line string, e, next entry) bool {
	gap := line[e.end:next.begin]
	if strings.HasPrefix(gap, " (") {
		gap = remark().ReplaceAllString(gap, "")
	}
	gap = strings.TrimSpace(gap)
	return slices.Contains(between, gap) || gap == "" && isLetter(line[next.begin])
}

// listed reads what lists of a line say, the worst of them, and what entries that
// stand alone there do.
func listed(line string) (list, single Tally) {
	all := entries(line)
	for len(all) > 0 {
		n := 1
		for n < len(all) && continued(line, all[n-1], all[n]) {
			n++
		}
		switch first := all[0]; {
		case n > 1:
			list = list.or(sumOf(all[:n]))
		case column(line, first):
			list = list.or(sumOf([]entry{first, {word: "failed"}}))
		case alone(line, first):
			single.add(first.word, first.count)
		}
		all = all[n:]
	}
	return list, single
}

// sumOf is what a list says, if it is one of tests: errors and warnings alone are
// any program's.
func sumOf(list []entry) (t Tally) {
	if !slices.ContainsFunc(list, func(e entry) bool { m := words()[e.word]; return m != errs && m != others }) {
		return t
	}
	for _, e := range list {
		t.add(e.word, e.count)
	}
	return t
}

var (
	trailing = patterns.Lazy(`^(?: in [\d.]+ ?m?s\b[^.;]*| \([^()]*\))?[\s=\]]*(?:[.;!]|$)`)
	seconds  = patterns.Lazy(`^ in [\d.]+s\b`)
)

// column tells whether an entry stands behind a label of vitest's, which has no
// colon: Tests  1 failed (6).
func column(line string, e entry) bool {
	label, wide := strings.CutSuffix(line[:e.begin], "  ")
	return wide && slices.Contains([]string{"Test Files", "Tests", "Errors"}, strings.TrimSpace(label))
}

// alone tells whether an entry is all that a line, or what follows a colon in it,
// says.
func alone(line string, e entry) bool {
	before := strings.TrimRight(line[:e.begin], " \t=*✓✔✗✘×✖[-")
	if before != "" && strings.IndexByte(":;!.", before[len(before)-1]) < 0 {
		return false
	}
	switch words()[e.word] {
	case passes, failures, skips:
		return trailing().MatchString(line[e.end:])
	case errs:
		return seconds().MatchString(line[e.end:])
	}
	return false
}
