package capy

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/seed61713e19/capstan/validators/capy/reading"
)

// A gap is something that a stage's row asks for and the text does not hold.
type gap struct {
	at      reading.Place
	message string
}

// gaps lists what the row asks for beside the artifacts and is not there.
func (r *run) gaps() []gap {
	var list []gap
	for topic, m := range r.query.mentions {
		list = append(list, r.mention(topic, m)...)
	}
	for _, need := range r.stage.Needs {
		switch m := reading.MetricOf(need); {
		case need == needScenarios:
			list = append(list, r.scenarios()...)
		case m != reading.None && r.policy.Mentions[need].Wants == "":
			list = append(list, r.value(m)...)
		}
	}
	if r.stage.Questions != nil {
		list = append(list, r.questions()...)
	}
	return list
}

// value wants a value of the metric stated that is the stage's own.
func (r *run) value(m reading.Metric) []gap {
	var absent, quoted *reading.Statement
	inJSON, ok := false, false
	for i := range r.doc.Statements {
		s := &r.doc.Statements[i]
		if s.Metric != m && !(m == reading.XFinal && s.Has(reading.Inner) && s.Metric == reading.XRefine) || s.Has(reading.Loose|reading.Range) || s.Hushed() && m == reading.IVPS {
			continue
		}
		switch {
		case s.Has(reading.Unseen):
		case s.Has(reading.Absent):
			if absent == nil && !r.stage.quotes(*s) {
				absent = s
			}
		case r.stage.quotes(*s):
			quoted = s
		default:
			ok = true
			inJSON = inJSON || s.Form == reading.JSON
		}
	}
	switch {
	case ok && (inJSON || absent == nil || absent.Form != reading.JSON):
		return nil
	case absent != nil:
		return []gap{{absent.At, m.String() + " has no value: " + r.doc.Quote(*absent)}}
	case quoted != nil:
		return []gap{{quoted.At, m.String() + " of this stage is not stated, only an earlier stage's: " + r.doc.Quote(*quoted)}}
	}
	return []gap{{r.doc.Last, m.String() + " is not stated with a value: want, for instance, " + example(m)}}
}

func example(m reading.Metric) string {
	switch m {
	case reading.IVPS:
		return "IVPS: $23.45"
	case reading.EIVPS:
		return "E[IVPS]: $23.45"
	case reading.EIRR:
		return "E[IRR]: 12.5%"
	case reading.PIRR:
		return "P(IRR > Hurdle): 40%"
	}
	return m.String() + " = 1.8"
}

// scenarios wants P and M of S1 to S4.
func (r *run) scenarios() []gap {
	var p, m [reading.ScenarioCount + 1]bool
	for _, s := range r.doc.Statements {
		switch {
		case s.Scenario == 0 || s.Has(reading.Absent|reading.Unseen):
		case s.Metric == reading.Probability:
			p[s.Scenario] = true
		case s.Metric == reading.Magnitude:
			m[s.Scenario] = true
		}
	}
	var list []gap
	last := r.doc.Last
	for n := 1; n <= reading.ScenarioCount; n++ {
		at := r.doc.Scenarios[n]
		switch {
		case at.Line == 0:
			list = append(list, gap{last, fmt.Sprintf("Missing scenario S%d with its P and M estimates", n)})
			continue
		case !p[n] && !m[n]:
			list = append(list, gap{at, fmt.Sprintf("Scenario S%d has neither a P nor an M estimate", n)})
		case !p[n]:
			list = append(list, gap{at, fmt.Sprintf("Scenario S%d has no P estimate: want, for instance, P = 0.30", n)})
		case !m[n]:
			list = append(list, gap{at, fmt.Sprintf("Scenario S%d has no M estimate: want, for instance, M = -12%%", n)})
		}
		last = at
	}
	return list
}

// wantsDisposition is what only the findings together can show, wantsNarrative
// what a comment may be the heading of, wantsNumber what the cells of a table are looked
// at for.
const (
	wantsNumber      = "number"
	wantsDisposition = "disposition"
	wantsNarrative   = "narrative"
)

// wants are the tests of what an entry holds.
var wants = map[string]func(*reading.Document, reading.Entry) bool{
	"present":      present,
	"value":        valued,
	wantsNumber:    numbered,
	"grade":        graded,
	wantsNarrative: narrated,
}

