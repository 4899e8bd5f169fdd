package journal

import (
	"strings"
	"time"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
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
	e.Run = r.start.RunID
	inner.Emit(e)
}

// note keeps an event, or says that it is kept already.
func (r *recording) note(e *event.Event) (again bool) {
	w := row{kind: string(e.Kind), path: string(e.Path)}
	var said talk
	var asked []byte
	b, err := bodyOf(e), error(nil)
	switch {
	case e.Kind == event.ModelCalled && e.Request != nil:
		if said, err = r.talk(e.Request); err == nil {
			r.prints[e.Path] = said.print
			w.print = said.print[:]
			asked, err = r.asked(e.Request, &said)
		}
	case e.Kind == event.ModelReplied || e.Kind == event.ToolReplied:
		if n, ok := r.reply[e.Path]; ok {
			b.Response, b.Result, b.Effect = nil, nil, n
			delete(r.reply, e.Path)
		}
	}
	if err == nil {
		w.data, err = r.piece.encode(b)
	}
	if asked != nil && err == nil {
		w.data = with(w.data, "request", asked)
	}
	if err != nil {
		r.spoil(err)
	}
	if e.Kind != event.RunFinished {
		if n, ok := r.heard(w); ok {
			r.placed(n, e, &said)
			return true
		}
	}
	if e.Kind == event.PhaseFinished && !strings.Contains(w.path, "/") {
		r.phases++
	}
	r.seq++
	w.seq = r.seq
	w.time = r.now()
	e.Seq, e.Time = r.seq, time.Unix(0, w.time).UTC()
	r.placed(r.put(w), e, &said)
	return false
}

func (r *recording) placed(row int64, e *event.Event, t *talk) {
	if e.Request != nil {
		r.place(row, t)
		r.remember(e.Request, t)
	}
}

// heard finds the event among those of earlier starts.
func (r *recording) heard(w row) (int64, bool) {
	if len(r.told) == 0 {
		return 0, false
	}
	d := identity(w.kind, w.path, w.print, w.data)
	rows := r.told[d]
	if len(rows) == 0 {
		return 0, false
	}
	if r.told[d] = rows[1:]; len(rows) == 1 {
		delete(r.told, d)
	}
	return rows[0], true
}

// identity tells one event from another. A request's row holds only what was
// new when it was written, its print says all.
func identity(kind, path string, print, data []byte) digest {
	if print != nil {
		data = print
	}
	return digestOf([]byte(kind), []byte{0}, []byte(path), []byte{0}, data)
}

// spoil stops the run at its next effect: an event cannot be kept.
func (r *recording) spoil(err error) {
	r.fate.Lock()
	defer r.fate.Unlock()
	if r.broken == nil {
		r.broken = err
	}
}

// part ends the sharing with the parent where the run comes to the phase from
// which on everything is done anew. It is called with r.mu held.
func (r *recording) part(at event.Path) {
	if r.shared != nil && r.start.From != "" && phaseOf(at) == r.start.From {
		r.shared = nil
	}
}

// phaseOf is the phase of the run's own cascade that a path is in.
func phaseOf(at event.Path) string {
	first, _, _ := strings.Cut(string(at), "/")
	name, _, _ := strings.Cut(first, "[")
	return name
}
