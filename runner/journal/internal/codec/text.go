package codec

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"iter"
	"strings"

	"github.com/seed61713e19/capstan/internal/encodings"
	"github.com/seed61713e19/capstan/internal/jsonvalue"
	"github.com/seed61713e19/capstan/runner/event"
)

// A Digest identifies a text, a conversation or a request by its content.
type Digest [20]byte

// NameDigits is the number of hexadecimal digits of a digest.
const NameDigits = 2 * len(Digest{})

// DigestOf returns the digest of the concatenation of parts.
func DigestOf(parts ...[]byte) Digest {
	h := sha256.New()
	for _, p := range parts {
		h.Write(p)
	}
	return sumOf(h)
}

func sumOf(h hash.Hash) (d Digest) {
	var sum [sha256.Size]byte
	copy(d[:], h.Sum(sum[:0]))
	return d
}

// A string of at least this length is stored once, in its own table. The text
// of a phase is in six rows: the reply, the ends of attempt, phase and run, and
// twice in the result. The reason of a verdict is in one row, and lists show
// it.
const (
	LongText   = 128
	LongReason = 512
)

// Reference begins the string that replaces a long string; the digest follows. If a
// text itself begins with reference, it is stored as a long string.
const Reference = `"#text:`

// A Text is a long string that must be written.
type Text struct {
	Digest Digest
	Text   string
}

// A Packer prepares JSON for the store: it removes secrets and long strings.
type Packer struct {
	Secrets *Secrets
	Texts   []Text
}

// Pack removes the long strings from redacted JSON.
func (p *Packer) Pack(raw []byte, long int) []byte {
	if len(raw) < long && !bytes.Contains(raw, []byte(Reference)) {
		return raw
	}
	return encodings.Rewrite(raw, func(token []byte) []byte {
		if len(token) < long && !bytes.HasPrefix(token, []byte(Reference)) {
			return nil
		}
		text := encodings.Said(token)
		if len(text) < long && !bytes.HasPrefix(text, []byte(Reference[1:])) {
			return nil
		}
		return p.addText(text)
	})
}

// LongFrom returns the length from which the strings of a row are long, in bytes.
func LongFrom(kind string) int {
	if kind == FindingEffect || kind == string(event.VerdictGiven) {
		return LongReason
	}
	return LongText
}

// addText records a text and returns the token that replaces it.
func (p *Packer) addText(text []byte) []byte {
	d := DigestOf(text)
	p.Texts = append(p.Texts, Text{d, string(text)})
	return append(hex.AppendEncode([]byte(Reference), d[:]), '"')
}

// Encode returns the packed JSON of a value.
func (p *Packer) Encode(v any) ([]byte, error) {
	raw, err := encodings.Of(v)
	if err != nil {
		return nil, err
	}
	return p.Pack(p.Secrets.RedactAs(raw, v), LongText), nil
}

// InsertTexts inserts the long strings again. read returns the text with a digest.
func InsertTexts(raw []byte, read func(Digest) (string, error)) ([]byte, error) {
	var failed error
	whole := encodings.Rewrite(raw, func(token []byte) []byte {
		name, found := bytes.CutPrefix(token, []byte(Reference))
		if failed != nil || !found {
			return nil
		}
		var d Digest
		if d, failed = ParseDigest(string(name[:len(name)-1])); failed != nil {
			return nil
		}
		var text string
		if text, failed = read(d); failed != nil {
			return nil
		}
		return jsonvalue.AppendText(nil, text)
	})
	return whole, failed
}

// ErrTextName is the error for a string that only looks like the name of a text.
var ErrTextName = errors.New("no name of a text")

// ParseDigest returns the digest that the name of a text contains.
func ParseDigest(name string) (d Digest, err error) {
	if len(name) != NameDigits {
		return d, fmt.Errorf("%w: %q", ErrTextName, name)
	}
	if _, err := hex.Decode(d[:], []byte(name)); err != nil {
		return d, fmt.Errorf("%w: %q", ErrTextName, name)
	}
	return d, nil
}

// References yields the digests of the long texts that JSON refers to.
func References(data string) iter.Seq[Digest] {
	return func(yield func(Digest) bool) {
		for {
			_, rest, found := strings.Cut(data, Reference)
			if data = rest; !found {
				return
			}
			if d, err := ParseDigest(data[:min(len(data), NameDigits)]); err == nil && !yield(d) {
				return
			}
		}
	}
}
