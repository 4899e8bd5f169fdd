package journal

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/internal/encodings"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/internal/codec"
	"github.com/seed61713e19/capstan/runner/journal/internal/stores"
	"github.com/seed61713e19/capstan/runner/model"
)

// emit numbers, dates and stores an event and passes it on to inner. It ignores
// an event that an earlier start of the run has already emitted.
func (r *recording) emit(inner engine.Host, e event.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dropShared(e.Path)
	if again := r.storeEvent(&e); again {
		return
	}
	if e.Kind == event.PhaseFinished {
		r.scheduleWrite() // makes the end of an item visible even if nothing else happens
	}
	e.Run = r.start.RunID
	inner.Emit(e)
}

// storeEvent adds the row of an event. It reports whether the event is already
// stored.
func (r *recording) storeEvent(e *event.Event) (again bool) {
	w := codec.Row{Kind: string(e.Kind), Path: string(e.Path)}
	var digest codec.RequestDigest
	var asked []byte
	b, err := codec.BodyOf(e), error(nil)
	switch {
	case e.Request != nil:
		if digest, err = r.conversations.DigestRequest(e.Request); err == nil {
			r.prints[e.Path] = digest.Fingerprint
			w.Fingerprint = digest.Fingerprint
			asked, err = r.conversations.EncodeRequest(&r.piece.Packer, e, &digest)
		}
	case e.Kind == event.ModelReplied || e.Kind == event.ToolReplied:
		if n, ok := r.reply[e.Path]; ok {
			b.Response, b.Result, b.Effect = nil, nil, n
			delete(r.reply, e.Path)
		}
	}
	var raw []byte
	if err == nil {
		raw, err = encodings.Of(b)
	}
	w.Data = r.piece.Pack(r.piece.Secrets.RedactAs(raw, b), codec.LongFrom(w.Kind))
	if asked != nil && err == nil {
		w.Data = encodings.With(w.Data, "request", asked)
	}
	r.fail(err)
	if n, ok := r.findRecorded(w, raw); ok {
		r.indexEvent(n, e, &digest)
		return true
	}
	r.visits.finish(w.Kind, e.Path)
	r.seq++
	w.Time = r.now()
	e.Seq, e.Time = r.seq, time.Unix(0, w.Time).UTC()
	r.indexEvent(r.put(w), e, &digest)
	return false
}

func (r *recording) indexEvent(row int64, e *event.Event, t *codec.RequestDigest) {
	if e.Verdict != nil {
		r.verdictRows[e.Path] = codec.NewVerdictRow(row, e.Verdict)
	}
	if e.Request != nil {
		r.conversations.IndexMessages(row, t)
		r.conversations.Remember(e.Request, t)
	}
}

// recordedEvent is the row of an event of an earlier start.
type recordedEvent struct {
	row   int64
	print codec.Fingerprint // of a request, whose row has only the new messages
	data  codec.Digest      // of the stored data
}

// eventKey returns the key for events with the same kind and path.
func eventKey(kind, path string) codec.Digest {
	return codec.DigestOf([]byte(kind), []byte{0}, []byte(path))
}

// findRecorded looks for an event among those of earlier starts and returns its
// row. raw is the complete JSON of the event.
func (r *recording) findRecorded(w codec.Row, raw []byte) (int64, bool) {
	at := eventKey(w.Kind, w.Path)
	list := r.recorded[at]
	if len(list) == 0 {
		return 0, false
	}
	d := codec.DigestOf(w.Data)
	i := slices.IndexFunc(list, func(t recordedEvent) bool {
		return t.print != nil && t.print.Same(w.Fingerprint) || t.print == nil && t.data == d
	})
	if i < 0 {
		i = slices.IndexFunc(list, func(t recordedEvent) bool { return w.Fingerprint == nil && r.sameExceptSecrets(t, raw) })
	}
	if i < 0 {
		return 0, false
	}
	row := list[i].row
	r.recorded[at] = slices.Delete(list, i, i+1)
	return row, true
}

// sameExceptSecrets reports whether an event equals the stored one if secrets
// that have changed are ignored.
func (r *recording) sameExceptSecrets(t recordedEvent, raw []byte) (same bool) {
	ctx, s := context.Background(), r.j.secrets
	err := r.j.db.Read(ctx, func(c *stores.Conn) error {
		found, ok, err := r.j.rowAt(ctx, c, r.n, t.row)
		if err != nil || !ok {
			return err
		}
		was, err := r.j.unpack(ctx, c, found.JSON(), codec.RedactedView)
		same = bytes.Equal(s.Clean(was), s.Clean(raw))
		return err
	})
	r.fail(err)
	return same || err != nil // an event that cannot be compared is not emitted again
}

// fail stops the run at its next effect if an event cannot be stored.
func (r *recording) fail(err error) {
	r.resultMu.Lock()
	defer r.resultMu.Unlock()
	if r.broken == nil {
		r.broken = err
	}
}

// phaseOf returns the phase of the run's own cascade that contains a path.
func phaseOf(at event.Path) string {
	name, _, _ := strings.Cut(at.First(), "[")
	return name
}

func (r *recording) subjectPrint(v engine.Validation) (codec.Fingerprint, error) {
	s := v.Subject
	return r.j.secrets.Fingerprint(v.Validator, s.Content, s.Output, s.Input, s.State, s.Outputs, s.Turn, s.Attempt)
}

// requestPrint returns the print of a request, which its event may have
// computed already.
func (r *recording) requestPrint(at event.Path, req *model.Request) (codec.Fingerprint, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p, ok := r.prints[at]; ok {
		delete(r.prints, at)
		return p, nil
	}
	digests, err := r.conversations.DigestRequest(req)
	return digests.Fingerprint, err
}
