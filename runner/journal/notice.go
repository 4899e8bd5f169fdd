package journal

import (
	"context"
	"database/sql/driver"
	"time"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/validators/schema"
)

// notice is a question's notice where it is to be given now; nil where an earlier
// start has given it, or a process that lives is at it. That this one gives it is
// in the file before it does.
func (r *recording) notice(n *engine.Notice, expires *time.Time) (*engine.Notice, error) {
	own := *n
	if expires != nil {
		own.Expires = *expires
	}
	own.Done = func(err error) { r.noticed(n.Path, err) }
	r.mu.Lock()
	by, begun := r.notices[n.Path]
	if begun {
		if _, alive := r.j.owner.alive(by); by == "" || alive {
			r.mu.Unlock()
			return nil, nil
		}
	}
	r.notices[n.Path] = r.j.owner.text()
	r.put(row{kind: noticeBegins, path: string(n.Path), data: []byte(r.j.owner.text())})
	r.mu.Unlock()
	return &own, r.commit()
}

// outcome is what came of a notice, as the file has it.
type outcome struct {
	Problem string `json:"problem,omitempty"`
}

// noticed notes what came of a notice, whether the run has ended meanwhile or
// not. Where somebody else goes on with the run it is that one's, and nothing is
// noted: the notice may be given once more then, with the same key.
func (r *recording) noticed(at event.Path, problem error) {
	var came outcome
	if problem != nil {
		came.Problem = problem.Error()
	}
	pack := packer{secrets: r.j.secrets}
	data, err := pack.encode(came)
	if err != nil {
		return
	}
	r.mu.Lock()
	r.notices[at] = ""
	r.row++
	id, now := r.id(r.row), r.now()
	r.mu.Unlock()
	_ = r.j.writer.do(func(c *conn) error {
		found, err := c.one(context.Background(), "SELECT epoch FROM run WHERE n = ?", r.n)
		if err != nil || found == nil || integer(found[0]) != r.epoch {
			return err
		}
		if err := r.j.writer.texts(pack.texts); err != nil {
			return err
		}
		_, err = c.exec("INSERT OR REPLACE INTO log (id, time, kind, path, data, epoch) VALUES (?, ?, ?, ?, ?, ?)", id, now, noticeEnds, string(at), string(data), r.epoch)
		return err
	})
}

// untold is why nobody was told of a question, "" where somebody was, or nobody
// was to be.
func (j *Journal) untold(ctx context.Context, c *conn, n int64, at event.Path) (string, error) {
	var came outcome
	err := c.each(ctx, func(v []driver.Value) error {
		raw, err := j.unpack(ctx, c, []byte(word(v[0])), bare)
		if err == nil {
			came = outcome{}
			err = schema.Unmarshal(raw, &came)
		}
		return err
	}, "SELECT data FROM log WHERE id > ? AND id < ? AND kind = '"+noticeEnds+"' AND path = ? ORDER BY id", n<<rowBits, (n+1)<<rowBits, string(at))
	return came.Problem, err
}
