package event

import (
	"encoding/json"
	"strconv"

	"github.com/seed61713e19/capstan/runner/model"
)

// MarshalJSON writes the flat object; a verdict's fields are the event's. A sink
// that writes every event calls it: [json.Marshal] reads over again what it
// gives, which takes longer than to make it.
//
// It writes what encoding/json would, which spends most of its time on asking
// each of thirty fields whether it is empty; only what has no fixed form is left
// to it.
func (e Event) MarshalJSON() ([]byte, error) { return e.AppendJSON(make([]byte, 0, e.size())) }

// AppendJSON appends what MarshalJSON gives to b: what writes one event after the
// other needs no memory of each. An [Encoder] is quicker at it.
func (e *Event) AppendJSON(b []byte) ([]byte, error) { return (*Encoder)(nil).AppendJSON(b, e) }

// An Encoder writes the events of a run, one after the other. A run says an accepted
// text over and over, as the reply, the attempt's, the phase's and its own, and an
// Encoder keeps the JSON of the one that it wrote last. The zero value is ready. It
// may not be used by two goroutines at once.
type Encoder struct {
	text string
	json []byte
}

func (n *Encoder) append(b []byte, text string) []byte {
	if n == nil || len(text) < 64 { // is written before it is compared
		return model.AppendEscaped(b, text)
	}
	if text != n.text {
		n.text, n.json = text, model.AppendEscaped(n.json[:0], text)
	}
	return append(b, n.json...)
}

// AppendJSON appends to b what e.MarshalJSON gives.
func (n *Encoder) AppendJSON(b []byte, e *Event) ([]byte, error) {
	w := object{b: b, texts: n}
	w.number(`{"seq":`, int(e.Seq))
	w.b = append(w.b, `,"time":"`...)
	if w.b, w.err = e.Time.AppendText(w.b); w.err != nil {
		return b, w.err
	}
	w.text(`","kind":`, string(e.Kind))
	if e.Verdict != nil {
		w.verdict(e.Verdict)
	} else {
		w.event(e)
	}
	w.b = append(w.b, '}')
	return w.b, w.err
}

// size is about how long the JSON becomes: a text is copied once.
func (e *Event) size() int {
	n := 256 + len(e.Path) + len(e.Text) + len(e.Message)
	if said, ok := e.Output.(string); ok {
		n += len(said)
	}
	if e.Response != nil {
		n += len(e.Response.Text) + len(e.Response.Thinking) + 128
	}
	if e.Request != nil {
		for _, m := range e.news() {
			n += len(m.Content) + 64
		}
	}
	return n + n/16
}

// news are the messages that the event tells.
func (e *Event) news() []model.Message {
	if e.Kind != ModelCalled || e.Cut {
		return e.Request.Messages
	}
	return e.Request.Messages[min(max(e.Before, 0), len(e.Request.Messages)):]
}

// An object is the JSON of one that is being written. Its methods append a
// member each, whose name is said as it stands there, with what is before it; those
// that are named for what there may be write nothing where there is nothing.
type object struct {
	b     []byte
	texts *Encoder
	err   error
}

func (w *object) text(name, text string) {
	w.b = w.texts.append(append(w.b, name...), text)
}

func (w *object) number(name string, n int) {
	w.b = strconv.AppendInt(append(w.b, name...), int64(n), 10)
}

func (w *object) value(name string, v any) {
	if text, ok := v.(string); ok {
		w.text(name, text)
		return
	}
	encoded, err := json.Marshal(v)
	if err != nil && w.err == nil {
		w.err = err
	}
	w.b = append(append(w.b, name...), encoded...)
}

func (w *object) someText(name, text string) {
	if text != "" {
		w.text(name, text)
	}
}

func (w *object) someNumber(name string, n int) {
	if n != 0 {
		w.number(name, n)
	}
}

func (w *object) someValue(name string, is bool, v any) {
	if is {
		w.value(name, v)
	}
}
