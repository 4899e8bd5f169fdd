package capy

import (
	"bytes"
	"strings"
)

func plainID(id string) string {
	return strings.ToLower(strings.NewReplacer("-", "", "_", "", " ", "", ".", "").Replace(id))
}

// idAt reads an identifier of a question at t[i:]: RQ1, RQ-AS-2, AS-1, GDR 3,
// or, where the policy names them, M-3a.
func (q *questionnaire) idAt(t []byte, i int) (id, platform string, end int) {
	if i > 0 && isASCIIWord(t[i-1]) {
		return "", "", i
	}
	if len(q.ids) > 0 {
		return q.namedAt(t, i)
	}
	end = i
	rq := false
	if n, ok := hasFold(t[end:], "rq"); ok && isUpper(t[end]) {
		rq = true
		end = gapAfter(t, end+n)
	} else if n, ok := hasFold(t[end:], "research question "); ok {
		rq = true
		end += n
	}
	for _, p := range []string{"AS", "GDR"} {
		if bytes.HasPrefix(t[end:], []byte(p)) && end+len(p) < len(t) && (isDigit(t[end+len(p)]) || gapAfter(t, end+len(p)) > end+len(p)) {
			platform = p
			end = gapAfter(t, end+len(p))
		}
	}
	if !rq && platform == "" {
		return "", "", i
	}
	digits := end
	for end < len(t) && isDigit(t[end]) && end-digits < 3 {
		end++
	}
	if end == digits || end < len(t) && isASCIIWord(t[end]) && !(isLower(t[end]) && (end+1 == len(t) || !isASCIIWord(t[end+1]))) {
		return "", "", i
	}
	if end < len(t) && isLower(t[end]) {
		end++
	}
	number := strings.TrimLeft(string(t[digits:end]), "0")
	if !rq {
		return platform + "-" + number, platform, end
	}
	if platform != "" {
		number = platform + "-" + number
	}
	return "RQ" + number, platform, end
}

// gapAfter skips one separator of an identifier.
func gapAfter(t []byte, i int) int {
	if i < len(t) && (t[i] == '-' || t[i] == '_' || t[i] == ' ' || t[i] == '#') {
		return i + 1
	}
	return i
}

// namedAt reads one of the policy's identifiers, or another of their make.
func (q *questionnaire) namedAt(t []byte, i int) (id, platform string, end int) {
	if !q.prefixes[t[i]|0x20] || !isUpper(t[i]) {
		return "", "", i
	}
	end = i + 1
	if end >= len(t) || t[end] != '-' && t[end] != '_' && t[end] != '.' && !isDigit(t[end]) {
		return "", "", i
	}
	if !isDigit(t[end]) {
		end++
	}
	digits := end
	for end < len(t) && isDigit(t[end]) && end-digits < 2 {
		end++
	}
	if end == digits {
		return "", "", i
	}
	if end < len(t) && isLetter(t[end]) && t[end] < 0x80 && (end+1 == len(t) || !isASCIIWord(t[end+1])) {
		end++
	}
	if end < len(t) && (isASCIIWord(t[end]) || t[end] == '.' && end+1 < len(t) && isDigit(t[end+1])) {
		return "", "", i
	}
	raw := plainID(string(t[i:end]))
	if known := q.ids[raw]; known != "" {
		return known, "", end
	}
	for part := range q.ids {
		if strings.HasPrefix(part, raw) {
			return "", "", i // M-3 over M-3a and M-3b
		}
	}
	return strings.ToUpper(raw[:1]) + "-" + raw[1:], "", end
}

// rangeEndID says that RQ1 is the first of a range, RQ1-RQ6.
func rangeEndID(t []byte, i int) bool {
	rest := bytes.TrimLeft(t[i:], " ")
	for _, s := range []string{"-", "–", "—", "to ", "through ", "…", "...", ",", "&", "and ", "/"} {
		if bytes.HasPrefix(rest, []byte(s)) {
			rest = bytes.TrimLeft(rest[len(s):], " ")
			n, ok := hasFold(rest, "rq")
			return ok && n < len(rest)
		}
	}
	return false
}

// platformIn finds the name of a platform in a text.
func platformIn(t []byte) string {
	switch {
	case gdrNames.has(t):
		return "GDR"
	case asNames.has(t):
		return "AS"
	}
	return ""
}
