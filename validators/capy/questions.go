package capy

import (
	"cmp"
	"github.com/seed61713e19/capstan/validators/patterns"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/seed61713e19/capstan/internal/reading"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// needsQuestions wants the research questions of the row: so many of each platform, or
// exactly those of a list.
func (r *run) needsQuestions(f *findings, last place) {
	q := r.stage.Questions
	if len(q.IDs) > 0 {
		r.needsIDs(f, q.IDs, last)
		return
	}
	counts := map[string]int{}
	id := regexp.MustCompile(`\b` + regexp.QuoteMeta(cmp.Or(q.ID, "RQ")) + `[-_ ]?\d{1,3}\b`)
	platforms := map[string]map[string]bool{}
	at := last
	for _, unit := range r.units(id) {
		name := strings.NewReplacer("-", "", "_", "", " ", "").Replace(unit.id)
		if platforms[name] == nil {
			platforms[name] = map[string]bool{}
			at = unit.place
		}
		for _, p := range r.platforms(unit) {
			platforms[name][p] = true
		}
	}
	total := len(platforms)
	for _, name := range sortedKeys(platforms) {
		for p := range platforms[name] {
			counts[p]++
		}
	}
	if total == 0 {
		total, counts = r.grouped()
	}
	want := 0
	for _, n := range q.Platforms {
		want += n
	}
	if total != want {
		f.fail(at, "%d RQs: want %d", total, want)
		return
	}
	for _, p := range sortedKeys(q.Platforms) {
		if n := counts[p]; n != q.Platforms[p] {
			f.fail(at, "%d %s among the RQs: want %d", n, p, q.Platforms[p])
		}
	}
}

// platforms returns the platforms that a question names: in brackets or a cell of its own,
// or under the label of platforms, else those of the heading above.
func (r *run) platforms(u unit) []string {
	text := u.text
	if u.form == inHeading {
		text, _, _ = strings.Cut(text, "\n")
	}
	found := map[string]bool{}
	for _, part := range partOf().Split(text, -1) {
		words := tokens(fold(part))
		if len(words) > 0 && words[0].word == "platform" {
			words = words[1:]
		}
		for _, p := range r.words.find(words, "platform:") {
			if n := len(words); n <= 3 {
				found[p] = true
			}
		}
	}
	if len(found) == 0 && u.form == inHeading {
		for _, one := range r.of("platform") {
			if t := r.titleAt(u.place); t != nil && one.doc == u.doc && t.body.Contains(one.offset) {
				for _, p := range r.words.find(tokens(fold(one.said)), "platform:") {
					found[p] = true
				}
			}
		}
	}
	return sortedKeys(found)
}

var partOf = patterns.Lazy(`[()|/\[\]:–—]|\s-\s`)

func (r *run) titleAt(at place) *title {
	for i := range at.doc.titles {
		if at.doc.titles[i].start == at.offset {
			return &at.doc.titles[i]
		}
	}
	return nil
}

// grouped counts the items and rows without ids below headings that name a platform.
func (r *run) grouped() (total int, counts map[string]int) {
	counts = map[string]int{}
	for _, d := range r.docs {
		for i := range d.titles {
			t := &d.titles[i]
			found := r.words.find(tokens(fold(t.text)), "platform:")
			if len(found) == 0 || len(slices.Compact(slices.Sorted(slices.Values(found)))) > 1 {
				continue
			}
			for j := range d.Blocks {
				b := &d.Blocks[j]
				if (b.Kind == reading.ItemBlock && b.Level <= 1 || b.Kind == reading.RowBlock && b.Level > 0) && t.body.Contains(b.Start) {
					total++
					counts[found[0]]++
				}
			}
		}
	}
	return total, counts
}

var listedID = patterns.Lazy(`\b[A-Z]{1,2}-\d{1,2}[a-z]?\b`)

// needsIDs wants exactly the questions of a list.
func (r *run) needsIDs(f *findings, want []string, last place) {
	seen := map[string]place{}
	for _, unit := range r.units(listedID()) {
		if _, ok := seen[unit.id]; !ok && sameKind(unit.id, want) {
			seen[unit.id] = unit.place
		}
	}
	missing := slices.DeleteFunc(slices.Clone(want), func(id string) bool { _, ok := seen[id]; return ok })
	if len(missing) > 0 {
		f.fail(last, "Missing RQs %s: want exactly %s", strings.Join(missing, ", "), strings.Join(want, ", "))
	}
	for _, id := range sortedKeys(seen) {
		if !slices.Contains(want, id) {
			f.fail(seen[id], "RQ %s is not in the list: want exactly %s", id, strings.Join(want, ", "))
		}
	}
}

// sameKind reports whether an id begins with the letters of one of the ids.
func sameKind(id string, of []string) bool {
	letters, number, _ := strings.Cut(id, "-")
	_, err := strconv.Atoi(strings.TrimRight(number, "abcdefgh"))
	return err == nil && slices.ContainsFunc(of, func(o string) bool { return strings.HasPrefix(o, letters+"-") })
}
