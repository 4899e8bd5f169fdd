package capy

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/seed61713e19/capstan/validators/capy/reading"
)

// dispositions wants one for every finding that the text adjudicates, and one
// at all.
func (r *run) dispositions(topic int, m Mention) []gap {
	open, closed := r.findings(topic)
	if len(closed) > 0 {
		var list []gap
		for _, e := range open {
			if !closed[e.ID] {
				closed[e.ID] = true // told once
				list = append(list, gap{e.At, fmt.Sprintf("Finding %s has no disposition: want one of accept, modify, reject", e.ID)})
			}
		}
		return list
	}
	named := reading.Place{}
	for _, e := range r.about(topic) {
		switch {
		case e.Form == reading.Prose:
		case disposed(r.under(e), e.Form):
			return nil
		case named.Line == 0:
			named = e.At
		}
	}
	if named.Line > 0 {
		return []gap{{named, fmt.Sprintf("%s named, but without a disposition", m.Title)}}
	}
	return []gap{{r.doc.Last, fmt.Sprintf("Missing %s: want a heading, a label, a table or a JSON key that names it, with a disposition", m.Title)}}
}

// findings sorts the findings into those that should have a disposition where
// they stand and have none, and those that have one somewhere. One should where
// others of its kind have: in a table with a column of dispositions, under a
// heading beside headings that have them, in JSON with a key for it, where what stands
// behind it says that it is to come.
func (r *run) findings(topic int) (open []reading.Entry, closed map[string]bool) {
	closed = map[string]bool{}
	headed := false
	var columns spans
	for _, e := range r.about(topic) {
		if e.Head {
			columns = append(columns, e)
		}
	}
	for _, e := range r.doc.Entries {
		if e.ID == "" {
			continue
		}
		body := limited(r.doc.Body(e))
		said := body
		if e.Form != reading.JSON && e.Form != reading.Cell { // their line may have others
			said = bytes.Join([][]byte{r.doc.Line(e), body}, []byte("\n"))
		}
		switch {
		case disposed(said, e.Form):
			closed[e.ID] = true
			headed = headed || e.Form == reading.Heading
		case e.Form == reading.Heading, e.Form == reading.Cell && (columns.holds(r.doc, e) || r.vacant(e) || r.undecided(e)), e.Form == reading.JSON && (dispositionLabel.Has(body) || reading.Placeholder(body)), e.Form == reading.Item && (awaited(r.doc.Rest(e)) || labelledAwaited(said)):
			open = append(open, e)
		}
	}
	return slices.DeleteFunc(open, func(e reading.Entry) bool { return e.Form == reading.Heading && !headed }), closed
}

// vacant says that there is nothing but placeholders in the row behind its name.
func (r *run) vacant(e reading.Entry) bool {
	return !slices.ContainsFunc(beside(limited(r.doc.Rest(e))), func(cell []byte) bool { return !blank(cell) })
}

// undecided says that a cell behind a name in its row is a word for what is still open.
func (r *run) undecided(e reading.Entry) bool {
	return slices.ContainsFunc(beside(limited(r.doc.Rest(e))), func(cell []byte) bool {
		start, end, ok := undecided.In(cell)
		return ok && !bytes.ContainsFunc(slices.Concat(cell[:start], cell[end:]), unicode.IsLetter)
	})
}

var undecided = reading.NewPhrases("open", "undecided", "unresolved", "under review", "under discussion", "in progress")

// awaited says that there is a placeholder behind an item's name, or behind an arrow at
// the end of what it says.
func awaited(t []byte) bool {
	for _, arrow := range []string{"->", "→", "=>"} {
		if i := bytes.LastIndex(t, []byte(arrow)); i >= 0 && blank(t[i+len(arrow):]) {
			return true
		}
	}
	t, linked := reading.Said(t)
	return linked && len(t) > 0 && reading.Placeholder(t)
}

