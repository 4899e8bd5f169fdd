package pages

import (
	"hash/fnv"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/seed61713e19/capstan/runner/event"
)

// link is a path of the server with its query; parameters come in pairs, and
// those that are "" are left out.
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

// runLink is the page of a run, or one below it: "/text".
func runLink(id string, rest ...string) string {
	return "/runs/" + url.PathEscape(id) + strings.Join(rest, "")
}

// phaseLink is the page of a phase, with further parameters.
func phaseLink(run string, at event.Path, pairs ...string) string {
	return link(runLink(run, "/phase"), append([]string{"at", string(at)}, pairs...)...)
}

// attemptLink is where an attempt stands on the page of its run.
func attemptLink(run string, at event.Path) string {
	if strings.Count(string(at), "/") > 1 { // it is folded away in the timeline
		return phaseLink(run, phasePath(at)) + "#" + anchor(string(at))
	}
	return link(runLink(run), "open", at.First()) + "#" + anchor(string(at))
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

// anchor is a name for the element of a path: letters and digits alone.
func anchor(path string) string {
	h := fnv.New64a()
	h.Write([]byte(path))
	return "x" + strconv.FormatUint(h.Sum64(), 36)
}
