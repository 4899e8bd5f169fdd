package journal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync"
)

// Parcels are texts under their SHA-256, which an engine of several machines has
// its effects and states lie in: they stand beside the runs, in the same store. They
// are safe for concurrent use, by several processes too.
type Parcels struct {
	j     *Journal
	table func() error
}

// Parcels are those of the journal. None is taken out again.
func (j *Journal) Parcels() *Parcels {
	return &Parcels{j, sync.OnceValue(func() error {
		if err := j.writable(); err != nil {
			return err
		}
		return j.writer.do(func(c *conn) error {
			_, err := c.exec("CREATE TABLE IF NOT EXISTS parcel (digest TEXT NOT NULL PRIMARY KEY, text BYTEA NOT NULL)")
			return err
		})
	})}
}

// Put keeps a text. It is on the store's disk before a history can name it.
func (p *Parcels) Put(text []byte) (digest string, err error) {
	if err := p.table(); err != nil {
		return "", fmt.Errorf("texts: %w", err)
	}
	sum := sha256.Sum256(text)
	digest = hex.EncodeToString(sum[:])
	err = p.j.writer.do(func(c *conn) error {
		if err := p.j.lasting(c); err != nil {
			return err
		}
		return c.send("INSERT INTO parcel (digest, text) VALUES (?, ?) ON CONFLICT DO NOTHING", digest, text)
	})
	if err != nil {
		return "", fmt.Errorf("texts: %w", err)
	}
	return digest, nil
}

// Get gives the text of a digest.
func (p *Parcels) Get(digest string) (text []byte, err error) {
	if err := p.table(); err != nil {
		return nil, fmt.Errorf("texts: %w", err)
	}
	there := false
	err = p.j.reading(context.Background(), func(c *conn) error {
		found, err := c.one(context.Background(), "SELECT text FROM parcel WHERE digest = ?", digest)
		if err == nil && found != nil {
			text, there = append([]byte{}, bytesOf(found[0])...), true
		}
		return err
	})
	switch sum := sha256.Sum256(text); {
	case err != nil:
		return nil, fmt.Errorf("texts: %w", p.j.fault(err))
	case !there:
		return nil, fmt.Errorf("texts: %s is not there", digest)
	case hex.EncodeToString(sum[:]) != digest:
		return nil, fmt.Errorf("texts: %s is damaged", digest)
	}
	return text, nil
}

// bytesOf is a value of bytes, however the store gives them.
func bytesOf(v any) []byte {
	if said, ok := v.(string); ok {
		return []byte(said)
	}
	raw, _ := v.([]byte)
	return raw
}
