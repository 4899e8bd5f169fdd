package capy

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A questionnaire counts research questions by their identifiers, and of which
// platform each is.
type questionnaire struct {
	want     Questions
	ids      map[string]string // of the policy: m3a → M-3a
	prefixes map[byte]bool     // the letters that they begin with
	found    map[string]*question
	order    []string
	current  *question // of the heading or label above
	level    int       // of its heading
	group    string    // the platform of the section
	groupAt  int       // the level of its heading
	rejected int       // the level of a heading over questions not asked, 0 without
	platform int       // the column that says the platform, -1 without
	stack    [maxPath + 1]questionFrame
}

type question struct {
	id       string
	at       place
	platform string
	byName   bool // the identifier says the platform: AS-1
}

type questionFrame struct {
	id, platform string
	at           place
}

// maxQuestions bounds how many are counted.
const maxQuestions = 200

func newQuestionnaire(want *Questions) *questionnaire {
	q := &questionnaire{want: *want, ids: map[string]string{}, prefixes: map[byte]bool{}, found: map[string]*question{}, platform: -1}
	for _, id := range want.IDs {
		q.ids[plainID(id)] = id
		q.prefixes[id[0]|0x20] = true
	}
	return q
}

var (
	gdrNames = newPhrases("GDR", "gemini", "deep research")
	asNames  = newPhrases("AS", "alphasense", "alpha sense")
)

func (q *questionnaire) note(id, platform string, at place, byName bool) *question {
	known := q.found[id]
	if known == nil {
		if len(q.found) >= maxQuestions {
			return nil
		}
		known = &question{id: id, at: at}
		q.found[id] = known
		q.order = append(q.order, id)
	}
	if known.platform == "" {
		known.platform = platform
		known.byName = byName
	}
	return known
}

func (q *questionnaire) line(l *line) {
	switch l.kind {
	case heading:
		q.heading(l)
	case row:
		q.row(l)
	case prose, item:
		q.label(l)
	}
}

func (q *questionnaire) heading(l *line) {
	if q.level > 0 && l.level <= q.level {
		q.current = nil
	}
	if l.level <= q.groupAt {
		q.group, q.groupAt = "", 0
	}
	if l.level <= q.rejected {
		q.rejected = 0
	}
	if q.rejected == 0 && rejections.has(l.text) {
		q.rejected = l.level
	}
	if q.rejected > 0 {
		return
	}
	if !q.names(l) {
		if p := platformIn(l.text); p != "" {
			q.group, q.groupAt = p, l.level
		}
		return
	}
	q.level = l.level
}

// rejections say that the questions of a text are not asked.
var rejections = newPhrases("rejected", "discarded", "excluded", "not selected", "dropped", "considered but", "alternatives")

// names notes the questions that a heading or label is about: the first, or
// each of a list of the policy's.
func (q *questionnaire) names(l *line) bool {
	t := l.text[:min(len(l.text), 200)]
	for i := range t {
		id, platform, end := q.idAt(t, i)
		if id == "" {
			continue
		}
		if rangeEndID(t, end) {
			return false
		}
		byName := platform != ""
		if platform == "" {
			platform = platformIn(t)
		}
		if platform == "" {
			platform = q.group
		}
		q.current = q.note(id, platform, l.at, byName)
		return true
	}
	return false
}

// label reads a line that begins with an identifier, or says the platform of
// the question above.
func (q *questionnaire) label(l *line) {
	if q.rejected > 0 {
		return
	}
	t := bytes.TrimLeft(l.text, " *_`[(")
	bold := len(t) < len(l.text)
	if len(t) > 0 {
		if id, _, end := q.idAt(t, 0); id != "" && (bold || bytes.IndexByte([]byte("\x00:.)(-*[|"), firstByte(t[end:])) >= 0) {
			if head := *l; !rejections.has(t[:min(len(t), 120)]) {
				head.text = t
				q.names(&head)
			}
			return
		}
	}
	if q.current != nil && q.current.platform == "" {
		if rest, ok := after(l.text, isPlatform); ok {
			q.current.platform = platformIn(rest)
		}
	}
}

func isPlatform(w []byte) bool {
	var buf wordBuffer
	switch string(buf.fold(w)) {
	case "platform", "tool", "allocation", "source", "engine", "type", "channel", "route", "routing", "assigned", "target", "execution":
		return true
	}
	return false
}

func (q *questionnaire) row(l *line) {
	if l.head {
		q.platform = -1
		for i, cell := range l.cells {
			if w := wordAt(trimMarks(cell), 0); isPlatform(w) && q.platform < 0 {
				q.platform = i
			}
		}
		return
	}
	if q.rejected > 0 {
		return
	}
	for i, cell := range l.cells[:min(len(l.cells), 3)] {
		t := trimMarks(cell)
		if len(t) == 0 {
			continue
		}
		id, platform, end := q.idAt(t, 0)
		if id == "" || i > 0 && end < len(t) {
			continue
		}
		byName := platform != ""
		for j, other := range l.cells {
			if platform == "" && (j == q.platform || len(other) < 40 && j != i) {
				platform = platformIn(other)
			}
		}
		if platform == "" {
			platform = q.group
		}
		q.note(id, platform, l.at, byName)
		return
	}
}

