package request

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

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
		passes: "passed passing pass passes measured succeeded successful success successes erfolgreich bestanden réussi réussis réussie réussies réussite pasaron superado superadas superados", failures: "failed failing fail fails timed interrupted undefined failure failures fehler fehlgeschlagen échec échecs échoué échouée échoués échouées fallaron fallos fallidas fallidos", errs: "error errors errored",
		skips: "skipped skips skip pending ignored todo canceled disabled incomplete deselected excluded übersprungen omitido omitidas", totals: "test tests pruebas spec specs example examples run runs scenario scenarios total completed gesamt",
		others: "assertions warning warnings xfailed xpassed filtered warn snapshots file files suite suites risky deprecations finished changed unreachable rescued",
	} {
		for word := range strings.FieldsSeq(list) {
			all[word] = m
		}
	}
	return all
})

// An entry is a number with its word: 3 failed, 2 tests passed, Failures: 1, Failed 1.
type entry struct {
	begin, end int
	word       string
	count      int
	bare       bool // the word stands before it, and no colon of a list between them
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

// entryOf reads the word behind a number, or the one before it.
func entryOf(line string, at, end int) (e entry, is bool) {
	n, err := strconv.Atoi(line[at:end])
	if err != nil || at > 0 && (isLetter(line[at-1]) || strings.IndexByte(".-_/", line[at-1]) >= 0) {
		return e, false
	}
	word, to := wordAt(line, end)
	next, far := wordAt(line, to)
	switch now, then := words()[word], words()[next]; {
	case now == totals && then != none, now == others && (then == passes || then == failures):
		word, to = next, far // 2 tests failed
	case now != totals && strings.HasPrefix(next, "test"):
		to = far // 2 failing tests
	}
	if line[end:to] == " ok" { // "200 OK" is none
		word = "passed"
	}
	if strings.HasPrefix(line[to:], " as expected") {
		word = "xfailed"
	}
	if words()[word] != none && !labels(line, to) {
		return entry{begin: at, end: to, word: word, count: n}, true
	}
	label := strings.TrimRight(strings.TrimSuffix(line[:at], `"`), " ")
	bare := word == "" && label != "" && isLetter(label[len(label)-1])
	if !bare && !strings.HasSuffix(label, ":") && !strings.HasSuffix(label, "=") {
		return e, false
	}
	if !bare {
		label = strings.TrimRight(label[:len(label)-1], " ")
		label, bare = strings.CutSuffix(label, `"`) // of JSON, where such labels may be of anything
	}
	word, from := labelOf(label)
	if word == "ok" && !bare { // "200 OK" is none
		word = "passed"
	}
	return entry{from, end, word, n, bare}, words()[word] != none
}

// labelOf is the word that a label ends with, by what stands before it.
func labelOf(label string) (word string, begin int) {
	word, begin = wordBefore(label)
	if word == "run" {
		begin = len(strings.TrimSuffix(label, "Tests run"))
	}
	before := label[:begin]
	switch of, far := wordBefore(strings.TrimSuffix(before, " ")); {
	case strings.HasPrefix(word, "test") && words()[of] != none && words()[of] != totals:
		return of, far // failed tests: 2
	case strings.HasSuffix(before, "unexpected ") && words()[word] != none:
		return "failures", begin // of unittest: successes
	case strings.HasSuffix(before, "expected "):
		return "", begin
	}
	return word, begin
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
	end = len(line)
	if n := strings.IndexFunc(line[at+1:], noLetter); n >= 0 {
		end = at + 1 + n
	}
	return strings.ToLower(line[at+1 : end]), end
}

// wordBefore is the word that a text ends with, in small letters.
func wordBefore(text string) (word string, begin int) {
	begin = len(strings.TrimRightFunc(text, unicode.IsLetter))
	return strings.ToLower(text[begin:]), begin
}

func noLetter(r rune) bool { return !unicode.IsLetter(r) }

// marks are what may stand before an entry.
const marks = "✓✔✗✘×✖"

// between are what may stand between the entries of a list, beside a remark in
// brackets. In lists of labels, and in JUnit's XML, there is nothing.
var (
	between = []string{`"`, `, "`, `,"`, ",", ";", "|", "/", ", with", "and", ", and", "but", ", but"}
	remark  = patterns.Lazy(`^ \([^()]*\)`)
)

// continued tells whether an entry goes on the list that another one ends.
func continued(line string, e, next entry) bool {
	gap := line[e.end:next.begin]
	if strings.HasPrefix(gap, " (") {
		gap = remark().ReplaceAllString(gap, "")
	}
	gap = strings.Trim(gap, " "+marks)
	if gap == "(" {
		return words()[e.word] == totals // 5 scenarios (1 failed, 4 passed)
	}
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
		case n > 1 && !strings.HasSuffix(strings.TrimRight(line[:first.begin], ": "), "codes"): // which are told one by one
			list = list.or(sumOf(all[:n]))
		case column(line, first):
			list = list.or(sumOf([]entry{first, {word: "failed"}}))
		case !first.bare && alone(line, first):
			single.add(first.word, first.count)
		}
		all = all[n:]
	}
	return list, single
}

// sumOf is what a list says, if it is one of tests: errors and warnings alone are
// any program's, and "error 404, test 3" is none.
func sumOf(list []entry) (t Tally) {
	has := func(all ...meaning) bool {
		return slices.ContainsFunc(list, func(e entry) bool { return slices.Contains(all, words()[e.word]) })
	}
	bare := slices.ContainsFunc(list, func(e entry) bool { return e.bare })
	if !has(passes, failures, skips, totals) || bare && !(has(passes) && has(failures)) {
		return t
	}
	for _, e := range list {
		t.add(e.word, e.count)
	}
	if t.Failed == 0 && has(errs) && !has(passes, failures, totals) {
		return Tally{} // "0 errors, 3 skipped" may be of anything
	}
	return t
}

var (
	trailing = patterns.Lazy(`^(?: in [\d.]+ ?m?s\b[^.;]*| \([^()]*\))?[\s=\]│]*(?:[.;!]|$)|^ (?:locally|remotely|to build)\b`)
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
	before := strings.TrimRight(line[:e.begin], " \t=*#│[-"+marks)
	last, _ := utf8.DecodeLastRuneInString(before)
	if before != "" && !strings.HasSuffix(before, "Tests") && !strings.HasSuffix(before, "Test Files") && !strings.ContainsRune(":;!.>→", last) {
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