// labelledAwaited says that a text has a label of a disposition with a placeholder
// behind it, or nothing.
func labelledAwaited(t []byte) bool {
	for line := range bytes.Lines(t) {
		if _, end, ok := dispositionLabel.In(line); ok {
			value, linked := reading.Said(line[end:])
			if end := bytes.IndexAny(value, ";,|\r\n"); end >= 0 {
				value = value[:end]
			}
			if linked && reading.Placeholder(value) {
				return true
			}
		}
	}
	return false
}

// under is what an entry says behind its name and covers.
func (r *run) under(e reading.Entry) []byte {
	return bytes.Join([][]byte{r.doc.Rest(e), limited(r.doc.Body(e))}, []byte("\n"))
}

func limited(t []byte) []byte { return t[:min(len(t), 4096)] }

// disposed says whether a text gives a disposition: behind its label, as a cell
// or item of its own, as the value of a key. A choice of several is none.
func disposed(t []byte, form reading.Form) bool {
	for line := range bytes.Lines(t) {
		if said := bytes.Trim(line, " \t\r\n>*_`:.-"); form != reading.JSON && len(said) > 0 {
			if start, end, ok := dispositions.In(said); ok && start == 0 && end == len(said) {
				return true
			}
		}
		for rest := line; ; {
			_, end, ok := dispositionLabel.In(rest)
			if !ok {
				break
			}
			rest = rest[end:]
			value := rest
			if form == reading.JSON {
				value = scalar(rest)
			}
			if value = bytes.TrimLeft(value, " *_\":)|=-–—"); dispositions.Has(value[:min(len(value), 160)]) && value[0] != ';' && !choice(value) && !reading.Placeholder(value) {
				return true
			}
			if form != reading.JSON { // of prose the first says it
				break
			}
		}
		for _, cell := range cells(line, form) {
			if start, end, ok := dispositions.In(cell); ok && !choice(cell) && (start < 3 || len(cell) < 60 || upper(cell[start:end])) {
				return true
			}
		}
	}
	return false
}

// scalar is the value behind a key of JSON, as far as the line goes: up to the
// next key, unless it is an object or array.
func scalar(t []byte) []byte {
	from := bytes.IndexByte(t[:min(len(t), maxKey)], ':') + 1
	v := bytes.TrimLeft(t[from:], " ")
	end := -1
	switch {
	case len(v) == 0 || v[0] == '{' || v[0] == '[':
	case v[0] == '"':
		end = bytes.IndexByte(v[1:], '"') + 1
	default:
		end = bytes.IndexAny(v, ",}\n")
	}
	if end < 1 {
		return v
	}
	return v[:end]
}

// maxKey is how far behind a word of a key its colon is looked for.
const maxKey = 60

// cells are the parts of a line that may be a disposition by themselves: the
// cells of a row, what stands behind the colon or dash of an item.
func cells(line []byte, form reading.Form) [][]byte {
	t := bytes.TrimSpace(line)
	if form == reading.JSON {
		return nil
	}
	if bytes.HasPrefix(t, []byte("|")) || form == reading.Cell {
		parts := bytes.FieldsFunc(t, func(c rune) bool { return c == '|' || c == '<' || c == '>' })
		return slices.DeleteFunc(parts, func(p []byte) bool { return len(bytes.TrimSpace(p)) > 120 })
	}
	for _, s := range []string{":", "：", "=", "—", "–", " - ", "→", "("} {
		if i := bytes.Index(t, []byte(s)); i > 0 && i < 160 {
			rest := bytes.Trim(t[i+len(s):], " *_`:[")
			if end := bytes.IndexByte(rest, ';'); end >= 0 && bytes.IndexByte(rest[end:], ':') > 0 {
				rest = rest[:end] // another label begins
			}
			return [][]byte{rest[:min(len(rest), 40)]}
		}
	}
	return nil
}

