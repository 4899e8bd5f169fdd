package journal

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/runner/model"
)

// A digest names a text, a conversation or a request by what is in it.
type digest [20]byte

func digestOf(parts ...[]byte) digest {
	h := sha256.New()
	for _, p := range parts {
		h.Write(p)
	}
	return sumOf(h)
}

func sumOf(h hash.Hash) (d digest) {
	var sum [sha256.Size]byte
	copy(d[:], h.Sum(sum[:0]))
	return d
}

// long is how many bytes a string has that is kept once, in a table of its
// own, whatever holds it.
const long = 512

// Where a long string stood there is a string of this beginning and the
// digest. A string that begins so by itself is kept as a long one is.
const reference = `"#text:`

// A text is a long string on its way to the file.
type text struct {
	digest digest
	text   string
}

// A packer makes JSON ready for the file: without secrets, and without long
// strings.
type packer struct {
	secrets *secrets
	texts   []text
	lifts   bool // some were taken out before the JSON was made
}

// pack takes the long strings out of JSON that was redacted.
func (p *packer) pack(raw []byte) []byte {
	packed := p.apartAll(raw)
	if p.lifts {
		packed = bytes.ReplaceAll(packed, []byte(liftedReference), []byte(reference))
	}
	return packed
}

func (p *packer) apartAll(raw []byte) []byte {
	if len(raw) < long && !bytes.Contains(raw, []byte(reference)) {
		return raw
	}
	return rewrite(raw, func(token []byte) []byte {
		if len(token) < long && !bytes.HasPrefix(token, []byte(reference)) {
			return nil
		}
		said := spoken(token)
		if len(said) < long && !bytes.HasPrefix(said, []byte(reference[1:])) {
			return nil
		}
		return p.apart(said)
	})
}

// apart keeps a text, and gives the token that stands for it.
func (p *packer) apart(said []byte) []byte {
	d := digestOf(said)
	p.texts = append(p.texts, text{d, string(said)})
	return append(hex.AppendEncode([]byte(reference), d[:]), '"')
}

// encode is the packed JSON of a value.
func (p *packer) encode(v any) ([]byte, error) {
	raw, err := encode(v)
	if err != nil {
		return nil, err
	}
	return p.pack(p.secrets.redact(raw)), nil
}

// with is the JSON of an object with another field at its end.
func with(object []byte, name string, value []byte) []byte {
	object = object[:len(object)-1]
	if len(object) > len("{") {
		object = append(object, ',')
	}
	object = slices.Grow(object, len(name)+len(value)+len(`"":}`))
	return append(append(append(model.AppendText(object, name), ':'), value...), '}')
}

// encode is the JSON of a value, with < > and & as they are, and bytes that are
// not UTF-8 as the replacement character that they read back as.
func encode(v any) ([]byte, error) {
	raw, _, err := encodeAs(v)
	return raw, err
}

// An encoder writes one value after the other.
type encoder struct {
	b  bytes.Buffer
	to *json.Encoder
}

var encoders = sync.Pool{New: func() any {
	e := &encoder{}
	e.to = json.NewEncoder(&e.b)
	e.to.SetEscapeHTML(false)
	return e
}}

// done gives an encoder back, unless it holds much. One that failed goes on
// failing.
func (e *encoder) done() {
	if e.b.Len() > 0 && e.b.Cap() <= manyBytes {
		e.b.Reset()
		encoders.Put(e)
	}
}

// encodeAs is encode, which also tells of bytes that do not read back as they
// are.
func encodeAs(v any) (raw []byte, lossy bool, err error) {
	e := encoders.Get().(*encoder)
	defer e.done()
	if err := e.to.Encode(v); err != nil {
		return nil, false, err
	}
	raw = bytes.Clone(bytes.TrimSuffix(e.b.Bytes(), []byte("\n")))
	if lossy = bytes.Contains(raw, []byte(`\ufffd`)); lossy {
		raw = rewrite(raw, func(token []byte) []byte { return model.AppendText(nil, string(spoken(token))) })
	}
	return raw, lossy, nil
}

