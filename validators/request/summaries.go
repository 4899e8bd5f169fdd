package request

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/seed61713e19/capstan/validators/patterns"
)

// A Tally is what a program says of the tests that it ran.
type Tally struct {
	Passed, Failed, Skipped int
	Told                    bool // it said anything of them
	Whole                   bool // it told of those that passed, too

	total int // of which it did not say how they ended
}

// None tells of a run of no tests, or of none but skipped ones.
func (t Tally) None() bool { return t.Told && t.Whole && t.Passed == 0 && t.Failed == 0 }

// A summary is a form of its own in which runners of tests say how a run came out.
// Its groups are numbers, or words of which each is one test; in the group items
// each number has its word. What many runners write alike is a list (tallies.go).
type summary struct {
	needles []string // one of which a line with it has
	line    func() *regexp.Regexp
}

// summaries are those of go test, TAP, node, unittest, GoogleTest, ctest, go test -json, Swift Testing and cargo.
// The lines of each are parts of one run.
var summaries = []summary{
	{[]string{"--- "}, patterns.Lazy(`^\s*--- (?:(?P<passed>PASS)|(?P<failed>FAIL)|(?P<skipped>SKIP)): `)},
	{[]string{"ok "}, patterns.Lazy(`^(?:(?P<skipped>(?:not )?ok) \d+\b[^#]*# (?i:skip|todo)\b|(?P<failed>not ok) \d+\b|(?P<passed>ok) \d+(?: |$))`)},
	{[]string{"# ", "ℹ "}, patterns.Lazy(`^[#ℹ] (?:pass +(?P<passed>\d+)|(?:fail|cancelled) +(?P<failed>\d+)|(?:skipped|todo) +(?P<skipped>\d+))\s*$`)},
	{[]string{"Ran ", "FAILED (", "OK ("}, patterns.Lazy(`^Ran (?P<total>\d+) tests? in |\b(?:FAILED|OK) \((?P<items>[A-Za-z][A-Za-z0-9 =,]*)\)`)},
	{[]string{"ED  ] "}, patterns.Lazy(`^\[ +(?:PASSED +\] (?P<passed>\d+)|FAILED +\] (?P<failed>\d+)|SKIPPED +\] (?P<skipped>\d+)) tests?\b`)},
	{[]string{"% tests passed, "}, patterns.Lazy(`^\d+% tests passed, (?P<failed>\d+) tests? failed out of (?P<total>\d+)`)},
	{[]string{`"Action":"`}, patterns.Lazy(`^\{.*"Action":"(?:(?P<passed>pass)|(?P<failed>fail)|(?P<skipped>skip))","Package":"[^"]*","Test":"`)},
	{[]string{"Test run with "}, patterns.Lazy(`\bTest run with (?P<total>\d+) tests?(?: in \d+ suites?)? (?:passed|(?P<failed>failed)) after `)},
	{[]string{"test result: "}, patterns.Lazy(`^test result: \w+\. (?P<items>(?:\d+ [a-z ]+(?:; |$))+)`)},
}

var (
	colours = patterns.Lazy("\x1b\\[[0-9;?]*[A-Za-z]|\\[[0-9;]+m") // the latter where what cannot be printed was taken out
	levels  = patterns.Lazy(`(?mi)^\[(?:info|warn(?:ing)?|error|success)\] `)

	// noTests is what runners of tests write when there was none to run, and
	// someTests when there was one.
	noTests   = patterns.Lazy(`(?i)\bno (?:tests?|specs?|examples|scenarios)(?: (?:files?|modules?|targets?|cases?|suites?|configuration file))?(?: were)? (?:ran|run|found|executed|to run|is available|match(?:es|ed|ing)?)\b|\bcontains no tests\b|^\s*Tests  no tests$|\b(?:Tests are|All tests) skipped\.|^1\.\.0\b|^> Task :\S*test\S* NO-SOURCE|\bcollected 0 items\b|\b0 (?:tests?|passing|passed|specs?|examples)\b[^\n]*\b0 (?:failing|failed|failures)\b|\b0 (?:tests|test files)\b|\bExecuted 0 of \d|^0 scenarios$|\[no test files\]`)
	someTests = patterns.Lazy(`(?im)\b[1-9]\d* (?:tests?|passing|passed|specs?|examples|scenarios)\b|\bExecuted [1-9]|^ok\s+\S+\s+(?:[\d.]+s|\(cached\))(?:\s+coverage: [^\[\n]*(?:\[no statements\])?)?\s*$|--- PASS: |^> Task :\S*test(?: UP-TO-DATE| FROM-CACHE)?\s*$`)
)

