package journal

import (
	"context"
	"crypto/sha256"
	"database/sql/driver"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/seed61713e19/capstan/runner/journal/internal/stores"
)

// Blobs stores texts by their SHA-256, in the same store as the runs. A
// distributed engine keeps the data of its effects and states there. Blobs is
// safe for concurrent use, also by several processes.
type Blobs struct{ j *Journal }

// Blobs returns the blobs of the journal. [Journal.Prune] removes blobs that no
// run of an external engine can need.
func (j *Journal) Blobs() *Blobs { return &Blobs{j} }

// Put renews the time of a blob only if it is older than renewAfter. A blob
// stays for at least blobLifetime, so that a run that was ordered can start.
const (
	renewAfter   = time.Hour
	blobLifetime = 24 * time.Hour
)

// Put stores a text and returns its digest. The text is on the store's disk
// when Put returns.
func (p *Blobs) Put(text []byte) (digest string, err error) {
	if err := p.j.writable(); err != nil {
		return "", fmt.Errorf("texts: %w", err)
	}
	sum := sha256.Sum256(text)
	digest = hex.EncodeToString(sum[:])
	err = p.j.db.Writer.Do(func(c *stores.Conn) error {
		now := p.j.db.Now()
		found, err := c.One(context.Background(), "SELECT at FROM blob_time WHERE digest = ?", digest)
		if err != nil || found != nil && now.Sub(timeOf(stores.Integer(found[0]))) < renewAfter {
			return err
		}
		if err := p.j.db.Sync(c); err != nil {
			return err
		}
		if err := c.Queue("INSERT INTO blob_time VALUES (?, ?) ON CONFLICT (digest) DO UPDATE SET at = excluded.at", digest, now.UnixNano()); err != nil {
			return err
		}
		return c.Queue("INSERT INTO blob (digest, text) VALUES (?, ?) ON CONFLICT DO NOTHING", digest, text)
	})
	if err != nil {
		return "", fmt.Errorf("texts: %w", err)
	}
	return digest, nil
}

// Get returns the text with a digest.
func (p *Blobs) Get(digest string) (text []byte, err error) {
	there := false
	err = p.j.db.Read(context.Background(), func(c *stores.Conn) error {
		found, err := c.One(context.Background(), "SELECT text FROM blob WHERE digest = ?", digest)
		if err == nil && found != nil {
			text, there = append([]byte{}, bytesOf(found[0])...), true
		}
		return err
	})
	switch sum := sha256.Sum256(text); {
	case err != nil:
		return nil, fmt.Errorf("texts: %w", p.j.db.Fault(err))
	case !there:
		return nil, fmt.Errorf("texts: %s is not there", digest)
	case hex.EncodeToString(sum[:]) != digest:
		return nil, fmt.Errorf("texts: %s is damaged", digest)
	}
	return text, nil
}

// bytesOf returns a value of bytes, in either form that a store returns.
func bytesOf(v any) []byte {
	if text, ok := v.(string); ok {
		return []byte(text)
	}
	raw, _ := v.([]byte)
	return raw
}

// pruneBlobs removes the blobs that no external run can need that has not
// ended, or ended after a time. Each run puts every blob that it needs, even if
// it exists. So a blob that was last put before such a run began does not
// belong to it.
func (j *Journal) pruneBlobs(ctx context.Context, turn pruneTurn, before time.Time) (removed int, err error) {
	var list []string
	err = j.db.Read(ctx, func(c *stores.Conn) error {
		oldest, err := c.Number("SELECT coalesce(min(started), ?) FROM run WHERE epoch = ? AND (finished IS NULL OR finished >= ?)",
			before.UnixNano(), int64(externalEpoch), before.UnixNano())
		if err != nil {
			return err
		}
		oldest = min(oldest, before.UnixNano(), j.db.Now().UnixNano()) - int64(blobLifetime)
		return c.Each(ctx, func(v []driver.Value) error {
			list = append(list, stores.Text(v[0]))
			return nil
		}, "SELECT digest FROM blob_time WHERE at < ?", oldest)
	})
	for err == nil && len(list) > 0 {
		some := list[:min(len(list), 1000)]
		list = list[len(some):]
		err = j.db.Writer.Do(func(c *stores.Conn) error { return j.removeBlobs(c, turn, some) })
		removed += len(some)
	}
	return removed, err
}

// removeBlobs removes blobs in a transaction, except those that were put again.
func (j *Journal) removeBlobs(c *stores.Conn, turn pruneTurn, list []string) error {
	if err := turn.check(c); err != nil {
		return err
	}
	fresh := j.db.Now().Add(-blobLifetime).UnixNano()
	for _, digest := range list {
		if err := c.Queue("DELETE FROM blob_time WHERE digest = ? AND at < ?", digest, fresh); err != nil {
			return err
		}
		if err := c.Queue("DELETE FROM blob WHERE digest = ? AND NOT EXISTS (SELECT 1 FROM blob_time WHERE blob_time.digest = blob.digest)", digest); err != nil {
			return err
		}
	}
	return nil
}
