package capy

import (
	"github.com/seed61713e19/capstan/validators/patterns"
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/seed61713e19/capstan/internal/reading"
)

// A measure is what a section or a value holds.
type measure struct {
	rows, leaves, items, fences, words int
	filler                             bool // a paragraph is a filler
}

func (m measure) any() bool { return m.rows+m.leaves+m.items+m.fences+m.words > 0 }

// enough reports whether the content is at least the policy's minimum.
func (m measure) enough(least *minimum) bool {
	return m.rows >= least.Rows || m.leaves >= least.Leaves || m.items >= least.Items || m.fences > 0 || m.words >= least.Words
}

// section measures the blocks of a part of the text. Fillers and end marks do not count.
func (r *run) section(d *document, s reading.Span) measure {
	var m measure
	first := sort.Search(len(d.Tables), func(i int) bool { return d.Tables[i].Start >= s.Start })
	for i := first; i < len(d.Tables) && d.Tables[i].Start < s.End; i++ {
		if t := &d.Tables[i]; s.Contains(t.Start) {
			for _, row := range t.Rows {
				if r.filledRow(texts(row)) {
					m.rows++
				}
			}
		}
	}
	for i := d.blockAt(s.Start); i < len(d.Blocks) && d.Blocks[i].Start < s.End; i++ {
		b := &d.Blocks[i]
		if b.End <= s.Start {
			continue
		}
		switch b.Kind {
		case reading.HeadingBlock:
			if labelledLine().MatchString(b.Text) && !r.fillerLine(b.Text) {
				m.items++
			}
		case reading.RowBlock, reading.RuleBlock:
		case reading.ItemBlock:
			if !r.fillerLine(b.Text) {
				m.items++
			}
		case reading.CodeBlock:
			r.code(&m, d, i)
		case reading.HTMLBlock:
			if text := b.In(d.Source)[max(0, s.Start-b.Start):]; !strings.HasPrefix(strings.TrimSpace(text), "<!--") {
				r.paragraph(&m, tag().ReplaceAllString(text, "\n"))
			}
		default:
			r.paragraph(&m, b.Text)
		}
	}
	return m
}

// blockAt returns the index of the last block that begins at or before an offset.
func (d *document) blockAt(offset int) int {
	return max(0, sort.Search(len(d.Blocks), func(i int) bool { return d.Blocks[i].Start > offset })-1)
}

func (r *run) paragraph(m *measure, text string) {
	if text = strings.TrimSpace(text); text == "" || r.matches("mark", text) {
		return
	}
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); line == "" || strings.HasSuffix(line, ":") {
			continue // it introduces what follows
		}
		if r.fillerLine(line) || r.filler(text) {
			m.filler = true
		} else {
			if labelledLine().MatchString(line) {
				m.items++
			}
			m.words += len(strings.Fields(line))
		}
	}
}

// code measures a block of code: the leaves of JSON, or that there is any text.
func (r *run) code(m *measure, d *document, block int) {
	i := sort.Search(len(d.JSON), func(i int) bool { return d.JSON[i].Block >= block })
	if i < len(d.JSON) && d.JSON[i].Block == block {
		j := &d.JSON[i]
		if j.Err != nil && j.Text != "" {
			m.leaves += r.policy.Minimum.Leaves // check 3 reports the error
		} else if n := d.firstNode(j.Span); n >= 0 {
			m.leaves += d.leaves(r.vocabulary, n, r.policy.Minimum.Leaves)
		}
		return
	}
	if b := &d.Blocks[block]; strings.TrimSpace(b.Text) != "" && !r.filler(b.Text) && !(b.Fenced && strings.EqualFold(b.Language, "json")) {
		m.fences++
	}
}

// filledRow reports whether a row has a cell that is neither its first one nor a filler.
func (r *run) filledRow(cells []string) bool {
	if len(cells) > 1 {
		cells = cells[1:]
	}
	return slices.ContainsFunc(cells, func(c string) bool { return strings.TrimSpace(c) != "" && !r.filler(c) })
}

var (
	taskBox = patterns.Lazy(`^\s*\[[ xX]\]\s*`)
	labels  = patterns.Lazy(`^[^:=]{1,60}[:=]\s*`)
)