// mention wants an entry that names something and holds what is wanted of it.
func (r *run) mention(topic int, m Mention) []gap {
	if m.Wants == wantsDisposition {
		return r.dispositions(topic, m)
	}
	entries := r.about(topic)
	owed := r.owed(m, entries)
	for _, e := range entries {
		if wants[m.Wants](r.doc, e) && !awaits(r.doc, e) && !owed(e) && (m.Wants == wantsNarrative || !bytes.HasPrefix(bytes.TrimSpace(r.doc.Line(e)), []byte("<!--"))) {
			return nil
		}
	}
	if m.Artifact != "" {
		if _, ok := r.artifacts()[artifactNumber(m.Artifact)]; ok {
			return nil
		}
	}
	if metric := reading.MetricOf(m.Metric); metric != reading.None && r.states(metric) {
		return nil
	}
	for _, e := range entries {
		if e.Form != reading.Prose {
			return []gap{{e.At, fmt.Sprintf("%s named, but without %s", m.Title, article(m.Wants))}}
		}
	}
	return []gap{{r.doc.Last, fmt.Sprintf("Missing %s: want a heading, a label, a table or a JSON key that names it, with %s", m.Title, article(m.Wants))}}
}

// states says whether the text states a value of a metric, or, of JPD, adds up
// joint states.
func (r *run) states(m reading.Metric) bool {
	return m == reading.JPD && slices.ContainsFunc(r.doc.Tallies, func(t reading.Tally) bool { return t.N > 1 && !t.Top }) ||
		slices.ContainsFunc(r.doc.Statements, func(s reading.Statement) bool { return s.Metric == m && !s.Has(reading.Absent|reading.Unseen) })
}

func article(want string) string {
	if want == "present" {
		return "its content"
	}
	return "a " + want
}

// body is what an entry covers, as far as it is looked at; for a label, what it
// says behind its link.
func body(d *reading.Document, e reading.Entry) []byte {
	t := d.Body(e)
	if t = t[:min(len(t), maxBody)]; e.Form != reading.JSON {
		t = uncommented(t)
	}
	if e.Form != reading.Label && e.Form != reading.Prose {
		return t
	}
	if rest, linked := reading.Said(t); linked && len(d.Rest(e)) >= len(t) {
		return beforeNext(rest)
	}
	if e.Form == reading.Label && len(trimmed(d.Rest(e))) == 0 {
		return below(d, e, t)
	}
	return t
}

// beforeNext is a placeholder without the labels behind it on its line: CR: TBD; τ: 0.6.
func beforeNext(said []byte) []byte {
	if end := bytes.IndexAny(said, ";|,"); end >= 0 && blank(said[:end]) && bytes.ContainsAny(said[end:], ":=") {
		return said[:end]
	}
	return said
}

// below is what stands under a label that says nothing on its own line: of an item up to
// the next one, of a paragraph the line behind it.
func below(d *reading.Document, e reading.Entry, t []byte) []byte {
	if line := d.Line(e); isItem(line) {
		mark := bytes.IndexAny(line, "-*+") + 1
		if end := bytes.Index(t, append([]byte{'\n'}, line[:mark+1]...)); end >= 0 {
			return t[:end]
		}
		return t
	}
	next := d.Next(e)
	if _, linked := reading.Said(next); len(trimmed(t)) == 0 && len(next) > 0 && !linked && bytes.IndexByte([]byte("#*<-"), next[0]) < 0 {
		return next
	}
	return t
}

// present wants something under a heading or behind a label.
func present(d *reading.Document, e reading.Entry) bool {
	t := body(d, e)
	switch e.Form {
	case reading.Prose:
		return false
	case reading.Heading:
		return content(t) && !disclaimers.Has(d.Title(e)) && !disclaimers.Has(d.Rest(e))
	}
	return len(bytes.Trim(t, " \t\r\n|*:{}[]\"")) > 0 && !unmade(trimmed(t)) && filled(d, e)
}

// valued wants something that is no placeholder.
func valued(d *reading.Document, e reading.Entry) bool {
	t := body(d, e)
	switch e.Form {
	case reading.JSON:
		return string(t) == "[]" || !unmade(trimmed(t)) && !template(t)
	case reading.Heading:
		rest, linked := reading.Said(d.Rest(e))
		return content(t) && !disclaimers.Has(d.Rest(e)) || linked && len(rest) > 0 && !unmade(rest)
	}
	said := trimmed(t)
	return len(said) > 0 && !unmade(said) && borrowed.Begin(said) == 0 && filled(d, e)
}

// trimmed is what an entry says without the marks that set it off.
func trimmed(t []byte) []byte { return bytes.Trim(t, " \t\r\n|*:=_\"") }

// numbered wants a number, of a table's head one in its own column.
func numbered(d *reading.Document, e reading.Entry) bool {
	if e.Head {
		return slices.ContainsFunc(d.Column(e), func(cell []byte) bool { return !unmade(trimmed(cell)) && hasNumber(cell) })
	}
	t := body(d, e)
	if e.Form == reading.Heading {
		return hasNumber(t) && content(t) || hasNumber(d.Rest(e))
	}
	if e.Form == reading.Prose && len(t) == 0 || unmade(trimmed(t)) {
		return false
	}
	return hasNumber(t)
}

