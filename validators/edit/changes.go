package edit

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/seed61713e19/capstan/internal/reading"
	"github.com/seed61713e19/capstan/internal/textdiff"
)

// The kinds of changes that no reader sees. Only a person can allow them.
const (
	kindUnseen = "unseen"
	kindUnread = "unread" // the texts cannot be compared
)

// A change is one hunk of the candidate text.
type change struct {
	key      string
	kind     string // sentence, row, item, heading, block, or kindUnseen
	labels   []string
	old, now string       // as written
	line     int          // in the candidate, or in the source if the text was deleted
	code     bool         // a block of code
	place    reading.Span // in the body of the source
	named    bool         // by the direction
}

// compare lists the changes of a candidate text. A candidate without visible text is
// a problem.
func (in *input) compare(r *reader) {
	var docs [2]*reading.Document
	for i, text := range []string{in.source, in.candidate} {
		var err error
		if docs[i], err = reading.Read(norm.NFC.String(text)); err != nil {
			in.uncompared = err
			in.changes = []change{{kind: kindUnread, key: kindUnread, now: err.Error()}}
			return
		}
	}
	matter := &reader{}
	docs[0], in.frontMatter[0] = matter.frontMatter(docs[0])
	if in.frontMatter[0] != nil { // otherwise invalid front matter is text
		matter = r
	}
	if docs[1], in.frontMatter[1] = matter.frontMatter(docs[1]); len(r.Problems) > 0 {
		return
	}
	in.body = docs[0].Source
	if docs[0].Front != nil {
		in.body = in.body[docs[0].Front.End:]
	}
	start := len(docs[0].Source) - len(in.body)
	if !visible(docs[1]) {
		r.At(nil, "nothing of the text is left that a reader could see")
		return
	}
	hunks := textdiff.Diff(textdiff.Units(docs[0], true), textdiff.Units(docs[1], true))
	if len(hunks) == 0 {
		hunks = textdiff.Diff(textdiff.Units(docs[0], false), textdiff.Units(docs[1], false))
	}
	l := textdiff.NewLabeller(labelWords(), docs)
	for _, h := range hunks {
		c := change{old: source(docs[0], h.Old), now: source(docs[1], h.New), labels: l.Labels(h)}
		unit, side := append(h.New[:len(h.New):len(h.New)], h.Old...)[0], 0
		if len(h.New) > 0 {
			side = 1
		}
		c.kind, c.line = string(unit.Kind), docs[side].Line(unit.Start)
		c.code = unit.Block >= 0 && docs[side].Blocks[unit.Block].Kind == reading.CodeBlock
		if n := len(h.Old); n > 0 {
			c.place = reading.Span{Start: h.Old[0].Start - start, End: h.Old[n-1].End - start}
		}
		c.named = in.direction.names(c)
		in.changes = append(in.changes, c)
	}
	slices.SortStableFunc(in.changes, func(a, b change) int { return a.rank() - b.rank() })
	in.changes = append(in.changes, unseen(in.raw[0], in.raw[1])...)
	seen := map[string]int{}
	for i, c := range in.changes {
		what := c.kind + "\x00" + c.old + "\x00" + c.now
		seen[what]++
		in.changes[i].key = fmt.Sprintf("%s-%x", c.kind, sha256.Sum256(fmt.Appendf(nil, "%s\x00%d", what, seen[what])))[:len(c.kind)+7]
	}
}

// visible reports whether a reader sees a letter, a figure or an image.
func visible(d *reading.Document) bool {
	return slices.ContainsFunc(d.Blocks, func(b reading.Block) bool {
		return strings.TrimSpace(textdiff.Normal(b.Text)) != "" && b.Kind != reading.HTMLBlock
	}) || slices.ContainsFunc(d.Links, func(l reading.Link) bool { return l.Image })
}

// source returns the units of a text as they are written.
func source(d *reading.Document, list []textdiff.Unit) string {
	out := make([]string, len(list))
	for i, u := range list {
		out[i] = u.In(d.Source)
	}
	return strings.Join(out, "\n")
}

// unseen returns the invisible characters that only the candidate has.
func unseen(old, now string) []change {
	var out []change
	for _, h := range textdiff.Unseen(old, now) {
		out = append(out, change{kind: kindUnseen, key: kindUnseen, now: h.Name, line: strings.Count(now[:h.Offset], "\n") + 1})
	}
	return out
}

// rank orders changes by their first label.
func (c change) rank() int {
	if len(c.labels) == 0 {
		return len(textdiff.LabelOrder)
	}
	return slices.Index(textdiff.LabelOrder, c.labels[0])
}

