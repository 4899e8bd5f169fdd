package edit

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/reading"
	"github.com/seed61713e19/capstan/internal/textdiff"
)

// labelsOf returns the labels of a change of one sentence.
func labelsOf(t *testing.T, old, now string) []string {
	t.Helper()
	var docs [2]*reading.Document
	for i, text := range []string{old, now} {
		d, err := reading.Read(text)
		if err != nil {
			t.Fatal(err)
		}
		docs[i] = d
	}
	var out []string
	l := textdiff.NewLabeller(labelWords(), docs)
	for _, h := range textdiff.Diff(textdiff.Units(docs[0], true), textdiff.Units(docs[1], true)) {
		out = append(out, l.Labels(h)...)
	}
	return out
}

// Each row of the tables has a line that must match and one that must not, and a source.
func TestTableRows(t *testing.T) {
	for _, row := range textdiff.Rows(labelTable) {
		if len(row) != 6 || slices.Contains(row, "") {
			t.Fatalf("got %q", row)
		}
		label, phrase, _ := strings.Cut(row[0]+"|"+row[2], "|")
		words := strings.Split(phrase, "|")
		has := func(line string) bool {
			if row[0] == "prefix" {
				with, without, _ := strings.Cut(line, " ")
				return slices.Contains(labelsOf(t, "It is "+without+".", "It is "+with+"."), "negation")
			}
			for _, w := range words {
				other := regexp.MustCompile(`(?i)\b`+regexp.QuoteMeta(w)+`(?:\b|$| )`).ReplaceAllString(line, "zzz ")
				if other != line && (row[0] == "unit" || slices.Contains(labelsOf(t, line, other), label)) {
					return true
				}
			}
			return false
		}
		if !has(row[4]) || has(row[5]) {
			t.Errorf("%s %s: %q must match: %v; %q must not: %v", row[0], row[2], row[4], has(row[4]), row[5], has(row[5]))
		}
	}
	for _, row := range textdiff.Rows(gapTable) {
		p := regexp.MustCompile(row[2])
		if len(row) != 6 || !p.MatchString(row[4]) || p.MatchString(row[5]) {
			t.Errorf("%q must match %q and not %q", row[2], row[4], row[5])
		}
	}
}

// Two spellings of a number or a negation are no change of it.
func TestSpellings(t *testing.T) {
	for _, pair := range [][2]string{
		{"It ends after thirty days.", "It ends after 30 days."}, {"It takes 30 seconds.", "It takes 30 s."}, {"Seeds are never sold.", "No seeds are sold."},
		{"Keep up to 5 copies.", "Keep at most 5 copies."}, {"You must sign.", "You have to sign."}, {"It runs nightly.", "It runs every night."},
		{"It weighs every lot.", "It weighs each lot."}, {"Dry to 5 % first.", "Dry to 5% first."},
	} {
		if got := labelsOf(t, pair[0], pair[1]); len(got) > 0 && got[0] != textdiff.Order && got[0] != "wording" {
			t.Errorf("%q and %q: got %q", pair[0], pair[1], got)
		}
	}
}

func TestLabels(t *testing.T) {
	for _, test := range []struct{ old, now, want string }{
		{"It takes 30 seconds.", "It takes 45 seconds.", "number"}, {"It takes 30 seconds.", "It takes 30 minutes.", "number"}, {"It takes two days.", "It takes one day.", "number"},
		{"It is safe.", "It is not safe.", "negation"}, {"It is welcome.", "It is unwelcome.", "negation"}, {"- [ ] done", "- [x] done", "negation"},
		{"It opens.", "~~It opens.~~", "negation"}, {"It must pass.", "It may pass.", "modal"}, {"Ask in Oslo.", "Ask in Bergen.", "name"},
		{"See [it](a.md).", "See [it](b.md).", "link"}, {"See [a](x) and [b](y).", "See [a](y) and [b](x).", "link"}, {"![m](a.png)", "![m](b.png)", "link"},
		{"Run `a b`.", "Run `a c`.", "code"}, {"```\na\n```", "```\nb\n```", "code"}, {"It opens.", "It opens. <!-- no -->", "code"},
		{"He said “a good day”.", "He said “a bad day”.", "quotation"}, {"> Haste is bad.", "> Haste is good.", "quotation"},
		{"We go there today.", "Today we go there.", "order"}, {"It is kept.", "It is deleted.", "wording"}, {"1. weigh\n2. dry", "1. dry\n2. weigh", "number"},
	} {
		if got := labelsOf(t, test.old, test.now); len(got) == 0 || got[0] != test.want {
			t.Errorf("%q and %q: got %q, want %s first", test.old, test.now, got, test.want)
		}
	}
}
