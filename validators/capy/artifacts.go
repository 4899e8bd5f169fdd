package capy

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/seed61713e19/capstan/validators/capy/reading"
)

// artifactNumber reads A.n; 0 for anything else.
func artifactNumber(name string) int {
	digits, ok := strings.CutPrefix(name, "A.")
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < 1 || n > 99 {
		return 0
	}
	return n
}

// artifactsCheck is check 2: the artifacts and what else the stage's row asks
// for.
func (r *run) artifactsCheck(f *findings) {
	at, after := reading.Top, ""
	var missing []string
	found := r.artifacts()
	for _, name := range r.stage.Artifacts {
		n := artifactNumber(name)
		if place, ok := found[n]; ok {
			at, after = place, name
			continue
		}
		missing = append(missing, name)
		where := at
		if after == "" {
			where = r.doc.Last
		}
		f.fail(where, "Missing %s (%s): want a heading or a JSON key that names it%s", name, r.policy.Artifacts[name].Title, behind(after))
	}
	gaps := r.gaps()
	for _, g := range gaps {
		f.fail(g.at, "%s", g.message)
	}
	if len(missing) > 0 && len(gaps) == 0 {
		f.note = "Missing " + strings.Join(missing, ", ")
	}
}

func behind(name string) string {
	if name == "" {
		return ""
	}
	return fmt.Sprintf(", expected after %s", name)
}

// artifacts finds those of the stage's artifacts that are there, and where.
func (r *run) artifacts() map[int]reading.Place {
	found := map[int]reading.Place{}
	missing := map[int]bool{}
	for _, name := range r.stage.Artifacts {
		missing[artifactNumber(name)] = true
	}
	delete(missing, 0)
	note := func(n int, at reading.Place) {
		found[n] = at
		delete(missing, n)
	}
	for _, e := range r.doc.Entries {
		if n := int(e.Artifact); n > 0 && missing[n] && r.holds(e) {
			note(n, e.At)
		}
	}
	for _, k := range r.files {
		if missing[k.artifact] {
			note(k.artifact, k.at)
		}
	}
	return found
}

// holds says whether an entry that speaks of an artifact names it and has
// something in it.
func (r *run) holds(e reading.Entry) bool {
	body := r.doc.Body(e)
	if e.Form == reading.JSON {
		return holdsJSON(body)
	}
	named := false
	for _, m := range (title{r.doc.Title(e), r.query.words}).namings() {
		if m.n == int(e.Artifact) {
			named = named || m.strong || m.named && !e.Numbered && e.Form == reading.Heading
		}
	}
	if !named {
		return false
	}
	if e.Form == reading.Label { // a bold line is a heading where a block follows
		body = bytes.TrimSpace(body)
		return bytes.HasPrefix(body, []byte("```")) || bytes.HasPrefix(body, []byte("~~~")) || bytes.HasPrefix(body, []byte("|"))
	}
	return content(body)
}

// holdsJSON says whether the value of an artifact's key is one: an object, an
// array or a long text, and no template to be filled in.
func holdsJSON(v []byte) bool {
	v = bytes.TrimLeft(v, ": \t\r\n")
	switch {
	case len(v) == 0 || reading.Placeholder(v):
		return false
	case v[0] == '{' || v[0] == '[':
		return !template(v)
	}
	return v[0] == '"' && (len(v) > 60 || reading.KeyArtifact(bytes.Trim(v, `"`)) > 0 || bytes.HasPrefix(v, []byte(`"G3`)))
}

// maxBody is how much of an entry's body is looked at.
const maxBody = 1 << 14

// content says whether there is something under a heading: a line that is no
// heading, no placeholder and no word of where else it is, and not only
// templates.
func content(body []byte) bool {
	body = body[:min(len(body), maxBody)]
	lines := 0
	for line := range bytes.Lines(body) {
		t := bytes.Trim(line, " \t\r\n*_-|")
		if len(t) == 0 || t[0] == '#' || reading.Placeholder(t) {
			continue
		}
		if lines++; lines > 3 {
			break
		}
	}
	switch {
	case lines == 0:
		return false
	case lines == 1 && len(bytes.TrimSpace(body)) < 200 && (disclaimers.Has(body) || elsewhere.Has(body) || bytes.Contains(body, []byte(".json"))):
		return false
	}
	return !template(body)
}

var elsewhere = reading.NewPhrases("in another file", "separate file", "see file", "see attached", "attached separately", "in the file", "provided separately")

// How many of a block's values, one in so many, make it a template.
const (
	templateShare = 2
	templateLeast = 3
)

// template says whether JSON is one that is to be filled in: most of its values
// are placeholders or names of types.
func template(t []byte) bool {
	t = t[:min(len(t), maxBody)]
	pairs, blanks := 0, 0
	for {
		i := bytes.Index(t, []byte(`":`))
		if i < 0 {
			break
		}
		for t = t[i+2:]; len(t) > 0 && (t[0] == ' ' || t[0] == '\t'); t = t[1:] {
		}
		if len(t) == 0 || t[0] == '{' || t[0] == '[' && !bytes.HasPrefix(t, []byte("[...")) {
			continue
		}
		pairs++
		end := 0
		for end < len(t) && end < 200 && t[end] != ',' && t[end] != '\n' && t[end] != '}' {
			end++
		}
		if blankValue(bytes.Trim(t[:end], " \t\r\"]")) {
			blanks++
		}
	}
	return blanks >= templateLeast && blanks*templateShare > pairs
}

// blankValue says that a value stands for one: <float>, string, X.XX.
func blankValue(v []byte) bool {
	if len(v) == 0 {
		return false
	}
	var room [20]byte
	lower := room[:copy(room[:], v)]
	for i, c := range lower {
		if c >= 'A' && c <= 'Z' {
			lower[i] |= 0x20
		}
	}
	switch string(lower) {
	case "string", "float", "number", "integer", "int", "boolean", "bool", "array", "object", "date", "decimal", "value", "text", "true|false", "yyyy-mm-dd", "str", "0.xx", "iso-8601":
		return true
	case "null":
		return false
	}
	return reading.Placeholder(v) || v[0] == '<' || v[0] == '{' || bytes.Contains(v, []byte("...")) || bytes.Contains(v, []byte("|")) || bytes.Contains(v, []byte("X.X")) || bytes.Contains(v, []byte("XX"))
}
