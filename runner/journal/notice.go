package journal

import (
	"context"
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
		if other, alive := r.j.alive(by); by == "" || alive && r.j.store.leased(other) {
			r.mu.Unlock()
			return nil, nil
		}
	}
	r.notices[n.Path] = r.j.owner.Text()
	r.put(row{kind: noticeBegins, path: string(n.Path), data: []byte(r.j.owner.Text())})
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
	r.mu.Lock()
	data, err := r.piece.encode(came)
	if err != nil {
		r.mu.Unlock()
		return
	}
	r.notices[at] = ""
	r.put(row{kind: noticeEnds, path: string(at), data: data})
	r.mu.Unlock()
	_ = r.commit()
}

// untold is why nobody was told of a question, "" where somebody was, or nobody
// was to be.
func (j *Journal) untold(ctx context.Context, c *conn, n int64, at event.Path) (string, error) {
	var came outcome
	ends := func(kind string) bool { return kind == noticeEnds }
	err := j.eachRow(ctx, c, n, 0, ends, func(l logged) error {
		if l.path != at {
			return nil
		}
		raw, err := j.unpack(ctx, c, l.json(), people)
		if err == nil {
			came = outcome{}
			err = schema.Unmarshal(raw, &came)
		}
		return err
	})
	return came.Problem, err
}