func (q *questionnaire) json(e *event) {
	if e.depth >= maxPath {
		return
	}
	switch e.kind {
	case opens:
		f := &q.stack[e.depth]
		*f = questionFrame{at: e.at}
		if len(e.key) > 0 {
			if id, platform, end := q.idAt(e.key, 0); id != "" && (end == len(e.key) || e.key[end] == '_') {
				f.id, f.platform = id, platform
			}
		}
	case closes:
		f := &q.stack[e.depth]
		if f.id != "" {
			if f.platform == "" && e.depth > 0 {
				f.platform = keyPlatform(e)
			}
			q.note(f.id, f.platform, f.at, false)
		}
	case scalar:
		q.scalar(e)
	}
}

// keyPlatform is the platform that a key around an object names.
func keyPlatform(e *event) string {
	for i := len(e.path) - 1; i >= 0; i-- {
		l := tokens(e.path[i].key)
		switch {
		case l.has("gdr", "gemini"):
			return "GDR"
		case l.has("as", "alphasense"):
			return "AS"
		}
	}
	return ""
}

func (q *questionnaire) scalar(e *event) {
	if e.depth == 0 || len(e.value) == 0 {
		return
	}
	f := &q.stack[e.depth-1]
	l := tokens(e.key)
	v := bytes.Trim(e.value, `" `)
	if len(v) == 0 {
		return
	}
	switch {
	case l.has("id", "rq", "number", "name", "question", "label", "code", "query") && !l.has("parent", "linked", "related"):
		if id, platform, end := q.idAt(v, 0); id != "" && f.id == "" && (end == len(v) || !isASCIIWord(v[end])) {
			f.id = id
			if f.platform == "" {
				f.platform = platform
			}
		} else if f.id == "" && l.has("rq") && l.has("id", "number", "rq") && len(v) < 4 && isDigit(v[0]) && len(q.ids) == 0 {
			f.id = "RQ" + string(v)
		}
	case l.n > 0 && isPlatform(l.word(l.n-1)) || l.has("platform", "allocation", "tool", "engine"):
		if p := platformIn(v); p != "" {
			f.platform = p
		}
	case e.path[len(e.path)-1].array || len(e.key) > 0 && len(v) > 20:
		if id, platform, end := q.idAt(e.key, 0); len(e.key) > 0 && id != "" && end == len(e.key) {
			q.note(id, platform, e.at, platform != "")
		}
	}
}

func (q *questionnaire) gaps(r *run) []gap {
	if len(q.ids) > 0 {
		return q.exactly(r)
	}
	total := 0
	for _, n := range q.want.Platforms {
		total += n
	}
	list := q.counted(total)
	if len(list) == 0 {
		return []gap{{r.doc.last, fmt.Sprintf("no research questions: want exactly %d RQs: %s", total, q.wanted())}}
	}
	if len(list) != total {
		return []gap{{list[len(list)-1].at, fmt.Sprintf("%d RQs (%s): want exactly %d: %s", len(list), ids(list), total, q.wanted())}}
	}
	got := map[string]int{}
	for _, known := range list {
		got[known.platform]++
	}
	if maps.Equal(got, q.want.Platforms) {
		return nil
	}
	return []gap{{list[0].at, fmt.Sprintf("the %d RQs are %s: want %s", total, tally(got), q.wanted())}}
}

// counted are the questions by one kind of identifier: RQ1 and so on, or, if
// those do not come out right, AS-1 and GDR-1.
func (q *questionnaire) counted(total int) []*question {
	var plain, byName []*question
	for _, id := range q.order {
		known := q.found[id]
		if strings.HasPrefix(id, "RQ") {
			plain = append(plain, known)
		} else {
			byName = append(byName, known)
		}
	}
	if len(plain) == 0 || len(plain) != total && len(byName) == total {
		return byName
	}
	return plain
}

func (q *questionnaire) wanted() string { return tally(q.want.Platforms) }

func tally(n map[string]int) string {
	var words []string
	for _, p := range slices.Sorted(maps.Keys(n)) {
		name := p
		if name == "" {
			name = "without a platform"
		}
		words = append(words, fmt.Sprintf("%d %s", n[p], name))
	}
	return strings.Join(words, ", ")
}

func ids(list []*question) string {
	var words []string
	for _, known := range list[:min(len(list), 12)] {
		words = append(words, known.id)
	}
	return strings.Join(words, ", ")
}

// exactly compares with the identifiers of the policy.
func (q *questionnaire) exactly(r *run) []gap {
	var missing, extra []string
	at := r.doc.last
	for _, id := range q.want.IDs {
		if q.found[id] == nil {
			missing = append(missing, id)
		}
	}
	for _, id := range q.order {
		if !slices.Contains(q.want.IDs, id) {
			extra = append(extra, id)
			at = q.found[id].at
		}
	}
	want := strings.Join(q.want.IDs, ", ")
	var list []gap
	if len(missing) > 0 {
		list = append(list, gap{r.doc.last, fmt.Sprintf("Missing RQs %s: want exactly %s", strings.Join(missing, ", "), want)})
	}
	if len(extra) > 0 {
		list = append(list, gap{at, fmt.Sprintf("RQs %s are not asked for: want exactly %s", strings.Join(extra, ", "), want)})
	}
	return list
}