// sharp reports whether a yes of the judge does not suffice: a number, a negation or
// the like has changed, and the direction does not name the change.
func (c change) sharp() bool {
	return !c.named && len(c.labels) > 0 && c.rank() < slices.Index(textdiff.LabelOrder, textdiff.Order)
}

// quoted reports whether an answer quotes both sides where they differ.
func (c change) quoted(quotes [2]string) bool {
	for i, side := range []string{c.old, c.now} {
		_, how := textdiff.NewFinder(side).Find(quotes[i])
		if side != "" && how != textdiff.ExactMatch && how != textdiff.FoldedMatch {
			return false
		}
	}
	return c.old == "" || c.now == "" || c.labels[0] == textdiff.Order || textdiff.Normal(quotes[0]) != textdiff.Normal(quotes[1])
}

// hidden reports whether the change needs the permission of a person.
func (c change) hidden() bool { return c.kind == kindUnseen || c.kind == kindUnread }

// String describes the change.
func (c change) String() string {
	what := c.kind
	if len(c.labels) > 0 {
		what += " (" + strings.Join(c.labels, ", ") + ")"
	}
	switch {
	case c.kind == kindUnseen:
		return fmt.Sprintf("%s: %s is new and no reader sees it (line %d)", what, brief(c.now), c.line)
	case c.kind == kindUnread:
		return fmt.Sprintf("%s: nobody has compared the texts: %s", what, brief(c.now))
	case c.old == "":
		return fmt.Sprintf("%s: “%s” is new (line %d)", what, brief(c.now), c.line)
	case c.now == "":
		return fmt.Sprintf("%s: “%s” is gone (line %d)", what, brief(c.old), c.line)
	}
	old, now := core(c.old, c.now)
	return fmt.Sprintf("%s: “%s” is now “%s” (line %d)", what, brief(old), brief(now), c.line)
}

// core returns the words between the first and the last difference of two texts, or
// the texts if one of these parts is empty.
func core(old, now string) (string, string) {
	a, b := differingWords(old, now)
	if len(a) == 0 || len(b) == 0 {
		return old, now
	}
	return strings.Join(a, " "), strings.Join(b, " ")
}

func differingWords(old, now string) (a, b []string) {
	a, b = strings.Fields(textdiff.Normal(old)), strings.Fields(textdiff.Normal(now))
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return a, b
}

// minNamed is the least number of words by which a direction names text that is only
// added or only removed.
const minNamed = 3

// names reports whether the target, the intent or the expected improvement has
// the deleted words and, after them, the inserted words.
func (d *direction) names(c change) bool {
	a, b := differingWords(c.old, c.now)
	if len(a) == 0 && len(b) < minNamed || len(b) == 0 && len(a) < minNamed {
		return false
	}
	old, now := joined(a), joined(b)
	for _, text := range []string{d.Target, d.Intent, d.Expected} {
		text = joined(strings.Fields(textdiff.Normal(text)))
		if at := strings.Index(text, old); at >= 0 && strings.Contains(text[at+max(0, len(old)-1):], now) {
			return true
		}
	}
	return false
}

// joined returns words in small letters without punctuation around them, between blanks.
func joined(words []string) string {
	var out strings.Builder
	out.WriteByte(' ')
	for _, w := range words {
		if w = strings.ToLower(strings.Trim(w, `.,;:!?"'()[]`)); w != "" {
			out.WriteString(w + " ")
		}
	}
	return out.String()
}

// requested reports whether the direction asks for a change of meaning here: it names the
// change, or its target is a passage of the source around it.
func (in *input) requested(c change, source *textdiff.Finder) bool {
	if c.named {
		return true
	}
	pieces := append(strings.Split(textdiff.Normal(in.direction.Target), `"`), in.direction.Target)
	return slices.ContainsFunc(pieces, func(p string) bool {
		s, _ := source.Find(p)
		return c.place.End > c.place.Start && s.Start <= c.place.Start && s.End >= c.place.End
	})
}

// maxBatch is the maximum of changes in one request to a judge.
const maxBatch = 60

// batches returns the changes for a judge, in batches.
func (in *input) batches() [][]change {
	asked := slices.DeleteFunc(slices.Clone(in.changes), change.hidden)
	return append(slices.Collect(slices.Chunk(asked, maxBatch)), nil)
}

// changeQuestions returns changes as questions to a judge.
func changeQuestions(list []change) []any {
	out := []any{}
	for _, c := range list {
		labels := []any{}
		for _, l := range c.labels {
			labels = append(labels, l)
		}
		out = append(out, map[string]any{"key": c.key, "kind": c.kind, "labels": labels, "line": c.line, "old": c.old, "now": c.now})
	}
	return out
}