// choice says that several dispositions are offered, as a form does.
func choice(t []byte) bool {
	t = t[:min(len(t), 120)]
	either := bytes.ContainsAny(t, "|/") || bytes.Contains(t, []byte(" or "))
	n := 0
	for _, part := range bytes.FieldsFunc(bytes.ReplaceAll(t, []byte(" or "), []byte("|")), func(c rune) bool { return c == '|' || c == '/' || c == ',' || c == '\\' }) {
		if part = bytes.Trim(part, " *_`\"[]{}<>().\r\n"); len(part) < 30 && dispositions.Has(part) {
			n++
		}
	}
	return n > 2 || n > 1 && either
}

func upper(t []byte) bool { return strings.ToUpper(string(t)) == string(t) }

var dispositionLabel = reading.NewPhrases("disposition", "dispositions", "decision", "ruling", "adjudication", "verdict", "determination", "outcome", "resolution")

var dispositions = reading.NewPhrases("accept", "accepted", "reject", "rejected", "modify", "modified", "partial", "partially", "defer", "deferred", "uphold", "upheld", "sustain", "sustained", "overrule",
	"overruled", "dismiss", "dismissed", "adopt", "adopted", "incorporate", "incorporated", "confirm", "confirmed", "noted", "acknowledge", "acknowledged", "agree", "disagree", "resolved", "valid", "invalid",
	"override", "overridden", "concur", "implement", "implemented", "no action", "denied", "granted", "remediated", "escalate", "escalated")

// findingAt reads an identifier of a finding at t[i:]: F-1, Finding 3, ACC01,
// CF_2.
func findingAt(t []byte, i int) (id string, end int) {
	if i > 0 && (word(t[i-1]) || t[i-1] == '.' || t[i-1] == '-') {
		return "", i
	}
	if i >= len(t) || !word(t[i]) {
		return "", i
	}
	for _, name := range []string{"finding ", "issue ", "concern ", "critique ", "challenge ", "objection ", "item "} {
		if n, ok := foldPrefix(t[i:], name); ok {
			for i+n < len(t) && (t[i+n] == '#' || t[i+n] == ' ') {
				n++
			}
			if w := firstWord(t[i+n:]); len(w) > 0 && (w[0] >= '0' && w[0] <= '9' && len(w) <= 3 || len(w) == 1 && w[0] >= 'A' && w[0] <= 'Z') {
				return strings.ToUpper(string(w)), i + n + len(w)
			}
			if id, end := findingAt(t, i+n); id != "" {
				return id, end
			}
		}
	}
	return codeAt(t, i)
}

// findingCodes are the letters that identifiers of findings begin with.
var findingCodes = reading.Set("F", "FN", "CF", "SC", "ACC", "FIT", "EPI", "RT", "DIST", "ER", "ECON", "RED", "FM", "EG", "AO", "SG", "C", "H", "AUD", "FND", "FINDING", "CRIT", "MAJ", "MIN", "DC", "EI", "SI", "PF", "RF", "AF", "DF", "EF", "OV", "UV", "FM_OV", "FM_UV")

// codeAt reads letters and a number: F-1, ACC01, FM_OV_1.
func codeAt(t []byte, i int) (id string, end int) {
	end = i
	for end < len(t) && end-i < 8 && (t[end] >= 'A' && t[end] <= 'Z' || t[end] == '_' && end > i) {
		end++
	}
	if end == i {
		return "", i
	}
	letters := string(bytes.TrimRight(t[i:end], "_"))
	if !findingCodes[letters] {
		return "", i
	}
	single := len(letters) == 1
	dash := end > i+len(letters)
	if end+1 < len(t) && t[end] == '\\' && t[end+1] == '-' {
		end++
	}
	if end < len(t) && (t[end] == '-' || t[end] == '#') {
		end++
		dash = true
	}
	digits := end
	for end < len(t) && end-digits < 3 && t[end] >= '0' && t[end] <= '9' {
		end++
	}
	if end == digits || end < len(t) && (word(t[end]) || t[end] == '.' && end+1 < len(t) && word(t[end+1])) || single && !dash && letters != "F" || letters == "A" && !dash {
		return "", i
	}
	return letters + "-" + strings.TrimLeft(string(t[digits:end]), "0"), end
}
