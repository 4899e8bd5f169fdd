package edit

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/reading"
	"github.com/seed61713e19/capstan/internal/tables"
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

// TestTableRows checks the two lines and the source of each row in the tables.
func TestTableRows(t *testing.T) {
	err := tables.Check(labelTable, func(row tables.Row, line string) bool {
		label, phrase, _ := strings.Cut(row["kind"]+"|"+row["words"], "|")
		if label == "prefix" {
			with, without, _ := strings.Cut(line, " ")
			return slices.Contains(labelsOf(t, "It is "+without+".", "It is "+with+"."), "negation")
		}
		return slices.ContainsFunc(strings.Split(phrase, "|"), func(w string) bool {
			other := regexp.MustCompile(`(?i)\b`+regexp.QuoteMeta(w)+`(?:\b|$| )`).ReplaceAllString(line, "zzz ")
			return other != line && (label == "unit" || slices.Contains(labelsOf(t, line, other), label))
		})
	})
	if err != nil {
		t.Error(err)
	}
	err = tables.Check(gapTable, func(row tables.Row, line string) bool { return regexp.MustCompile(row["pattern"]).MatchString(line) })
	if err != nil {
		t.Error(err)
	}
}

// TestSpellings checks that another spelling of a number or a negation is not a
// change.
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