// fillerLine reports whether a line, or the value after its label, is a filler.
func (r *run) fillerLine(line string) bool {
	line = taskBox().ReplaceAllString(line, "")
	return r.filler(line) || r.filler(labels().ReplaceAllString(line, ""))
}

// An artifactPlace is where an artifact is, with the worst that can be said of it.
type artifactPlace struct {
	place
	thin bool   // its content is under the minimum
	json bool   // it is JSON
	nope string // why it does not count
	node int    // of its JSON, -1 if it is not JSON
}

// artifact finds an artifact by a heading, a key or a file. It returns nil if nothing
// names it.
func (r *run) artifact(name string) *artifactPlace {
	if found, ok := r.found[name]; ok {
		return found
	}
	a := r.policy.Artifacts[name]
	var best *artifactPlace
	better := func(one *artifactPlace) {
		if one != nil && (best == nil || one.rank(a.JSON) > best.rank(a.JSON)) {
			best = one
		}
	}
	for _, d := range r.docs {
		if a.allows("heading") {
			for i := range d.titles {
				better(r.atTitle(d, &d.titles[i], &a))
			}
		}
		if a.allows("key") {
			better(r.atKey(d, name, &a))
		}
		if a.allows("file") {
			better(r.asFile(d, name, &a))
		}
	}
	if r.found == nil {
		r.found = map[string]*artifactPlace{}
	}
	r.found[name] = best
	return best
}

func (a *artifact) allows(where string) bool { return len(a.In) == 0 || slices.Contains(a.In, where) }

func (p *artifactPlace) rank(json bool) int {
	switch {
	case p.nope != "":
		return 0
	case json && !p.json:
		return 1
	case p.thin:
		return 2
	}
	return 3
}

var artifactRange = patterns.Lazy(`(?i)A\.?\d+\s*(?:-|–|—|to|through|bis)\s*(?:A\.?)?\d`)

// atTitle returns the artifact that a heading names: A.n with words of its name, alone, or
// in brackets behind its name.
func (r *run) atTitle(d *document, t *title, a *artifact) *artifactPlace {
	text := strings.NewReplacer("_", " ", "**", "").Replace(fold(t.text))
	m := a.heading.FindStringIndex(text)
	if m == nil || artifactRange().MatchString(text) {
		return nil
	}
	number := strings.IndexAny(text[m[0]:], "0123456789") + m[0]
	for number < len(text) && text[number] >= '0' && text[number] <= '9' {
		number++
	}
	from := m[0] + strings.IndexAny(strings.ToUpper(text[m[0]:]), "A")
	before, after := text[:from], strings.TrimLeft(text[number:], " .:–—-)]")
	after, bracket, _ := strings.Cut(after, "(")
	after, _, _ = strings.Cut(after, ":")
	named := func(words []token) bool {
		return len(words) > 0 && !slices.ContainsFunc(words, func(t token) bool {
			return !slices.Contains(a.Names, t.word) && len(r.words.find([]token{t}, "qualifier")) == 0
		}) && slices.ContainsFunc(words, func(t token) bool { return slices.Contains(a.Names, t.word) })
	}
	if behind := tokens(after); len(behind) > 0 {
		if !named(behind) {
			return nil
		}
	} else if ahead := tokens(before); len(ahead) > 0 && !r.introduces(ahead) && !named(lastWords(before)) {
		return nil
	}
	p := &artifactPlace{place: place{d, t.start}, node: -1}
	if r.filler(strings.TrimSuffix(bracket, ")")) && bracket != "" {
		p.nope = "its heading says so"
		return p
	}
	content := r.section(d, t.body)
	p.json, p.node = content.leaves > 0, d.firstNode(t.body)
	p.thin = !content.enough(r.policy.Minimum)
	if !content.any() || p.thin && content.filler {
		p.nope = "its section has no content"
	}
	return p
}

// introduces reports whether words before A.n leave it the heading's subject: a number, or
// a qualifier such as "Updated".
func (r *run) introduces(words []token) bool {
	for _, t := range words {
		digits := strings.Trim(t.word, "0123456789ivx") == ""
		qualifies := len(r.words.find([]token{t}, "qualifier")) > 0 && len(r.words.find([]token{t}, "connective")) == 0
		if !digits && !qualifies && t.word != "artifact" && t.word != "state" {
			return false
		}
	}
	return true
}

