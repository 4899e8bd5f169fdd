package journal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/runner/journal/encodings"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/validators/schema"
)

// A run may be given a text of a hundred megabytes, which a copy or two more
// of it make too much. So strings from huge bytes on are not encoded with the
// value that holds them but taken out of it first, digested where they are, and
// written in parts.
const huge = 64 << 10

// hasHuge tells of a plain value with a huge string in it, which is UTF-8: one
// that is not is encoded as the encoder does.
func hasHuge(v any) bool {
	switch v := v.(type) {
	case string:
		return len(v) >= huge && utf8.ValidString(v)
	case []any:
		return slices.ContainsFunc(v, hasHuge)
	case map[string]any:
		for _, e := range v {
			if hasHuge(e) {
				return true
			}
		}
	}
	return false
}

// lifted stands for a string that was taken out of a value. Its JSON is one that
// no encoder writes for a string, so that pack leaves it and settled finds it.
type lifted digest

const liftedReference = `"\u0023text:`

// MarshalJSON writes the reference, with # as an escape.
func (l lifted) MarshalJSON() ([]byte, error) {
	return append(hex.AppendEncode([]byte(liftedReference), l[:]), '"'), nil
}

// lift keeps the huge strings of a plain value as texts, and gives the value
// without them.
func (p *packer) lift(v any) any {
	if !hasHuge(v) {
		return v
	}
	switch v := v.(type) {
	case string:
		said := p.secrets.hidden(v)
		d := digestText(said)
		p.texts, p.lifts = append(p.texts, text{d, said}), true
		return lifted(d)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = p.lift(v[i])
		}
		return out
	case map[string]any:
		return p.liftObject(v)
	}
	return v
}

func (p *packer) liftObject(v map[string]any) map[string]any {
	if !hasHuge(v) {
		return v
	}
	out := make(map[string]any, len(v))
	for k := range v {
		out[k] = p.lift(v[k])
	}
	return out
}

// digestText is the digest of a text, of which no copy is made.
func digestText(said string) (d digest) {
	h := sha256.New()
	writeText(h, said)
	return sumOf(h)
}

func writeText(w io.Writer, said string) {
	var piece [32 << 10]byte
	for len(said) > 0 {
		n := copy(piece[:], said)
		w.Write(piece[:n])
		said = said[n:]
	}
}

// writeJSON writes what [encodings.Of] gives of a plain value, its strings as read has
// them, piece by piece.
func writeJSON(w io.Writer, v any, read view) error {
	switch v := v.(type) {
	case string:
		return writeString(w, read.text(v))
	case []any:
		return writeList(w, "[", "]", len(v), func(i int) error { return writeJSON(w, v[i], read) })
	case map[string]any:
		keys := slices.Sorted(maps.Keys(v))
		return writeList(w, "{", "}", len(v), func(i int) error {
			if err := writeString(w, read.text(keys[i])); err != nil {
				return err
			}
			io.WriteString(w, ":")
			return writeJSON(w, v[keys[i]], read)
		})
	}
	raw, err := encodings.Of(v)
	w.Write(raw)
	return err
}

func writeList(w io.Writer, open, end string, n int, write func(i int) error) error {
	io.WriteString(w, open)
	for i := range n {
		if i > 0 {
			io.WriteString(w, ",")
		}
		if err := write(i); err != nil {
			return err
		}
	}
	io.WriteString(w, end)
	return nil
}

func writeString(w io.Writer, said string) error {
	if len(said) < huge || !utf8.ValidString(said) {
		raw, err := encodings.Of(said)
		w.Write(raw)
		return err
	}
	io.WriteString(w, `"`)
	for part := range parts(said, huge) {
		token := model.AppendText(nil, part)
		w.Write(token[1 : len(token)-1])
	}
	io.WriteString(w, `"`)
	return nil
}

// parts cuts a text into pieces of about n bytes, between characters.
func parts(said string, n int) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for len(said) > 0 {
			end := min(n, len(said))
			for end < len(said) && end > 0 && !utf8.RuneStart(said[end]) {
				end--
			}
			if !yield(said[:end]) {
				return
			}
			said = said[end:]
		}
	}
}

// partSize is how long a text is kept in one piece. SQLite holds three copies of
// what it writes in one.
const partSize = 4 << 20

// partly begins the row of a text that is kept in parts: their digests follow.
const partly = "#parts:"

// joined is a text whose row says of which parts it is.
func (j *Journal) joined(ctx context.Context, c *conn, list string) (string, error) {
	var whole strings.Builder
	whole.Grow(min(len(list)/(2*len(digest{}))*partSize, 1<<30)) // what a damaged file says may be too much
	for len(list) >= 2*len(digest{}) {
		part, err := j.text(ctx, c, []byte(list[:2*len(digest{})]))
		if err != nil {
			return "", err
		}
		whole.WriteString(part)
		list = list[2*len(digest{}):]
	}
	return whole.String(), nil
}

// filled puts the long strings back into a decoded value, each as the view has
// it.
func (j *Journal) filled(ctx context.Context, c *conn, v any, read view) (any, error) {
	var err error
	switch v := v.(type) {
	case string:
		said := v
		if name, ok := strings.CutPrefix(v, reference[1:]); ok {
			said, err = j.text(ctx, c, []byte(name))
		}
		if err == nil && read.number != nil {
			var number string
			var ok bool
			if number, ok, err = read.number(said); ok {
				var value any
				err = schema.Unmarshal([]byte(number), &value)
				return value, err
			}
		}
		return read.text(said), err
	case []any:
		for i := range v {
			if v[i], err = j.filled(ctx, c, v[i], read); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		if v == nil {
			return v, nil
		}
		out := make(map[string]any, len(v))
		for k, e := range v {
			name, err := j.filled(ctx, c, k, read) // a key may be long too
			if err != nil {
				return nil, err
			}
			if out[name.(string)], err = j.filled(ctx, c, e, read); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return v, nil
}
