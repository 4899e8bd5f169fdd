package receipts

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/internal/signatures"
)

// A Source opens a text from its beginning, each time it is called. Texts may
// have any length, because they are streamed.
type Source func() (io.ReadCloser, error)

// Bytes returns the source of a text in memory.
func Bytes(text []byte) Source {
	return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }
}

// maxJSON is the maximum length of a text that is compared as JSON, in bytes.
const maxJSON = 64 << 20

// matches describes how the text matches the claim, or returns an error.
func (c *Claim) matches(text Source) (string, error) {
	sums, err := text.sums(exact)
	if err != nil {
		return "", &signatures.Flaw{Field: "text", Err: fmt.Errorf("cannot be read: %w", err), Unreadable: true}
	}
	if sums[exact] == c.Text {
		return "the text is " + c.Text, nil
	}
	if c.Output != "" && text.canonical() == c.Output {
		return "the text is the released JSON value in another spelling: " + c.Output, nil
	}
	reason := fmt.Errorf("is %s, but the text has %s", c.Text, sums[exact])
	if hint := text.similarSpelling(c.Text); hint != "" {
		reason = fmt.Errorf("%w; %s", reason, hint)
	}
	return "", &signatures.Flaw{Field: "subject[0].digest.sha256", Err: reason}
}

// canonical returns the digest of the text's canonical JSON. It returns "" for a text
// that is not JSON or too long.
func (s Source) canonical() string {
	r, err := s()
	if err != nil {
		return ""
	}
	defer r.Close()
	raw, err := io.ReadAll(io.LimitReader(r, maxJSON+1))
	if err != nil || len(raw) > maxJSON {
		return ""
	}
	if text, err := signatures.CanonicalText(raw); err == nil {
		return signatures.Digest(text)
	}
	if !jsontext.Value(raw).IsValid() { // other ambiguities than numbers
		return ""
	}
	v, err := schema.Parse(raw)
	if err != nil {
		return ""
	}
	digest, _ := valueDigest(v)
	return digest
}

// A spelling is a change that editors and mail programs make to a text. The
// zero value changes nothing.
type spelling struct {
	noMark bool   // removes the byte order mark
	ends   string // the new line ends: "", lf or crlf
	last   string // removes or adds the last line end: "", less or more
}

const (
	lf, crlf   = "\n", "\r\n"
	less, more = "less", "more"
)

var exact spelling