// nothings are what a line of noTests has one of.
var nothings = []string{"o test", "O TEST", "o spec", "o example", "o scenario", "0 ", "1..0", "NO-SOURCE", "skipped."}

// maxLine is the longest line that is read for a summary, in bytes.
const maxLine = 4 << 10

// plainOutput is what a program printed without its colours, and without what logs
// put before each line.
func plainOutput(output string) string {
	if strings.IndexByte(output, '\x1b') >= 0 || strings.Contains(output, "[0m") {
		output = colours().ReplaceAllString(output, "")
	}
	if strings.Contains(output, "] ") {
		output = levels().ReplaceAllString(output, "")
	}
	return output
}

// Tests reads what a program's output says of tests, whichever of the usual
// runners has written it. Where several have, the worst counts.
func Tests(output string) (worst Tally) {
	output = plainOutput(output)
	var lists, lines Tally
	own := make([]Tally, len(summaries))
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\r\n")
		object := strings.HasPrefix(line, `{"`) && strings.Contains(line, `"Action":`)
		if len(line) > maxLine || !object && !strings.ContainsAny(line, "0123456789") {
			continue
		}
		for i, s := range summaries {
			if slices.ContainsFunc(s.needles, func(n string) bool { return strings.Contains(line, n) }) {
				own[i] = own[i].and(s.tally(line))
			}
		}
		if object {
			continue // it quotes what a test printed
		}
		list, single := listed(line)
		lists, lines = lists.or(list), lines.and(single)
	}
	if of := &own[0]; of.Passed == 0 && (of.Skipped == 0 || of.Failed > 0) {
		of.Whole = false // without -v go is silent of those that passed
	}
	worst = lists.or(lines)
	for _, t := range own {
		worst = worst.or(t)
	}
	if worst.Passed+worst.Failed == 0 && !worst.Whole && ranNone(output) {
		worst.Told, worst.Whole = true, true
	}
	return worst
}

// ranNone tells whether a program said that there was no test to run, and not of
// one that it did run.
func ranNone(output string) bool {
	for line := range strings.Lines(output) {
		if slices.ContainsFunc(nothings, func(n string) bool { return strings.Contains(line, n) }) && noTests().MatchString(strings.TrimRight(line, "\r\n")) {
			return !someTests().MatchString(output)
		}
	}
	return false
}

// tally reads one line.
func (s summary) tally(line string) (t Tally) {
	for _, m := range s.line().FindAllStringSubmatch(line, -1) {
		for i, name := range s.line().SubexpNames() {
			switch {
			case m[i] == "" || name == "":
			case name == "items":
				for _, e := range entries(m[i]) {
					t.add(e.word, e.count)
				}
			default:
				t.add(name, number(m[i]))
			}
		}
	}
	return t
}

// number is what a text says, or one where it is a word.
func number(text string) int {
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	return 1
}

// add counts tests by the word for what became of them.
func (t *Tally) add(word string, n int) {
	switch words()[word] {
	case passes:
		t.Passed += n
	case failures, errs:
		t.Failed += n
	case skips:
		t.Skipped += n
	case totals:
		t.total = max(t.total, n)
	default:
		return
	}
	t.Told = true
	switch words()[word] {
	case passes, totals:
		t.Whole = true
	case errs, skips:
		t.Whole = t.Whole || n > 0 // "0 failures, 0 errors" is silent of those that passed
	}
}

// and joins the tallies of parts of one run.
func (t Tally) and(other Tally) Tally {
	return Tally{t.Passed + other.Passed, t.Failed + other.Failed, t.Skipped + other.Skipped,
		t.Told || other.Told, t.Whole || other.Whole, t.total + other.total}
}

// or is the worse of two tallies.
func (t Tally) or(other Tally) Tally {
	t, other = t.settled(), other.settled()
	if !t.Told || other.Told && (other.Failed > t.Failed || other.Failed == t.Failed && (other.Passed > t.Passed || other.Passed == t.Passed && other.Whole && !t.Whole)) {
		return other
	}
	return t
}

// settled takes those that passed from the number of all, where that alone was told.
func (t Tally) settled() Tally {
	if t.Passed == 0 {
		t.Passed = max(t.total-t.Failed-t.Skipped, 0)
	}
	t.total = 0
	return t
}
