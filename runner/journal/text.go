package journal

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"

	"github.com/seed61713e19/capstan/runner/journal/encodings"
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
	return encodings.Rewrite(raw, func(token []byte) []byte {
		if len(token) < long && !bytes.HasPrefix(token, []byte(reference)) {
			return nil
		}
		said := encodings.Said(token)
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
	raw, err := encodings.Of(v)
	if err != nil {
		return nil, err
	}
	return p.pack(p.secrets.redactAs(raw, v)), nil
}

// unpack puts the long strings back, and gives the whole as the view has it.
func (j *Journal) unpack(ctx context.Context, c *conn, raw []byte, v view) ([]byte, error) {
	if !bytes.Contains(raw, []byte(reference)) {
		return v.read(raw)
	}
	var failed error
	whole := encodings.Rewrite(raw, func(token []byte) []byte {
		if failed != nil || !bytes.HasPrefix(token, []byte(reference)) {
			return nil
		}
		var said string
		if said, failed = j.text(ctx, c, token[len(reference):len(token)-1]); failed != nil {
			return nil
		}
		return model.AppendText(nil, said)
	})
	if failed != nil {
		return nil, failed
	}
	return v.read(whole)
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
		return "", j.garbled(fmt.Sprintf("text %s has changed", name), nil)
	}
	return said, nil
}