// spellings returns the spellings of a copied text, those with fewer changes
// first.
func spellings() (list []spelling) {
	for _, bare := range []bool{false, true} {
		for _, ends := range []string{"", lf, crlf} {
			for _, last := range []string{"", less, more} {
				list = append(list, spelling{bare, ends, last})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b spelling) int { return len(a.changes()) - len(b.changes()) })
	return list[1:]
}

// changes describes the changes of a spelling.
func (s spelling) changes() (list []string) {
	if s.noMark {
		list = append(list, "without the byte order mark that it begins with")
	}
	switch s.ends {
	case lf:
		list = append(list, "with its line ends CR LF made LF")
	case crlf:
		list = append(list, "with its line ends LF made CR LF")
	}
	switch s.last {
	case less:
		list = append(list, "without the line end that it ends with")
	case more:
		list = append(list, "with a line end behind it")
	}
	return list
}

// similarSpelling describes the changes with which the text would have the
// digest, or returns "".
func (s Source) similarSpelling(want string) string {
	list, err := s.others()
	if err != nil {
		return ""
	}
	sums, err := s.sums(list...)
	if err != nil {
		return ""
	}
	for _, as := range list {
		if sums[as] == want {
			return "it would match " + strings.Join(as.changes(), ", ") + "; the exact bytes count"
		}
	}
	return ""
}

// others returns the spellings that differ from the text.
func (s Source) others() ([]spelling, error) {
	r, err := s()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var t traits
	if _, err := io.Copy(&t, r); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(spellings(), func(as spelling) bool {
		return as.noMark && !bytes.Equal(t.start, mark) || as.ends == lf && !t.cr || as.ends == crlf && !t.lf
	}), nil
}

// traits are the features of a text that spellings change.
type traits struct {
	start  []byte
	cr, lf bool
}

func (t *traits) Write(p []byte) (int, error) {
	t.start = append(t.start, p[:min(len(p), len(mark)-len(t.start))]...)
	t.cr, t.lf = t.cr || bytes.IndexByte(p, '\r') >= 0, t.lf || bytes.IndexByte(p, '\n') >= 0
	return len(p), nil
}

// sums reads the text once and returns its digest in each spelling.
func (s Source) sums(list ...spelling) (map[spelling]string, error) {
	r, err := s()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	sinks := make([]io.Writer, len(list))
	for i, as := range list {
		sinks[i] = &spellingHash{Hash: sha256.New(), as: as}
		if as == exact {
			sinks[i] = sinks[i].(*spellingHash).Hash
		}
	}
	if _, err := io.Copy(io.MultiWriter(sinks...), r); err != nil {
		return nil, err
	}
	sums := map[spelling]string{}
	for i, as := range list {
		sums[as] = "sha256:" + hex.EncodeToString(sinks[i].(hash.Hash).Sum(nil))
	}
	return sums, nil
}

// A spellingHash hashes a text in another spelling. A line end or byte order
// mark may be split between two writes, so it buffers the end of each write.
type spellingHash struct {
	hash.Hash
	as    spelling
	begun bool
	held  []byte
}

var mark = []byte("\xef\xbb\xbf")

func (w *spellingHash) Write(p []byte) (int, error) {
	text := append(w.held, p...)
	if !w.begun && len(text) < len(mark) && bytes.HasPrefix(mark, text) {
		w.held = text
		return len(p), nil
	}
	if !w.begun && w.as.noMark {
		text = bytes.TrimPrefix(text, mark)
	}
	w.begun = true
	end := len(text) - len(lineEnd(text, "\r"))
	w.Hash.Write(w.convert(text[:end]))
	w.held = bytes.Clone(text[end:])
	return len(p), nil
}

// lineEnd returns the line end of a text, or the given part of one.
func lineEnd(text []byte, part string) string {
	for _, end := range []string{crlf, lf, part} {
		if bytes.HasSuffix(text, []byte(end)) {
			return end
		}
	}
	return ""
}

func (w *spellingHash) convert(text []byte) []byte {
	if w.as.ends == "" {
		return text
	}
	text = bytes.ReplaceAll(text, []byte(crlf), []byte(lf))
	if w.as.ends == crlf {
		text = bytes.ReplaceAll(text, []byte(lf), []byte(crlf))
	}
	return text
}

// Sum returns the hash of the whole text.
func (w *spellingHash) Sum(b []byte) []byte {
	rest := w.held
	switch w.as.last {
	case less:
		rest = rest[:len(rest)-len(lineEnd(rest, ""))]
	case more:
		rest = append(bytes.Clone(rest), lf...)
	}
	w.Hash.Write(w.convert(rest))
	return w.Hash.Sum(b)
}

// difference returns the first path where two JSON texts differ.
func difference(a, b []byte) string {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return "payload"
	}
	return cmp.Or(differ("", x, y), "payload")
}

func differ(at string, x, y any) string {
	switch x := x.(type) {
	case map[string]any:
		y, ok := y.(map[string]any)
		if !ok {
			return at
		}
		both := maps.Clone(x)
		maps.Copy(both, y)
		for _, name := range slices.Sorted(maps.Keys(both)) {
			a, inX := x[name]
			b, inY := y[name]
			place := name
			if at != "" {
				place = at + "." + name
			}
			if inX != inY {
				return place
			}
			if found := differ(place, a, b); found != "" {
				return found
			}
		}
		return ""
	case []any:
		y, ok := y.([]any)
		if !ok || len(x) != len(y) {
			return at
		}
		for i := range x {
			if found := differ(fmt.Sprintf("%s[%d]", at, i), x[i], y[i]); found != "" {
				return found
			}
		}
		return ""
	}
	if reflect.DeepEqual(x, y) {
		return ""
	}
	return at
}