// hasNumber says that a text has a digit that is not part of a name, such as
// S1 or T2.
func hasNumber(t []byte) bool {
	for i, c := range t {
		if c >= '0' && c <= '9' && (i == 0 || !word(t[i-1]) && t[i-1] != '^' || t[i-1] >= '0' && t[i-1] <= '9' && numberBefore(t, i)) {
			return true
		}
	}
	return false
}

func numberBefore(t []byte, i int) bool {
	for i > 0 && t[i-1] >= '0' && t[i-1] <= '9' {
		i--
	}
	return i == 0 || !word(t[i-1])
}

// graded wants a letter, or a grade in words behind a link.
func graded(d *reading.Document, e reading.Entry) bool {
	t := body(d, e)
	if e.Form == reading.JSON && len(t) > 0 && t[0] != '{' && t[0] != '[' {
		return !reading.Placeholder(t) && len(t) < 80 && t[0] == '"'
	}
	if e.Form != reading.Heading && e.Form != reading.JSON {
		t = bytes.Trim(t, " \t\r\n|*:=_")
		if len(t) > 0 && len(t) < 120 && !reading.Placeholder(t) && (letterGrade(t) || e.Form == reading.Cell) {
			return true
		}
	}
	for line := range bytes.Lines(t) {
		if gradeLine(line) || e.Form == reading.Heading && signedGrade(line) {
			return true
		}
	}
	rest, linked := reading.Said(d.Rest(e))
	return linked && letterGrade(rest) || e.Form == reading.Label && !linked && gradeLine(d.Next(e))
}

// gradeLine says that a line is a grade, or names one.
func gradeLine(line []byte) bool {
	if _, end, ok := gradeWords.In(line); ok {
		rest, linked := reading.Said(bytes.TrimLeft(line[end:], `"`))
		rest = bytes.Trim(rest, " \t\r\n\",|*")
		if i := bytes.IndexFunc(rest, func(r rune) bool { return r < 0x2000 && r != '*' && r != ' ' }); i > 0 {
			rest = rest[i:] // behind a picture
		}
		if linked && len(rest) > 0 && !reading.Placeholder(rest) && rest[0] != '{' && (letterGrade(rest) || len(rest) < 40) || letterGrade(line[end:]) {
			return true
		}
	}
	t := bytes.Trim(line, " \t\r\n*_")
	return len(t) <= 4 && bytes.IndexByte(t, ' ') < 0 && letterGrade(t)
}

// signedGrade finds a B+ in a sentence: I give this a B+.
func signedGrade(line []byte) bool {
	given := false
	for w := range bytes.FieldsSeq(line[:min(len(line), 200)]) {
		bare := bytes.Trim(w, "*_`().,;:\"")
		if given && len(bare) == 2 && bare[0] >= 'A' && bare[0] <= 'F' && (bare[1] == '+' || bare[1] == '-') {
			return true
		}
		given = giving[string(w)]
	}
	return false
}

// giving are the words that a grade follows in a sentence.
var giving = reading.Set("a", "an", "is", "at", "of", "as")

// letterGrade finds B+ among the first few words.
func letterGrade(t []byte) bool {
	for w := range bytes.FieldsSeq(t[:min(len(t), 40)]) {
		if end := bytes.IndexByte(w, '>'); w[0] == '<' && end >= 0 {
			w = w[end+1:]
		}
		w, _, _ = bytes.Cut(w, []byte{'<'})
		w = bytes.Trim(w, "*_`().,;:\"|$")
		if len(w) == 0 || w[0] < 'A' || w[0] > 'F' {
			continue
		}
		switch string(w[1:]) {
		case "", "+", "-", "−", "–", `\+`, `\-`:
			return true
		}
	}
	return false
}

var gradeWords = reading.NewPhrases("grade", "rating", "score", "overall", "verdict", "assessment", "fit")

// narrativeWords is how many words a narrative has at least.
const narrativeWords = 12

// narrated wants running text under a heading, or in a long string.
func narrated(d *reading.Document, e reading.Entry) bool {
	t := body(d, e)
	switch e.Form {
	case reading.Heading, reading.JSON:
	case reading.Label:
		if whole := bytes.TrimSpace(d.Line(e)); !(bytes.HasPrefix(whole, []byte("**")) && bytes.HasSuffix(whole, []byte("**"))) && !bytes.HasPrefix(whole, []byte("==")) && !bytes.HasPrefix(whole, []byte("<!--")) {
			return false
		}
		t = d.Following(e)
	default:
		return false
	}
	return reading.CountWords(t[:min(len(t), 4000)]) >= narrativeWords && !reading.Placeholder(t)
}
