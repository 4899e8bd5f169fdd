package capy

import (
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/internal/patterns"
	"github.com/seed61713e19/capstan/internal/reading"
)

// A measure counts the content of a range of parts.
type measure struct {
	rows, leaves, items, fences, words int
	filler                             bool // a paragraph is a filler
}

func (m measure) any() bool { return m.rows+m.leaves+m.items+m.fences+m.words > 0 }

// enough reports whether the content is at least the policy's minimum.
func (m measure) enough(least *minimum) bool {
	return m.rows >= least.Rows || m.leaves >= least.Leaves || m.items >= least.Items || m.fences > 0 || m.words >= least.Words
}

// inside measures the parts inside a part, or the part itself if it is a scalar.
func (r *run) inside(d *document, i int) measure {
	if p := &d.parts[i]; p.kind == aMember && p.end == i+1 {
		return r.measure(d, i, p.end)
	}
	return r.measure(d, i+1, d.parts[i].end)
}

// measure measures a range of parts. Fillers and end marks do not count.
func (r *run) measure(d *document, from, to int) measure {
	var m measure
	for i := from; i < to; i++ {
		switch p := &d.parts[i]; p.kind {
		case aRow:
			if p.level > 0 && r.filledRow(p.cells) {
				m.rows++
			}
		case anItem:
			if !r.fillerLine(p.text) {
				m.items++
			}
		case aTitle:
			if p.level == boldLevel {
				r.paragraph(&m, p.label)
			} else if _, value, ok := reading.CutLabel(p.label); ok && value != "" && !r.fillerLine(p.label) {
				m.items++
			}
		case aMember:
			if p.json == '0' || p.json == '"' && p.text != "" && !r.filler(p.text) {
				m.leaves++
			}
		case aCode:
			isJSON := p.end > i+1 || p.block.Fenced && strings.EqualFold(p.block.Language, "json")
			if !isJSON && strings.TrimSpace(p.text) != "" && !r.filler(p.text) {
				m.fences++
			}
			if r.broken(p) != nil {
				m.leaves += r.policy.Minimum.Leaves // check 3 reports the error
			}
		default:
			if !p.comment() {
				r.paragraph(&m, p.text)
			}
		}
	}
	return m
}

// broken returns the JSON of a block of code that does not parse, nil for another block.
func (r *run) broken(p *part) *reading.JSON {
	for i := range p.doc.JSON {
		if j := &p.doc.JSON[i]; j.Err != nil && j.Text != "" && p.block.Contains(j.Start) {
			return j
		}
	}
	return nil
}

func (r *run) paragraph(m *measure, text string) {
	if text = strings.TrimSpace(text); text == "" || r.matches("mark", text) {
		return
	}
	whole := r.filler(text)
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); line == "" || strings.HasSuffix(line, ":") {
			continue // it introduces what follows
		}
		if whole || r.fillerLine(line) {
			m.filler = true
			continue
		}
		if labelledLine().MatchString(line) {
			m.items++
		}
		m.words += len(strings.Fields(line))
	}
}

// filledRow reports whether a row has a filled cell besides its first one.
func (r *run) filledRow(cells []reading.Cell) bool {
	return slices.ContainsFunc(cells[min(1, len(cells)-1):], func(c reading.Cell) bool {
		return strings.TrimSpace(c.Text) != "" && !r.filler(c.Text)
	})
}

var taskBox = patterns.Lazy(`^\s*\[[ xX]\]\s*`)

// fillerLine reports whether a line, or the value behind its label, is a filler.
func (r *run) fillerLine(line string) bool {
	line = taskBox().ReplaceAllString(line, "")
	_, value, labelled := reading.CutLabel(line)
	return r.filler(line) || labelled && r.filler(value)
}

// An artifactPlace is a place that names an artifact, with its problem.
type artifactPlace struct {
	place
	thin bool   // its content is under the minimum
	json bool   // it is JSON
	nope string // why it does not count
	node int    // the part that is its JSON, -1 if it is not JSON
}