// rewrite gives JSON with the strings changed for which change gives another
// token. Keys are strings too.
func rewrite(raw []byte, change func(token []byte) []byte) []byte {
	var out []byte
	kept := 0
	for i := 0; i < len(raw); {
		start := bytes.IndexByte(raw[i:], '"')
		if start < 0 {
			break
		}
		start += i
		end := closing(raw, start)
		if token := change(raw[start:end]); token != nil {
			out = append(append(out, raw[kept:start]...), token...)
			kept = end
		}
		i = end
	}
	if kept == 0 {
		return raw
	}
	return append(out, raw[kept:]...)
}

// closing is the end of the string that begins at start.
func closing(raw []byte, start int) int {
	for i := start + 1; i < len(raw); i++ {
		n := bytes.IndexByte(raw[i:], '"')
		if n < 0 {
			break
		}
		i += n
		slashes := 0
		for raw[i-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return i + 1
		}
	}
	return len(raw)
}

// spoken is the string that a token says. Tokens are of our own encoding, which
// writes little else than line ends and quotes as escapes.
func spoken(token []byte) []byte {
	if said, ok := unescaped(token); ok {
		return said
	}
	var s string
	_ = json.Unmarshal(token, &s)
	return []byte(s)
}

// unescaped reads a token that has only the short escapes in it: in place,
// where it has none.
func unescaped(token []byte) ([]byte, bool) {
	if len(token) < 2 || !utf8.Valid(token) {
		return nil, false
	}
	rest := token[1 : len(token)-1 : len(token)-1]
	n := bytes.IndexByte(rest, '\\')
	if n < 0 {
		return rest, true
	}
	said := make([]byte, 0, len(rest))
	for ; n >= 0; n = bytes.IndexByte(rest, '\\') {
		if n+1 == len(rest) {
			return nil, false
		}
		i := strings.IndexByte(`"\/bfnrt`, rest[n+1])
		if i < 0 {
			return nil, false
		}
		said = append(append(said, rest[:n]...), "\"\\/\b\f\n\r\t"[i])
		rest = rest[n+2:]
	}
	return append(said, rest...), true
}

// unpack puts the long strings back, and gives the whole as the view has it.
func (j *Journal) unpack(ctx context.Context, c *conn, raw []byte, v view) ([]byte, error) {
	if !bytes.Contains(raw, []byte(reference)) {
		return v.read(raw), nil
	}
	var failed error
	whole := rewrite(raw, func(token []byte) []byte {
		if failed != nil || !bytes.HasPrefix(token, []byte(reference)) {
			return nil
		}
		var said string
		if said, failed = j.text(ctx, c, token[len(reference):len(token)-1]); failed != nil {
			return nil
		}
		return model.AppendText(nil, said)
	})
	return v.read(whole), failed
}

// text reads one long string.
func (j *Journal) text(ctx context.Context, c *conn, name []byte) (string, error) {
	d := make([]byte, hex.DecodedLen(len(name)))
	if _, err := hex.Decode(d, name); err != nil {
		return "", j.garbled(fmt.Sprintf("text %s", name), err)
	}
	row, err := c.one(ctx, "SELECT text FROM text WHERE digest = ?", d)
	if err != nil {
		return "", err
	}
	if row == nil {
		return "", j.garbled(fmt.Sprintf("text %s is not there", name), nil)
	}
	said := word(row[0])
	found := digestText(said)
	if list, inParts := strings.CutPrefix(said, partly); inParts && !bytes.Equal(found[:], d) {
		if said, err = j.joined(ctx, c, list); err != nil {
			return "", err
		}
		found = digestText(said)
	}
	if !bytes.Equal(found[:], d) {
		return "", j.garbled(fmt.Sprintf("text %s is not what it was", name), nil)
	}
	return said, nil
}
