package journal

import (
	"context"
	"database/sql/driver"
	"encoding/hex"
	"strings"
)

// A text may go when nothing names it. What does is looked for without holding
// anybody up; what was written meanwhile is looked for again while nobody
// writes, in the transaction that removes. From then on no writer takes a text
// for being there that it wrote itself: others have written since; see
// [writer.look].

// A sweep finds the texts that are named.
type sweep struct {
	named map[digest]bool
	parts map[digest]string // of texts that are kept in parts: their digests
	text  int64             // up to which texts were looked at for parts
	pack  int64             // up to which packs were read
	run   int64             // up to which runs
	open  []int64           // runs whose ends may be others later
}

// sweep removes the texts that nothing names any more, and tells how many.
func (j *Journal) sweep(ctx context.Context, turn pruneTurn) (removed int, err error) {
	s := sweep{named: map[digest]bool{}, parts: map[digest]string{}}
	unnamed, err := s.unnamed(ctx, j)
	for err == nil && len(unnamed) > 0 {
		some := unnamed[:min(len(unnamed), 1000)]
		unnamed = unnamed[len(some):]
		err = j.writer.do(func(c *conn) error {
			if err := turn.stands(c); err != nil {
				return err
			}
			n, err := s.remove(ctx, j, c, some)
			removed += n
			return err
		})
	}
	return removed, err
}

// unnamed are the texts that nothing names now.
func (s *sweep) unnamed(ctx context.Context, j *Journal) (list []digest, err error) {
	err = j.reading(ctx, func(c *conn) error {
		if err := j.store.settled(c); err != nil {
			return err
		}
		if err := s.all(ctx, c, j.says.lines); err != nil {
			return err
		}
		return c.each(ctx, func(v []driver.Value) error {
			if d, ok := digestIn(v[0]); ok && !s.named[d] {
				list = append(list, d)
			}
			return nil
		}, "SELECT digest FROM text")
	})
	return list, err
}

// remove removes those texts that nothing names still, within a transaction.
func (s *sweep) remove(ctx context.Context, j *Journal, c *conn, list []digest) (removed int, err error) {
	clear(j.writer.known)
	if err := j.store.still(c); err != nil {
		return 0, err
	}
	if err := s.since(ctx, c); err != nil {
		return 0, err
	}
	for _, d := range list {
		if s.named[d] {
			continue
		}
		if err := c.send("DELETE FROM text WHERE digest = ?", d[:]); err != nil {
			return 0, err
		}
		removed++
	}
	return removed, nil
}

func digestIn(v driver.Value) (d digest, ok bool) {
	raw, _ := v.([]byte)
	return d, copy(d[:], raw) == len(d) && len(raw) == len(d)
}

// all reads all there is.
func (s *sweep) all(ctx context.Context, c *conn, lines bool) error {
	if err := s.since(ctx, c); err != nil || !lines {
		return err
	}
	return s.read(ctx, c, "SELECT data FROM line")
}

// findParts reads which texts are kept in parts.
func (s *sweep) findParts(ctx context.Context, c *conn) error {
	return c.each(ctx, func(v []driver.Value) error {
		s.text = integer(v[0])
		list, inParts := strings.CutPrefix(word(v[2]), partly)
		if d, ok := digestIn(v[1]); ok && inParts {
			s.parts[d] = list
		}
		return nil
	}, "SELECT n, digest, CASE WHEN substr(text, 1, 7) = '"+partly+"' THEN text END FROM text WHERE n > ? ORDER BY n", s.text)
}

// since reads what may have been written since it was called before: packs and
// runs that are new, and what the runs say that had not ended for good.
func (s *sweep) since(ctx context.Context, c *conn) error {
	packs, err := c.number("SELECT coalesce(max(id), 0) FROM pack")
	if err != nil {
		return err
	}
	runs, err := c.number("SELECT coalesce(max(n), 0) FROM run")
	if err != nil {
		return err
	}
	if err := s.findParts(ctx, c); err != nil {
		return err
	}
	if err := s.read(ctx, c, "SELECT data FROM pack WHERE id > ?", s.pack); err != nil {
		return err
	}
	if err := s.read(ctx, c, "SELECT data FROM start WHERE run > ?", s.run); err != nil {
		return err
	}
	if err := s.read(ctx, c, "SELECT data FROM result WHERE run > ?", s.run); err != nil {
		return err
	}
	for _, n := range s.open {
		if err := s.read(ctx, c, "SELECT data FROM result WHERE run = ?", n); err != nil {
			return err
		}
	}
	s.open = s.open[:0]
	err = c.each(ctx, func(v []driver.Value) error {
		s.note(word(v[1]))
		s.note(word(v[2]))
		if !final(word(v[3]), errorIn(v[2]).code()) {
			s.open = append(s.open, integer(v[0]))
		}
		return nil
	}, "SELECT n, pending, error, status FROM run WHERE n > ? OR pending IS NOT NULL OR error IS NOT NULL OR "+unended, s.run)
	s.pack, s.run = packs, runs
	return err
}

func (s *sweep) read(ctx context.Context, c *conn, query string, args ...any) error {
	return c.each(ctx, func(v []driver.Value) error {
		s.note(word(v[0]))
		return nil
	}, query, args...)
}

// note finds what a row names.
func (s *sweep) note(said string) {
	for {
		i := strings.Index(said, reference)
		if i < 0 {
			return
		}
		said = said[i+len(reference):]
		s.name(said)
	}
}

// name notes the text whose digest stands there, and its parts.
func (s *sweep) name(at string) {
	var d digest
	if len(at) < hex.EncodedLen(len(d)) {
		return
	}
	if _, err := hex.Decode(d[:], []byte(at[:hex.EncodedLen(len(d))])); err != nil || s.named[d] {
		return
	}
	s.named[d] = true
	for list := s.parts[d]; len(list) >= hex.EncodedLen(len(d)); list = list[hex.EncodedLen(len(d)):] {
		s.name(list)
	}
}