// rank returns how good a place is, from 0. A nil place has rank -1.
func (p *artifactPlace) rank(json bool) int {
	switch {
	case p == nil:
		return -1
	case p.nope != "":
		return 0
	case json && !p.json:
		return 1
	case p.thin:
		return 2
	}
	return 3
}

// artifact finds an artifact by a heading, a key or a file. It returns nil if nothing
// names it.
func (r *run) artifact(name string) *artifactPlace {
	if found, ok := r.found[name]; ok {
		return found
	}
	a := r.policy.Artifacts[name]
	var best *artifactPlace
	better := func(where string, one *artifactPlace) {
		if (len(a.In) == 0 || slices.Contains(a.In, where)) && one.rank(a.JSON) > best.rank(a.JSON) {
			best = one
		}
	}
	for _, d := range r.docs {
		for i := range d.parts {
			switch p := &d.parts[i]; {
			case p.kind == aTitle && r.names(p.label, &a):
				better("heading", r.atTitle(d, i))
			case p.kind == aCode && (p.end == i+1 || p.parent < 0):
				if j := r.broken(p); j != nil && strings.Contains(j.Text, `"`+name+"_") {
					better("key", &artifactPlace{place: place{d, j.At}, json: true, node: -1}) // check 3 reports the error
				}
			case p.kind == aMember:
				if at := keyed(d, i, name); at >= 0 {
					better("key", r.atKey(d, at, p.place))
				} else if root, key := d.root(), strings.ToLower(p.label); root >= 0 && (i == root && a.file.MatchString(d.file) ||
					slices.Contains(a.Keys, key) || key == "schema_version" && a.file.MatchString(p.text)) {
					better("file", r.atKey(d, root, d.parts[root].place))
				}
			}
		}
	}
	if r.found == nil {
		r.found = map[string]*artifactPlace{}
	}
	r.found[name] = best
	return best
}

var artifactRange = patterns.Lazy(`(?i)A\.?\d+\s*(?:-|–|—|to|through|bis)\s*(?:A\.?)?\d`)

// names reports whether a heading names an artifact: A.n with words of its name, alone, or
// in brackets behind its name.
func (r *run) names(heading string, a *artifact) bool {
	text := strings.NewReplacer("_", " ", "**", "").Replace(fold(heading))
	m := a.heading.FindStringSubmatchIndex(text)
	if m == nil || artifactRange().MatchString(text) {
		return false
	}
	after, _, _ := strings.Cut(strings.TrimLeft(text[m[3]:], " .:–—-)]"), "(")
	after, _, _ = strings.Cut(after, ":")
	if behind := tokens(after); len(behind) > 0 {
		return r.namedBy(behind, a)
	}
	before := strings.TrimRight(text[:m[2]], " ([:–—-")
	return r.introduces(tokens(before)) || r.namedBy(tokens(before[strings.LastIndexAny(before, ".:–—|")+1:]), a)
}

// namedBy reports whether words are of the artifact's name, or qualifiers of it.
func (r *run) namedBy(words []token, a *artifact) bool {
	of := func(t token) bool { return slices.Contains(a.Names, t.word) }
	return slices.ContainsFunc(words, of) && !slices.ContainsFunc(words, func(t token) bool {
		return !of(t) && len(r.words.find([]token{t}, "qualifier")) == 0
	})
}

// introduces reports whether words before A.n leave it the heading's subject: a number, or
// a qualifier such as "Updated".
func (r *run) introduces(words []token) bool {
	return !slices.ContainsFunc(words, func(t token) bool {
		digits := strings.Trim(t.word, "0123456789ivx") == ""
		qualifies := len(r.words.find([]token{t}, "qualifier")) > 0 && len(r.words.find([]token{t}, "connective")) == 0
		return !digits && !qualifies && t.word != "artifact" && t.word != "state"
	})
}

