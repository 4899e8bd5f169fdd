package capy

import (
	"bytes"
	"strings"
)

var together = strings.NewReplacer("-", "", "_", "", " ", "", ".", "")

func plainID(id string) string { return strings.ToLower(together.Replace(id)) }

// questionIDs reads identifiers of research questions: of a platform, or those
// that the policy names.
type questionIDs struct {
	named map[string]string // of the policy: m3a → M-3a
	first [256]bool         // the letters that they begin with
}

func newQuestionIDs(want *Questions) *questionIDs {
	q := &questionIDs{named: map[string]string{}}
	for _, id := range want.IDs {
		if raw := plainID(id); raw != "" {
			q.named[raw] = id
			q.first[strings.ToUpper(raw)[0]] = true
		}
	}
	if len(q.named) == 0 {
		for _, c := range "RrAGD" { // RQ, research question, and platformNames
			q.first[c] = true
		}
	}
	return q
}

// at reads an identifier of a question at t[i:]: RQ1, RQ-AS-2, AS-1, GDR 3,
// or, where the policy names them, M-3a.
func (q *questionIDs) at(t []byte, i int) (id string, end int) {
	if i >= len(t) || !q.first[t[i]] || i > 0 && word(t[i-1]) {
		return "", i
	}
	if len(q.named) > 0 {
		return q.namedAt(t, i)
	}
	end = i
	rq, platform := false, ""
	if n, ok := foldPrefix(t[end:], "rq"); ok && capital(t[end]) {
		rq = true
		end = gapAfter(t, end+n)
	} else if n, ok := foldPrefix(t[end:], "research question "); ok {
		rq = true
		end += n
	}
	long := false
	for _, p := range platformNames {
		n := len(p.name)
		if platform == "" && end < len(t) && p.name[0] == t[end] && bytes.HasPrefix(t[end:], []byte(p.name)) && end+n < len(t) && (digit(t[end+n]) || gapAfter(t, end+n) > end+n) {
			platform, long = p.short, n > 3 && t[end+n] == ' '
			end = gapAfter(t, end+n)
		}
	}
	if !rq && platform == "" {
		return "", i
	}
	digits := end
	for end < len(t) && digit(t[end]) && end-digits < 3 {
		end++
	}
	if end == digits || end < len(t) && word(t[end]) && !(small(t[end]) && (end+1 == len(t) || !word(t[end+1]))) {
		return "", i
	}
	if end < len(t) && small(t[end]) {
		end++
	}
	number := strings.TrimLeft(string(t[digits:end]), "0")
	if rest := t[end:]; !rq && (len(rest) > 1 && rest[0] == '.' && digit(rest[1]) || long && !bytes.HasPrefix(rest, []byte{':'})) {
		return "", i // a version, or so many of them
	}
	if !rq {
		return platform + "-" + number, end
	}
	if platform != "" {
		number = platform + "-" + number
	}
	return "RQ" + number, end
}

// platformNames are what identifiers of a platform's questions begin with.
var platformNames = []struct{ name, short string }{
	{"AS", "AS"}, {"GDR", "GDR"}, {"AlphaSense", "AS"}, {"ALPHASENSE", "AS"}, {"Alpha Sense", "AS"}, {"Gemini Deep Research", "GDR"}, {"Deep Research", "GDR"}, {"Gemini", "GDR"},
}

// gapAfter skips one separator of an identifier.
func gapAfter(t []byte, i int) int {
	if i+1 < len(t) && t[i] == '\\' && t[i+1] == '-' { // escaped by a program
		i++
	}
	if i < len(t) && (t[i] == '-' || t[i] == '_' || t[i] == ' ' || t[i] == '#') {
		return i + 1
	}
	return i
}

// namedAt reads one of the policy's identifiers, or another of their make.
func (q *questionIDs) namedAt(t []byte, i int) (id string, end int) {
	end = i + 1
	if !capital(t[i]) || end >= len(t) || t[end] != '-' && t[end] != '_' && t[end] != '.' && !digit(t[end]) {
		return "", i
	}
	if !digit(t[end]) {
		end++
	}
	digits := end
	for end < len(t) && digit(t[end]) && end-digits < 2 {
		end++
	}
	if end == digits {
		return "", i
	}
	if end < len(t) && (small(t[end]) || capital(t[end])) && (end+1 == len(t) || !word(t[end+1])) {
		end++
	}
	if end < len(t) && (word(t[end]) || t[end] == '.' && end+1 < len(t) && digit(t[end+1])) {
		return "", i
	}
	raw := plainID(string(t[i:end]))
	if known := q.named[raw]; known != "" {
		return known, end
	}
	for part := range q.named {
		if strings.HasPrefix(part, raw) {
			return "", i // M-3 over M-3a and M-3b
		}
	}
	return strings.ToUpper(raw[:1]) + "-" + raw[1:], end
}

// rangeOfIDs says that what stands behind RQ1 makes it the first of a range,
// RQ1-RQ6.
func rangeOfIDs(t []byte) bool {
	rest := bytes.TrimLeft(t, " ")
	for _, s := range []string{"-", "–", "—", "to ", "through ", "…", "...", ",", "&", "and ", "/"} {
		if bytes.HasPrefix(rest, []byte(s)) {
			rest = bytes.TrimLeft(rest[len(s):], " ")
			n, ok := foldPrefix(rest, "rq")
			return ok && n < len(rest)
		}
	}
	return false
}

func digit(c byte) bool   { return c >= '0' && c <= '9' }
func small(c byte) bool   { return c >= 'a' && c <= 'z' }
func capital(c byte) bool { return c >= 'A' && c <= 'Z' }
