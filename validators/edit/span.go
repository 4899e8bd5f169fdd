package edit

import (
	"strings"

	"github.com/seed61713e19/capstan/validators/reading"
)

// How a span stands in a text.
type standing int

const (
	unasked standing = iota // there is no span
	absent
	foldedOnly // but for white space and letter case
	exact
)

var standings = map[standing]string{unasked: "", absent: "absent", foldedOnly: "folded", exact: "exact"}

// A haystack is a text that spans are looked for in; it is folded once, when
// the first span is not there letter by letter.
type haystack struct {
	text   string
	folded *string
}

// find tells how a span stands in the text. A span may leave something out,
// "the verifier … decides": then its pieces stand in this order.
func (h *haystack) find(span string) standing {
	pieces := spanPieces(span)
	if len(pieces) == 0 {
		return unasked
	}
	if ordered(h.text, pieces) {
		return exact
	}
	if h.folded == nil {
		s := fold(h.text)
		h.folded = &s
	}
	for i, p := range pieces {
		pieces[i] = fold(p)
	}
	if ordered(*h.folded, pieces) {
		return foldedOnly
	}
	return absent
}

func spanPieces(span string) []string {
	var out []string
	for p := range strings.SplitSeq(strings.ReplaceAll(span, "...", "…"), "…") {
		if p = strings.TrimSpace(p); p != "" {
			out = append(out, p)
		}
	}
	return out
}

func ordered(text string, pieces []string) bool {
	for _, p := range pieces {
		i := strings.Index(text, p)
		if i < 0 {
			return false
		}
		text = text[i+len(p):]
	}
	return true
}

// fold is how a text is compared but for its letter case and white space.
func fold(s string) string {
	s, _ = reading.Fold(s)
	return strings.TrimPrefix(s, " ")
}