func (r *run) atTitle(d *document, i int) *artifactPlace {
	t := &d.parts[i]
	p := &artifactPlace{place: t.place, node: -1}
	for c := i + 1; c < t.end && p.node < 0; c++ {
		if d.parts[c].kind == aMember {
			p.node = c
		}
	}
	content := r.inside(d, i)
	p.json, p.thin = content.leaves > 0, !content.enough(r.policy.Minimum)
	switch b := bracket().FindStringSubmatch(fold(t.label)); {
	case b != nil && r.filler(b[1]):
		p.nope = "its heading says so"
	case !content.any() || p.thin && content.filler:
		p.nope = "its section has no content"
	}
	return p
}

// keyed returns the index of the JSON object or list that holds artifact name,
// or -1. Part i is a member of it: its key is the name, such as A.3_summary, or
// its key is artifact_id or artifact and its value is the name.
func keyed(d *document, i int, name string) int {
	switch p := &d.parts[i]; {
	case startsWith(p.label, name):
		if p.json == '{' || p.json == '[' {
			return i
		}
	case (p.label == "artifact_id" || p.label == "artifact") && p.json == '"' && startsWith(p.text, name):
		return p.parent
	}
	return -1
}

func (r *run) atKey(d *document, at int, key place) *artifactPlace {
	m := r.inside(d, at)
	p := &artifactPlace{place: key, json: true, node: at, thin: !m.enough(r.policy.Minimum)}
	if !m.any() {
		p.nope = "it has no values"
	}
	return p
}

// root returns the part that all of a JSON document is, -1 if the document is no JSON.
func (d *document) root() int {
	if d.single() == nil {
		return -1
	}
	return slices.IndexFunc(d.parts, func(p part) bool { return p.kind == aMember })
}

// startsWith reports whether a key is A.n or begins with A.n_ or A_n_.
func startsWith(key, name string) bool {
	if len(key) < 2 || key[0] != 'A' && key[0] != 'a' {
		return false
	}
	rest, ok := strings.CutPrefix(strings.TrimLeft(key[1:], "._"), strings.TrimPrefix(name, "A."))
	return ok && (rest == "" || strings.ContainsRune("_ .:-", rune(rest[0])))
}

// artifactsCheck is check 2. It checks the artifacts and other needs in the stage's
// row.
func (r *run) artifactsCheck(f *findings) {
	last := place{r.text, 0}
	for _, name := range r.stage.Artifacts {
		a := r.policy.Artifacts[name]
		p := r.artifact(name)
		switch {
		case p == nil:
			f.fail(last, "Missing %s (%s): no heading, JSON key or file is the artifact", name, a.Title)
			continue
		case p.nope != "":
			f.fail(p.place, "Missing %s (%s): %s", name, a.Title, p.nope)
		case a.JSON && !p.json:
			f.fail(p.place, "%s (%s) is not JSON, as policy %s demands", name, a.Title, r.policy.Version)
		case p.thin:
			f.warn(p.place, "Question: is this %s (%s)? Its content is under the minimum", name, a.Title)
		}
		r.schemaCheck(f, name, &a, p)
		last = p.place
	}
	for _, name := range r.stage.Needs {
		r.need(f, name, last)
	}
}

// schemaCheck checks the JSON of an artifact against the schema of the policy.
func (r *run) schemaCheck(f *findings, name string, a *artifact, p *artifactPlace) {
	if a.check == nil || p.node < 0 || p.nope != "" {
		return
	}
	node, parts := p.node, p.doc.parts
	if inner := node + 1; inner < parts[node].end && startsWith(parts[inner].label, name) && parts[inner].end == parts[node].end {
		node = inner // {"A.3_…": …}
	}
	violations, err := a.check.Check(nil, p.doc.plain(&parts[node]))
	if err != nil {
		f.fail(p.place, "%s is not checked against its schema: %v", name, err)
	}
	for _, v := range violations {
		f.fail(p.place, "%s does not match its schema: %s", name, v)
	}
}
