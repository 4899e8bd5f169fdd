package receipt

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"maps"
	"reflect"
	"slices"

	"github.com/seed61713e19/capstan/runner/signatures"
)

// A Source gives a text from its beginning each time it is called. Texts of any
// length are streamed.
type Source func() (io.ReadCloser, error)

// Bytes is a text that is there.
func Bytes(text []byte) Source {
	return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }
}

// maxJSON is how long a text may be to be read as JSON in another spelling, in
// bytes.
const maxJSON = 64 << 20

// matches tells how the text is the one of the claim, or that it is not.
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
	reason := fmt.Errorf("is %s, and the text that is here %s", c.Text, sums[exact])
	if said := text.nearly(c.Text); said != "" {
		reason = fmt.Errorf("%w; %s", reason, said)
	}
	return "", &signatures.Flaw{Field: "subject[0].digest.sha256", Err: reason}
}

// canonical is the digest of the text as JSON, "" where it is none or too long.
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
	text, err := signatures.CanonicalText(raw)
	if err != nil {
		return ""
	}
	return signatures.Digest(text)
}

// exact is a text as it is; the others are what editors and mail make of one.
const exact = "exact"

// spellings are the ways in which a text that was copied may differ from what
// was released, with what to say of a text that would match but for that.
var spellings = map[string]string{
	"lf":      "it would match with its line ends CR LF made LF",
	"crlf":    "it would match with its line ends LF made CR LF",
	"bom":     "it would match without the byte order mark that it begins with",
	"noend":   "it would match without the line end that it ends with",
	"withend": "it would match with a line end behind it",
}

// nearly says with what change the text would have that digest, "" for none.
func (s Source) nearly(want string) string {
	names := slices.Sorted(maps.Keys(spellings))
	sums, err := s.sums(names...)
	if err != nil {
		return ""
	}
	for _, name := range names {
		if sums[name] == want {
			return spellings[name] + "; the exact bytes count"
		}
	}
	return ""
}

// sums reads the text once and gives its digest in each spelling.
func (s Source) sums(names ...string) (map[string]string, error) {
	r, err := s()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	sinks := make([]io.Writer, len(names))
	hashes := make([]hash.Hash, len(names))
	for i, name := range names {
		hashes[i] = sha256.New()
		sinks[i] = &respelt{to: hashes[i], as: name}
	}
	if _, err := io.Copy(io.MultiWriter(sinks...), r); err != nil {
		return nil, err
	}
	sums := map[string]string{}
	for i, name := range names {
		sinks[i].(*respelt).end()
		sums[name] = "sha256:" + hex.EncodeToString(hashes[i].Sum(nil))
	}
	return sums, nil
}

// A respelt writes what it is given in another spelling. What ends a piece may
// go on in the next, so a CR or LF there is held back.
type respelt struct {
	to    hash.Hash
	as    string
	begun bool
	held  []byte
}

func (w *respelt) Write(p []byte) (int, error) {
	n := len(p)
	text := p
	switch w.as {
	case exact, "withend":
		w.to.Write(p)
		return n, nil
	}
	text = append(w.held, text...)
	w.held = nil
	if w.as == "bom" {
		if !w.begun && len(text) < len(mark) && bytes.HasPrefix(mark, text) {
			w.held = text
			return n, nil
		}
		if !w.begun {
			text = bytes.TrimPrefix(text, mark)
		}
		w.begun = true
		w.to.Write(text)
		return n, nil
	}
	keep := len(text)
	for keep > 0 && len(text)-keep < 2 && (text[keep-1] == '\n' || text[keep-1] == '\r') {
		keep--
	}
	w.held = bytes.Clone(text[keep:])
	w.to.Write(w.spelt(text[:keep]))
	return n, nil
}

var mark = []byte("\xef\xbb\xbf")

func (w *respelt) spelt(text []byte) []byte {
	switch w.as {
	case "lf":
		return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	case "crlf":
		return bytes.ReplaceAll(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), []byte("\n"), []byte("\r\n"))
	}
	return text
}

// end writes what was held back.
func (w *respelt) end() {
	switch w.as {
	case "withend":
		w.to.Write([]byte("\n"))
	case "noend":
		w.to.Write(bytes.TrimSuffix(bytes.TrimSuffix(w.held, []byte("\n")), []byte("\r")))
	default:
		w.to.Write(w.spelt(w.held))
	}
}

// difference names the first place where two JSON texts differ.
func difference(a, b []byte) string {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return "payload"
	}
	if at := differ("", x, y); at != "" {
		return at
	}
	return "payload"
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
