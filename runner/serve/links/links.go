// Package links says where pages are: that of a run and what is in it, and the element
// on it that shows a path.
package links

import (
	"hash/fnv"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/seed61713e19/capstan/runner/event"
)

// To is a path of the server with its query; parameters come in pairs, and
// those that are "" are left out.
func To(path string, pairs ...string) string {
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

// Run is the page of a run, or one below it: "/text".
func Run(id string, rest ...string) string {
	return "/runs/" + url.PathEscape(id) + strings.Join(rest, "")
}

// Phase is the page of a phase, with further parameters.
func Phase(run string, at event.Path, pairs ...string) string {
	return To(Run(run, "/phase"), append([]string{"at", string(at)}, pairs...)...)
}

// Attempt is where an attempt stands on the page of its run.
func Attempt(run string, at event.Path) string {
	if strings.Count(string(at), "/") > 1 { // it is folded away in the timeline
		return Phase(run, phasePath(at)) + "#" + Anchor(string(at))
	}
	return To(Run(run), "open", at.First()) + "#" + Anchor(string(at))
}

// phasePath is the path of the phase, or of the item of one, that an attempt is in:
// draft of draft/sounding[1]/attempt[2] and of draft/human_input/attempt[1].
func phasePath(at event.Path) event.Path {
	if i := strings.LastIndex(string(at), "/attempt["); i > 0 {
		at = at[:i]
	}
	name, _, _ := event.Numbered(at.Last())
	if up := at.Up(); up != "" && (name == "sounding" || name == "human_input") {
		return up
	}
	return at
}

// Anchor is a name for the element of a path: letters and digits alone.
func Anchor(path string) string {
	h := fnv.New64a()
	h.Write([]byte(path))
	return "x" + strconv.FormatUint(h.Sum64(), 36)
}
