package capy

import "bytes"

// Narratives finds the four that INT_T3 concatenates, each under a heading of
// its own.
type narratives struct{ seen [4]place }

var narrativeNames = [4]string{"ENRICH", "SCENARIO", "INT T1", "INT T2"}

func (n *narratives) line(l *line) {
	if l.kind != heading && !headlike(l) {
		return
	}
	t := tokens(bytes.ReplaceAll(l.text[:min(len(l.text), 90)], []byte("Turn "), []byte("T")))
	words := []bool{
		t.has("enrich", "enrichment"),
		t.has("scenario", "scenarios"),
		t.has("int", "integration") && t.has("t1") || t.has("adjudication", "adjudications", "adjudicated"),
		t.has("int", "integration", "integrated") && t.has("t2") || t.has("integration") && t.has("trace") || t.has("state") && t.has("4") || t.has("recalculation", "cascade"),
	}
	for i, is := range words {
		if is && n.seen[i].line == 0 {
			n.seen[i] = l.at
		}
	}
}

// headlike is a line that is all bold, or between rules of equal signs.
func headlike(l *line) bool {
	if l.kind != prose && l.kind != html {
		return false
	}
	t := bytes.TrimSpace(l.text)
	return len(t) > 4 && len(t) < 120 && (bytes.HasPrefix(t, []byte("**")) && bytes.HasSuffix(t, []byte("**")) || bytes.HasPrefix(t, []byte("==")) || bytes.HasPrefix(t, []byte("<!--")))
}

func (n *narratives) json(e *event) {
	if e.kind != opens && len(e.value) < 40 || len(e.key) == 0 {
		return
	}
	t := tokens(e.key)
	if !t.has("narrative", "narratives", "enrich", "scenario", "int") {
		return
	}
	l := line{kind: heading, text: bytes.ReplaceAll(e.key, []byte("_"), []byte(" ")), at: e.at}
	n.line(&l)
}

func (n *narratives) gaps(r *run) []gap {
	var list []gap
	for i, at := range n.seen {
		if at.line == 0 {
			list = append(list, gap{r.doc.last, "Missing the " + narrativeNames[i] + " narrative: want a heading that names it"})
		}
	}
	return list
}
