package journal

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/encodings"
)

// emit numbers, dates and keeps an event and passes it on to inner, unless an
// earlier start of the run has told it.
func (r *recording) emit(inner engine.Host, e event.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.part(e.Path)
	if again := r.note(&e); again {
		return
	}
	if e.Kind == event.PhaseFinished {
		r.later() // an item's end is seen though nothing else happens beside it
	}
	e.Run = r.start.RunID
	inner.Emit(e)
}

// note keeps an event, or says that it is kept already.
func (r *recording) note(e *event.Event) (again bool) {
	w := row{kind: string(e.Kind), path: string(e.Path)}
	var said talk
	var asked []byte
	b, err := bodyOf(e, &r.piece.packer), error(nil)
	switch {
	case e.Request != nil:
		if said, err = r.talk(e.Request); err == nil {
			r.prints[e.Path] = said.print
			w.print = said.print
			asked, err = r.asked(e, &said)
		}
	case e.Kind == event.ModelReplied || e.Kind == event.ToolReplied:
		if n, ok := r.reply[e.Path]; ok {
			b.Response, b.Result, b.Effect = nil, nil, n
			delete(r.reply, e.Path)
		}
	}
	var raw []byte
	if err == nil {
		var quick bool
		if raw, quick = quickly(e, &b); !quick {
			raw, err = encodings.Of(b)
		}
	}
	w.data = r.piece.pack(r.piece.secrets.redactAs(raw, b))
	if asked != nil && err == nil {
		w.data = encodings.With(w.data, "request", asked)
	}
	r.spoil(err)
	if n, ok := r.heard(w, raw); ok {
		r.placed(n, e, &said)
		return true
	}
	r.visits.finish(w.kind, e.Path)
	r.seq++
	w.time = r.now()
	e.Seq, e.Time = r.seq, time.Unix(0, w.time).UTC()
	r.placed(r.put(w), e, &said)
	return false
}

func (r *recording) placed(row int64, e *event.Event, t *talk) {
	if e.Verdict != nil {
		r.ruled[e.Path] = ruled{row, sumOfVerdict(e.Verdict)}
	}
	if e.Request != nil {
		r.place(row, t)
		r.remember(e.Request, t)
	}
}

// A teller is the row of an event of an earlier start.
type teller struct {
	row   int64
	print print  // of a request: its row holds only what was new when it was written
	data  digest // of what the file has
}

// spotOf is where events are told from each other by what they say.
func spotOf(kind, path string) digest { return digestOf([]byte(kind), []byte{0}, []byte(path)) }

// heard finds the event, of which raw says all, among those of earlier starts.
func (r *recording) heard(w row, raw []byte) (int64, bool) {
	at := spotOf(w.kind, w.path)
	told := r.told[at]
	if len(told) == 0 {
		return 0, false
	}
	d := digestOf(w.data)
	i := slices.IndexFunc(told, func(t teller) bool {
		return t.print != nil && t.print.same(w.print) || t.print == nil && t.data == d
	})
	if i < 0 {
		i = slices.IndexFunc(told, func(t teller) bool { return w.print == nil && r.redactedOtherwise(t, raw) })
	}
	if i < 0 {
		return 0, false
	}
	row := told[i].row
	r.told[at] = slices.Delete(told, i, i+1)
	return row, true
}

// redactedOtherwise tells whether an event says what is in the file, but for
// secrets that are others now.
func (r *recording) redactedOtherwise(t teller, raw []byte) (same bool) {
	ctx, s := context.Background(), r.j.secrets
	err := r.j.reading(ctx, func(c *conn) error {
		found, ok, err := r.j.rowAt(ctx, c, r.n, t.row)
		if err != nil || !ok {
			return err
		}
		was, err := r.j.unpack(ctx, c, found.json(), people)
		same = bytes.Equal(s.clean(was), s.clean(raw))
		return err
	})
	r.spoil(err)
	return same || err != nil // what cannot be looked at is not told a second time
}

// spoil stops the run at its next effect where there is an error: an event cannot
// be kept.
func (r *recording) spoil(err error) {
	r.fate.Lock()
	defer r.fate.Unlock()
	if r.broken == nil {
		r.broken = err
	}
}

// phaseOf is the phase of the run's own cascade that a path is in.
func phaseOf(at event.Path) string {
	name, _, _ := strings.Cut(at.First(), "[")
	return name
}
