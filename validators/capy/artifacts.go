package capy

import (
	"bytes"
	"fmt"
	"slices"
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
		return holdsJSON(body) && !statusOnly(r.doc.Title(e))
	}
	named := false
	for _, m := range (title{r.doc.Title(e), r.query.words}).namings() {
		if m.n == int(e.Artifact) {
			named = named || m.strong || m.named && !e.Numbered && (e.Form == reading.Heading || len(r.doc.Title(e)) <= len("A.99"))
		}
	}
	if !named {
		return false
	}
	if bytes.Contains(r.doc.Line(e), []byte("<summary")) {
		body, _, _ = bytes.Cut(body, []byte("</details"))
		return content(uncommented(body))
	}
	if e.Form == reading.Label { // a bold line is a heading where a block follows
		body = bytes.TrimSpace(body)
		return bytes.HasPrefix(body, []byte("{")) || (fenced(body) || bytes.HasPrefix(body, []byte("|"))) && content(block(body))
	}
	return content(uncommented(body))
}

// statusOnly says that a key A.n_STATUS tells how the artifact stands, and is
// none.
func statusOnly(key []byte) bool {
	n, end, _ := reading.ArtifactAt(key, 0)
	return n > 0 && !slices.ContainsFunc(strings.FieldsFunc(string(key[end:]), func(c rune) bool { return c == '_' || c == '-' || c == ' ' }), func(w string) bool { return !statuses[strings.ToLower(w)] }) && len(bytes.Trim(key[end:], "_- ")) > 0
}

var statuses = reading.Set("status", "checklist", "validation", "verification", "check", "checks", "generated", "present", "complete", "completeness", "missing", "required", "inventory")

// holdsJSON says whether the value of an artifact's key is one: an object, an
// array or a long text, and no template to be filled in.
func holdsJSON(v []byte) bool {
	v = bytes.TrimLeft(v, ": \t\r\n")
	switch {
	case len(v) == 0 || reading.Placeholder(v):
		return false
	case v[0] == '{' || v[0] == '[':
		return !template(v) && !hollow(v[:min(len(v), maxBody)])
	}
	return v[0] == '"' && (len(v) > 60 || reading.KeyArtifact(bytes.Trim(v, `"`)) > 0 || bytes.HasPrefix(v, []byte(`"G3`)))
}
