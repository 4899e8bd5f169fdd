package capy

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/validators/capy/reading"
)

// A fileKind says which artifact a file is, if it is one of its own: 0 for
// none.
type fileKind struct {
	artifact int
	at       reading.Place
}

// fileKinds finds out which artifact the text is, if it is one JSON document,
// and which each sidecar is: by the file's name, or else by what stands near the
// top of its JSON.
func fileKinds(p *Policy, doc *reading.Document, names []string) []fileKind {
	kinds := make([]fileKind, len(doc.Sources))
	for i, t := range doc.Sources {
		kinds[i].at = reading.Top
		kinds[i].at.Source = int16(i)
		if i == 0 && !doc.Whole || len(bytes.TrimSpace(t)) < 3 || template(t) {
			continue
		}
		if i < len(names) {
			kinds[i].artifact = nameArtifact(names[i])
		}
		if kinds[i].artifact == 0 {
			kinds[i].artifact = shape(p, doc.Keys, int16(i))
		}
	}
	return kinds
}

// nameArtifact reads the artifact from a file's name: DAVE_A7_KERNEL.json,
// A.10_SCENARIO.json.
func nameArtifact(name string) int {
	name = strings.ToUpper(path.Base(strings.ReplaceAll(name, `\`, "/")))
	t := []byte(name)
	for i := range t {
		if t[i] != 'A' || i > 0 && word(t[i-1]) {
			continue
		}
		end := i + 1
		for end < len(t) && (word(t[end]) || t[end] == '.' && end == i+1) {
			end++
		}
		if n, _, _ := reading.ArtifactAt(t[i:end], 0); n > 0 && n <= lastArtifact {
			return n
		}
	}
	return 0
}

// lastArtifact is the highest n of the pipeline's artifacts.
const lastArtifact = 14

// shape knows an artifact by the keys near the top of its JSON: one of the
// sure ones, or two of the others. Of several the one with most keys counts.
func shape(p *Policy, keys []reading.Key, source int16) int {
	scores := map[int]int{}
	for name, a := range p.Artifacts {
		seen := map[string]bool{}
		for _, k := range keys {
			key := strings.ToLower(string(k.Name[:min(len(k.Name), 60)]))
			if k.Source != source || seen[key] {
				continue
			}
			seen[key] = true
			if slices.Contains(a.Sure, key) {
				scores[artifactNumber(name)] += sureScore
			} else if slices.Contains(a.Keys, key) {
				scores[artifactNumber(name)]++
			}
		}
	}
	best := 0
	for n := 1; n <= lastArtifact; n++ {
		if scores[n] > scores[best] {
			best = n
		}
	}
	if scores[best] < 2 {
		return 0
	}
	return best
}

// sureScore is what a sure key counts.
const sureScore = 3
