package pages

import (
	"hash/fnv"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/seed61713e19/capstan/runner/event"
)

// link returns a path with a query. The parameters are pairs; empty values are left out.
func link(path string, pairs ...string) string {
	q := url.Values{}
	for pair := range slices.Chunk(pairs, 2) {
		if pair[1] != "" {
			q.Set(pair[0], pair[1])
		}
	}
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}

// runLink returns the address of a run, or of a page below it: "/text".
func runLink(id string, rest ...string) string {
	return "/runs/" + url.PathEscape(id) + strings.Join(rest, "")
}

// phaseLink returns the address of a phase.
func phaseLink(run string, at event.Path, pairs ...string) string {
	return link(runLink(run, "/phase"), append([]string{"at", string(at)}, pairs...)...)
}

// attemptLink returns the address of an attempt on the page of its run.
func attemptLink(run string, at event.Path) string {
	if strings.Count(string(at), "/") > 1 { // it is folded away in the timeline
		return phaseLink(run, phasePath(at)) + "#" + anchor(string(at))
	}
	return link(runLink(run), "open", at.First()) + "#" + anchor(string(at))
}

// phasePath returns the path of the phase or item of an attempt: draft for
// draft/sounding[1]/attempt[2] and draft/human_input/attempt[1].
func phasePath(at event.Path) event.Path {
	if i := strings.LastIndex(string(at), "/attempt["); i > 0 {
		at = at[:i]
	}
	name, _, _ := event.SplitIndex(at.Last())
	if up := at.Parent(); up != "" && (name == "sounding" || name == "human_input") {
		return up
	}
	return at
}

// anchor returns the identifier of an element for a path.
func anchor(path string) string {
	h := fnv.New64a()
	h.Write([]byte(path))
	return "x" + strconv.FormatUint(h.Sum64(), 36)
}