// lastWords returns the words after the last number or sign of a heading's beginning.
func lastWords(text string) []token {
	text = strings.TrimRight(text, " ([:–—-")
	return tokens(text[strings.LastIndexAny(text, ".:–—|")+1:])
}

// firstNode returns the index of the first JSON value in a span, -1 if there is none.
func (d *document) firstNode(s reading.Span) int {
	i := sort.Search(len(d.nodes), func(i int) bool { return d.nodes[i].offset >= s.Start })
	if i < len(d.nodes) && d.nodes[i].offset < s.End {
		return i
	}
	return -1
}

// atKey returns the artifact under a key A.n_… or of an object whose artifact_id is A.n.
func (r *run) atKey(d *document, name string, a *artifact) *artifactPlace {
	var best *artifactPlace
	for i := range d.JSON {
		if j := &d.JSON[i]; j.Err != nil && strings.Contains(j.Text, `"`+name+"_") {
			best = &artifactPlace{place: place{d, j.At}, json: true, node: -1} // check 3 reports the error
		}
	}
	for i := range d.nodes {
		n := &d.nodes[i]
		if n.key == "" || !startsWith(n.key, name) && !(n.key == "artifact_id" || n.key == "artifact") {
			continue
		}
		at := i
		if n.kind == '"' && n.key != "" && !startsWith(n.key, name) {
			if !startsWith(n.text, name) || n.parent < 0 {
				continue
			}
			at = n.parent
		}
		if d.nodes[at].kind != '{' && d.nodes[at].kind != '[' {
			continue
		}
		m := measure{leaves: d.leaves(r.vocabulary, at, r.policy.Minimum.Leaves)}
		p := &artifactPlace{place: place{d, n.offset}, json: true, node: at, thin: !m.enough(r.policy.Minimum)}
		if !m.any() {
			p.nope = "it has no values"
		}
		if best == nil || p.rank(a.JSON) > best.rank(a.JSON) {
			best = p
		}
	}
	return best
}

// startsWith reports whether a key is A.n or begins with A.n_ or A_n_.
func startsWith(key, name string) bool {
	number := strings.TrimPrefix(name, "A.")
	if len(key) < 2 || key[0] != 'A' && key[0] != 'a' {
		return false
	}
	rest, ok := strings.CutPrefix(strings.TrimLeft(key[1:], "._"), number)
	return ok && len(key) < 120 && (rest == "" || strings.ContainsRune("_ .:-", rune(rest[0])))
}

// asFile returns the artifact that a JSON document as a whole is: by its file name, its
// schema_version or the keys near its top.
func (r *run) asFile(d *document, name string, a *artifact) *artifactPlace {
	if d.single() == nil || len(d.nodes) == 0 {
		return nil
	}
	m := measure{leaves: d.leaves(r.vocabulary, 0, r.policy.Minimum.Leaves)}
	if !m.enough(r.policy.Minimum) {
		return nil
	}
	score := 0
	if d.file != "" && a.file.MatchString(path.Base(strings.ReplaceAll(d.file, `\`, "/"))) {
		score = 2
	}
	seen := map[string]bool{}
	for i := range d.nodes {
		n := &d.nodes[i]
		key := strings.ToLower(n.key)
		if key == "" || seen[key] || d.depth(i) > maxDepth {
			continue
		}
		seen[key] = true
		switch {
		case slices.Contains(a.Sure, key), key == "schema_version" && a.file.MatchString(n.text):
			score += 2
		case slices.Contains(a.Keys, key):
			score++
		}
	}
	if score < 2 {
		return nil
	}
	return &artifactPlace{place: place{d, d.nodes[0].offset}, json: true, node: 0}
}

// maxDepth is how deep the keys may be by which a file is known.
const maxDepth = 3

func (d *document) depth(i int) int {
	n := 0
	for p := d.nodes[i].parent; p >= 0 && n <= maxDepth; p = d.nodes[p].parent {
		n++
	}
	return n
}

// artifactsCheck is check 2: the artifacts of the stage's row and what else it needs.
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
	r.needsCheck(f, last)
}
