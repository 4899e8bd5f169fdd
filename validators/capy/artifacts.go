package capy

import (
	"bytes"
	"fmt"
	"strings"
)

// maxArtifact is the highest n of an artifact A.n.
const maxArtifact = 99

// artifactNumber reads A.n, the whole of t; 0 for anything else.
func artifactNumber(t []byte) int {
	n, end, dotted := artifactAt(t, 0)
	if end != len(t) || !dotted {
		return 0
	}
	return n
}

// artifactAt reads A.n or An at t[i:].
func artifactAt(t []byte, i int) (n, end int, dotted bool) {
	if i >= len(t) || t[i] != 'A' {
		return 0, i, false
	}
	end = i + 1
	if end < len(t) && t[end] == '.' {
		dotted = true
		end++
	}
	start := end
	for end < len(t) && isDigit(t[end]) && end-start < 3 {
		n = n*10 + int(t[end]-'0')
		end++
	}
	if end == start || n == 0 || n > maxArtifact || t[start] == '0' {
		return 0, i, false
	}
	if end < len(t) && (isASCIIWord(t[end]) || t[end] == '.' && end+1 < len(t) && isDigit(t[end+1])) {
		return 0, i, false // A.7.1, A.7b
	}
	return n, end, dotted
}

// keyArtifact reads a JSON key A.n_NAME; a key without a name must have the
// point.
func keyArtifact(key []byte) int8 {
	n, end, dotted := artifactAt(key, 0)
	if n == 0 || end < len(key) && key[end] != '_' && key[end] != ' ' && key[end] != '-' && key[end] != ':' || end == len(key) && !dotted {
		return 0
	}
	return int8(n)
}

// A gallery finds the artifacts that a text holds.
type gallery struct {
	policy   *Policy
	names    map[int]map[string]bool
	found    [maxArtifact + 1]place
	sections [7]bool // by level: the heading is Section A, whose parts are numbered A.1, A.2 …
	bold     int     // named by a bold line, if a fence or a table follows
	boldAt   place
	depth    int // of a list of artifacts in JSON, which holds none
}

func newGallery(p *Policy) *gallery {
	g := &gallery{policy: p, names: map[int]map[string]bool{}}
	for name, a := range p.Artifacts {
		g.names[artifactNumber([]byte(name))] = set(a.Words...)
	}
	return g
}

func (g *gallery) has(n int) bool { return g.found[n].line > 0 }

func (g *gallery) find(n int, at place) {
	if n > 0 && n <= maxArtifact && !g.has(n) {
		g.found[n] = at
	}
}

func (g *gallery) line(l *line) {
	if g.bold > 0 && (l.kind == fence || l.kind == row) {
		g.find(g.bold, g.boldAt)
	}
	g.bold = 0
	switch l.kind {
	case heading:
		g.heading(l)
	case prose:
		g.boldLine(l)
		g.looseKey(l)
	}
}

// looseKey reads "A.7_NAME": { outside of a fence.
func (g *gallery) looseKey(l *line) {
	t := l.text
	if len(t) < 6 || t[0] != '"' || t[1] != 'A' {
		return
	}
	end := bytes.IndexByte(t[1:], '"')
	if end < 0 {
		return
	}
	rest := bytes.TrimLeft(t[end+2:], " ")
	if len(rest) == 0 || rest[0] != ':' {
		return
	}
	if c := firstByte(rest[1:]); c == '{' || c == '[' {
		g.find(int(keyArtifact(t[1:end+1])), l.at)
	}
}

// boldLine reads a line that is all bold as a heading, if it says the whole
// name.
func (g *gallery) boldLine(l *line) {
	t := bytes.TrimSpace(l.text)
	if len(t) < 6 || len(t) > 200 || !bytes.HasPrefix(t, []byte("**")) || !bytes.HasSuffix(bytes.TrimRight(t, ":"), []byte("**")) {
		return
	}
	for _, m := range g.mentions(trimMarks(bytes.TrimRight(t, ":"))) {
		if m.strong {
			g.bold, g.boldAt = m.n, l.at
		}
	}
}

