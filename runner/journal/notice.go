package journal

import (
	"context"
	"time"

	"github.com/seed61713e19/capstan/internal/encodings"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/internal/codec"
	"github.com/seed61713e19/capstan/runner/journal/internal/stores"
)

// notice returns the notice that must be sent for a question. It returns nil if an
// earlier start has sent the notice, or if a living process is sending it. The store
// records that this process sends it before it does.
func (r *recording) notice(n *engine.Notice, expires *time.Time) (*engine.Notice, error) {
	own := *n
	if expires != nil {
		own.Expires = *expires
	}
	own.Done = func(err error) { r.storeNotice(n.Path, err) }
	r.mu.Lock()
	by, begun := r.notices[n.Path]
	if begun {
		if other, alive := r.j.db.Alive(by); by == "" || alive && r.j.db.Store.Leased(other) {
			r.mu.Unlock()
			return nil, nil
		}
	}
	r.notices[n.Path] = r.j.db.Owner.Text()
	r.put(codec.Row{Kind: codec.NoticeStarts, Path: string(n.Path), Data: []byte(r.j.db.Owner.Text())})
	r.mu.Unlock()
	return &own, r.commit()
}

// noticeResult is the stored result of a notice.
type noticeResult struct {
	Error string `json:"error,omitempty"`
}

// storeNotice stores the result of a notice, even after the end of the run. If
// another process has resumed the run, nothing is stored, and the notice may be
// sent again with the same key.
func (r *recording) storeNotice(at event.Path, problem error) {
	var result noticeResult
	if problem != nil {
		result.Error = problem.Error()
	}
	data, err := encodings.Of(result)
	if err != nil {
		return
	}
	r.mu.Lock()
	r.notices[at] = ""
	// The row may follow the run's end, so it names no text: see [sweep].
	r.put(codec.Row{Kind: codec.NoticeEnds, Path: string(at), Data: r.j.secrets.Redact(data)})
	r.mu.Unlock()
	_ = r.commit()
}

// noticeError returns the error of a question's notice. It returns "" if the notice was
// sent or does not exist.
func (j *Journal) noticeError(ctx context.Context, c *stores.Conn, n int64, at event.Path) (string, error) {
	var result noticeResult
	ends := func(kind string) bool { return kind == codec.NoticeEnds }
	err := j.eachRow(ctx, c, n, 0, ends, func(l codec.StoredRow) error {
		if l.Path != at {
			return nil
		}
		result = noticeResult{}
		return schema.Unmarshal(codec.UnsealJSON(l.JSON()), &result)
	})
	return result.Error, err
}
