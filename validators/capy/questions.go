package capy

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/validators/capy/reading"
)

// A question is a research question that the text asks.
type question struct {
	id       string
	at       reading.Place
	platform string
}

// maxQuestions bounds how many are counted.
const maxQuestions = 200

// questions wants exactly the research questions of the policy.
func (r *run) questions() []gap {
	asked := r.asked()
	if ids := r.stage.Questions.IDs; len(ids) > 0 {
		return exactly(r.doc.Last, ids, asked)
	}
	want := r.stage.Questions.Platforms
	total := 0
	for _, n := range want {
		total += n
	}
	list := counted(asked, total)
	if len(list) == 0 {
		return []gap{{r.doc.Last, fmt.Sprintf("no research questions: want exactly %d RQs: %s", total, tally(want))}}
	}
	if len(list) != total {
		return []gap{{list[len(list)-1].at, fmt.Sprintf("%d RQs (%s): want exactly %d: %s", len(list), idsOf(list), total, tally(want))}}
	}
	got := map[string]int{}
	for _, q := range list {
		got[q.platform]++
	}
	if maps.Equal(got, want) {
		return nil
	}
	return []gap{{list[0].at, fmt.Sprintf("the %d RQs are %s: want %s", total, tally(got), tally(want))}}
}

// asked lists the questions that are asked, each once, with its platform:
// where several entries are of one, the first that says it.
func (r *run) asked() []*question {
	known := map[string]*question{}
	var order []*question
	rejected := r.ranges(topicRejected)
	led := "" // the platform that a line names which leads a list of questions in
	for _, e := range r.doc.Entries {
		if e.ID == "" {
			led = r.leading(e, led)
		}
		if e.ID == "" || rejected.holds(r.doc, e) || isRejected(r.doc, e) || (e.Form == reading.Heading || e.Form == reading.Item) && rangeOfIDs(r.doc.Rest(e)) {
			continue
		}
		q := known[e.ID]
		if q == nil {
			if len(order) >= maxQuestions {
				break
			}
			q = &question{id: e.ID, at: e.At}
			known[e.ID] = q
			order = append(order, q)
		}
		if q.platform == "" {
			q.platform = r.platform(e)
		}
		if q.platform == "" && e.Form == reading.Item {
			q.platform = led
		}
	}
	return order
}

// leading is the platform of the questions below an entry, before it that of those above.
func (r *run) leading(e reading.Entry, before string) string {
	line := bytes.TrimRight(r.doc.Line(e), " \t\r\n*_")
	switch {
	case e.Form == reading.Heading:
		return ""
	case e.Topics == 0 || !bytes.HasSuffix(line, []byte{':'}) && reading.CountWords(line) > fewWords:
		return before
	case gdrNames.Has(line) && asNames.Has(line):
		return ""
	}
	return platformIn(line)
}

func isRejected(d *reading.Document, e reading.Entry) bool {
	line := d.Line(e)
	return e.Form == reading.Item && rejections.Has(line[:min(len(line), 120)])
}

var rejections = reading.NewPhrases(extraPhrases[topicRejected]...)

// platform finds out of which platform a question is: by its identifier, by its
// line, by what stands under it, by the heading or key around it.
func (r *run) platform(e reading.Entry) string {
	for _, p := range []string{"GDR", "AS"} {
		if strings.Contains(e.ID, p) {
			return p
		}
	}
	switch e.Form {
	case reading.JSON:
		if p := platformField(r.doc.Body(e)); p != "" {
			return p
		}
	case reading.Cell:
		for _, cell := range beside(limited(r.doc.Body(e))) {
			if p := platformIn(cell); p != "" && len(cell) < 44 {
				return p
			}
		}
	default:
		line := r.doc.Line(e)
		if p := platformIn(line[:min(len(line), 200)]); p != "" {
			return p
		}
		if p := platformField(r.doc.Body(e)); p != "" {
			return p
		}
	}
	switch {
	case r.ranges(topicGDR).holds(r.doc, e):
		return "GDR"
	case r.ranges(topicAS).holds(r.doc, e):
		return "AS"
	}
	return ""
}

// spans are stretches of text: what headings and keys cover.
type spans []reading.Entry

// ranges are what the headings and keys of a topic cover.
func (r *run) ranges(topic int) spans {
	return slices.DeleteFunc(r.extra(topic), func(e reading.Entry) bool {
		return e.ID != "" || e.Form != reading.Heading && e.Form != reading.JSON
	})
}

// holds says whether an entry stands in one of the stretches.
func (list spans) holds(d *reading.Document, e reading.Entry) bool {
	return slices.ContainsFunc(list, func(s reading.Entry) bool { return s != e && d.Covers(s, e) })
}

// platformFields are words for what asks a question.
var platformFields = reading.NewPhrases("platform", "tool", "allocation", "source", "engine", "type", "channel", "route", "routing", "assigned", "target", "execution")

// platformField finds the platform that a label or key under a question names.
func platformField(t []byte) string {
	for line := range bytes.Lines(t[:min(len(t), maxBody)]) {
		for rest := line; ; {
			_, end, ok := platformFields.In(rest)
			if !ok {
				break
			}
			rest = rest[end:]
			if value, linked := reading.Said(rest); linked {
				if p := platformIn(value[:min(len(value), 60)]); p != "" {
					return p
				}
			}
		}
	}
	return ""
}

var (
	gdrNames = reading.NewPhrases("GDR", "gemini", "deep research")
	asNames  = reading.NewPhrases("AS", "alphasense", "alpha sense")
)

// platformIn finds the name of a platform in a text.
func platformIn(t []byte) string {
	switch {
	case gdrNames.Has(t):
		return "GDR"
	case asNames.Has(t):
		return "AS"
	}
	return ""
}

// counted are the questions by one kind of identifier: RQ1 and so on, or, if
// those do not come out right, AS-1 and GDR-1.
func counted(asked []*question, total int) []*question {
	var plain, byName []*question
	for _, q := range asked {
		if strings.HasPrefix(q.id, "RQ") {
			plain = append(plain, q)
		} else {
			byName = append(byName, q)
		}
	}
	if len(plain) == 0 || len(plain) != total && len(byName) == total {
		return byName
	}
	return plain
}

func tally(n map[string]int) string {
	var words []string
	for _, p := range slices.Sorted(maps.Keys(n)) {
		name := cmp.Or(p, "without a platform")
		words = append(words, fmt.Sprintf("%d %s", n[p], name))
	}
	return strings.Join(words, ", ")
}

func idsOf(list []*question) string {
	var words []string
	for _, q := range list[:min(len(list), 12)] {
		words = append(words, q.id)
	}
	return strings.Join(words, ", ")
}

// exactly compares with the identifiers of the policy.
func exactly(last reading.Place, want []string, asked []*question) []gap {
	var missing, extra []string
	at := last
	for _, id := range want {
		if !slices.ContainsFunc(asked, func(q *question) bool { return q.id == id }) {
			missing = append(missing, id)
		}
	}
	for _, q := range asked {
		if !slices.Contains(want, q.id) {
			extra = append(extra, q.id)
			at = q.at
		}
	}
	all := strings.Join(want, ", ")
	var list []gap
	if len(missing) > 0 {
		list = append(list, gap{last, fmt.Sprintf("Missing RQs %s: want exactly %s", strings.Join(missing, ", "), all)})
	}
	if len(extra) > 0 {
		list = append(list, gap{at, fmt.Sprintf("RQs %s are not asked for: want exactly %s", strings.Join(extra, ", "), all)})
	}
	return list
}