func (g *gallery) heading(l *line) {
	for level := l.level; level < len(g.sections); level++ {
		g.sections[level] = level == l.level && sectionA(l.text)
	}
	numbered := false
	for level := range l.level {
		numbered = numbered || g.sections[level]
	}
	for _, m := range g.mentions(l.text) {
		if m.strong || m.named && !numbered {
			g.find(m.n, l.at)
		}
	}
}

// sectionA says that a heading's parts would be numbered A.1, A.2 and so on.
func sectionA(title []byte) bool {
	title = bytes.TrimLeft(title, " *_")
	for _, s := range []string{"section a", "part a", "appendix a", "annex a", "phase a", "step a"} {
		if n, ok := hasFold(title, s); ok && (n == len(title) || !isASCIIWord(title[n])) {
			return true
		}
	}
	return len(title) > 1 && title[0] == 'A' && (title[1] == '.' && (len(title) == 2 || title[2] == ' ') || title[1] == ':' || title[1] == ')')
}

var fillers = set("the", "and", "of", "json", "artifact", "updated", "final", "for", "t1", "t2", "refine", "post", "enriched", "corrected", "complete", "full", "amended", "revised", "state", "base", "new", "version")

var disclaimers = newPhrases("missing", "not generated", "not produced", "not present", "not included", "not available", "not provided", "omitted", "to be generated", "to be produced", "pending", "deferred",
	"tbd", "absent", "skipped", "n/a", "not applicable", "not yet", "to be completed", "not required")

// disclaims says that a heading tells that something is not there.
func disclaims(title []byte) bool { return disclaimers.has(title) }

// lists are keys of containers that say what there should be.
var lists = []string{"inventory", "status", "checklist", "manifest", "validation", "verification", "missing", "required", "received", "loaded", "consumed", "references", "dependencies"}

func (g *gallery) json(e *event) {
	if e.kind == closes {
		if g.depth > 0 && e.depth < g.depth {
			g.depth = 0
		}
		return
	}
	if e.kind == opens && g.depth == 0 && len(e.key) > 0 {
		if l := tokens(e.key); e.class.artifact == 0 && l.has(lists...) {
			g.depth = e.depth + 1
		}
	}
	if g.depth > 0 {
		return
	}
	switch {
	case e.class.artifact > 0 && e.kind == opens:
		g.find(int(e.class.artifact), e.at)
	case e.class.artifact > 0 && len(e.value) > 60 && e.value[0] == '"' && !placeholder(e.value):
		g.find(int(e.class.artifact), e.at)
	case e.kind == scalar && e.depth <= 2 && len(e.value) > 4 && e.value[0] == '"' && artifactField(e.key):
		g.find(int(keyArtifact(bytes.Trim(e.value, `"`))), e.at)
	case e.at.source > 0 && e.kind == opens && e.depth <= 2:
		g.find(signature(e.key), e.at)
	}
}

// artifactField is a key whose value says which artifact an object is.
func artifactField(key []byte) bool {
	var buf wordBuffer
	switch string(buf.fold(key[:min(len(key), 20)])) {
	case "artifact", "artifact_id", "artifact_name", "artifact_type", "artifactid":
		return true
	}
	return false
}

// signature knows an artifact by a key of its body: kernels write sidecars
// without the name around them.
func signature(key []byte) int {
	switch strings.ToLower(string(key[:min(len(key), 40)])) {
	case "ivps_summary":
		return 7
	case "y0_data":
		return 2
	case "dag", "causal_dag":
		return 3
	case "gim":
		return 5
	case "derivation_trace":
		return 6
	case "state_4_active_inputs":
		return 12
	}
	return 0
}

// artifactsCheck is check 2: the artifacts and what else the stage's row asks
// for.
func (r *run) artifactsCheck(f *findings) {
	at := place{line: 1, under: -1}
	after := ""
	var missing []string
	for _, name := range r.stage.Artifacts {
		n := artifactNumber([]byte(name))
		if r.gallery.has(n) {
			at, after = r.gallery.found[n], name
			continue
		}
		missing = append(missing, name)
		where := at
		if after == "" {
			where = r.doc.last
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
