package reading

import (
	"bytes"
	"strings"
)

// Said gives what stands behind a name and a link, without tags in front of it;
// linked is false where there is no link.
func Said(t []byte) (rest []byte, linked bool) {
	rest, linked = linkedTo(t)
	for len(rest) > 0 && rest[0] == '<' && tag(rest) > 0 {
		rest = bytes.TrimLeft(rest[tag(rest):], " *`_")
	}
	return rest, linked
}

func linkedTo(t []byte) (rest []byte, linked bool) {
	t = t[:min(len(t), 400)]
	for i := 0; i < len(t) && i < 60; i++ {
		switch c := t[i]; {
		case c == ':' || c == '=' || c == '|':
			return bytes.Trim(t[i+1:], " *`_"), true
		case bytes.HasPrefix(t[i:], []byte("≈")), bytes.HasPrefix(t[i:], []byte("—")), bytes.HasPrefix(t[i:], []byte("–")), bytes.HasPrefix(t[i:], []byte("→")), bytes.HasPrefix(t[i:], []byte("：")):
			return bytes.Trim(t[i+3:], " *`_"), true
		case c == '(' && i < 3 && hasDigit(t[i:]):
			return t[i+1:], true
		case bytes.HasPrefix(t[i:], []byte(" of ")), bytes.HasPrefix(t[i:], []byte(" is ")):
			return bytes.Trim(t[i+4:], " *`_"), true
		case bytes.HasPrefix(t[i:], []byte(" - ")):
			return bytes.Trim(t[i+3:], " *`_"), true
		case c == '.' && i+1 < len(t) && t[i+1] == ' ':
			return nil, false
		}
	}
	return nil, false
}

// isLabel says that a phrase opens its line, or the bold part of it.
func isLabel(t []byte, start int) bool {
	if bytes.HasPrefix(t, []byte("**")) {
		if end := bytes.Index(t[2:], []byte("**")); end >= 0 && start < end+2 {
			return true
		}
	}
	head := bytes.Trim(t[:start], " *_`#\"(=")
	return len(head) == 0 || len(head) < 24 && bytes.IndexByte(t[start:min(len(t), start+60)], ':') >= 0
}

// maxArtifact is the highest n of an artifact A.n.
const maxArtifact = 99

// ArtifactAt reads A.n, An, A_n or A-n at t[i:], in any case where there is a point or a
// name behind it.
func ArtifactAt(t []byte, i int) (n, end int, dotted bool) {
	if i >= len(t) || t[i]|0x20 != 'a' || i > 0 && (isASCIIWord(t[i-1]) || t[i-1] == '.') {
		return 0, i, false
	}
	end = i + 1
	if end < len(t) && t[end] == '.' {
		dotted = true
		end++
	} else if end < len(t) && (t[end] == '_' || t[end] == '-') {
		end++
	}
	start := end
	for end < len(t) && isDigit(t[end]) && end-start < 3 {
		n = n*10 + int(t[end]-'0')
		end++
	}
	if end == start || n == 0 || n > maxArtifact || t[start] == '0' {
		return 0, i, false
	}
	if end < len(t) && (isASCIIWord(t[end]) || t[end] == '.' && end+1 < len(t) && isDigit(t[end+1])) {
		return 0, i, false // A.7.1, A.7b
	}
	if t[i] == 'a' && !dotted && (end == len(t) || t[end] != '_') {
		return 0, i, false // a7
	}
	return n, end, dotted
}

// KeyArtifact reads a JSON key A.n_NAME, or artifact_A.n_NAME, and gives n, or 0; a key
// without a name must have the point.
func KeyArtifact(key []byte) int {
	if n, ok := hasFold(key, "artifact "); ok {
		key = key[n:]
	}
	n, end, dotted := ArtifactAt(key, 0)
	if n == 0 || end < len(key) && key[end] != '_' && key[end] != ' ' && key[end] != '-' && key[end] != ':' || end == len(key) && !dotted {
		return 0
	}
	return n
}

// schemaArtifact reads the artifact at the end of a schema's version:
// G3_2.2.2eS_A10.
func schemaArtifact(v []byte) int {
	for i := bytes.LastIndexAny(v, "_-/ "); i >= 0; i = bytes.LastIndexAny(v[:i], "_-/ ") {
		if n, _, _ := ArtifactAt(v, i+1); n > 0 {
			return n
		}
		if t := v[i+1:]; len(t) > 1 && t[0] == 'A' {
			digits := len(t) - len(strings.TrimLeft(string(t[1:]), "0123456789")) - 1
			if n, _, _ := ArtifactAt(t[:1+digits], 0); n > 0 {
				return n
			}
		}
	}
	n, _, _ := ArtifactAt(v, 0)
	return n
}

// sectionA says that a heading's parts would be numbered A.1, A.2 and so on.
func sectionA(title []byte) bool {
	title = bytes.TrimLeft(title, " *_")
	for _, s := range []string{"section a", "part a", "appendix a", "annex a", "phase a", "step a"} {
		if n, ok := hasFold(title, s); ok && (n == len(title) || !isASCIIWord(title[n])) {
			return true
		}
	}
	return len(title) > 1 && title[0] == 'A' && (title[1] == '.' && (len(title) == 2 || title[2] == ' ') || title[1] == ':' || title[1] == ')')
}
