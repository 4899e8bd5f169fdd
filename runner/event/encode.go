package event

import (
	"encoding/json"
	"strconv"
	"strings"

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

// AppendJSON appends what MarshalJSON gives to b: a sink that writes one event
// after the other needs no memory of each.
func (e *Event) AppendJSON(b []byte) ([]byte, error) {
	w := object{b: append(b, '{')}
	w.number("seq", int(e.Seq))
	w.name("time")
	w.b = append(w.b, '"')
	if w.b, w.err = e.Time.AppendText(w.b); w.err != nil {
		return b, w.err
	}
	w.b = append(w.b, '"')
	w.text("kind", string(e.Kind))
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
		n += len(e.Response.Text) + 128
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
// member each; those that are named for what there may be write nothing where
// there is nothing.
type object struct {
	b   []byte
	err error
}

func (w *object) name(name string) {
	if w.b[len(w.b)-1] != '{' { // with which no value ends
		w.b = append(w.b, ',')
	}
	w.b = append(append(append(w.b, '"'), name...), `":`...)
}

func (w *object) text(name, text string) {
	w.name(name)
	w.quote(text)
}

// quote writes a text. What encoding/json escapes for HTML is left to it.
func (w *object) quote(text string) {
	if strings.IndexByte(text, '<') < 0 && strings.IndexByte(text, '>') < 0 && strings.IndexByte(text, '&') < 0 {
		w.b = model.AppendText(w.b, text)
		return
	}
	w.any(text)
}

func (w *object) number(name string, n int) {
	w.name(name)
	w.b = strconv.AppendInt(w.b, int64(n), 10)
}

func (w *object) value(name string, v any) {
	w.name(name)
	if text, ok := v.(string); ok {
		w.quote(text)
		return
	}
	w.any(v)
}

func (w *object) any(v any) {
	encoded, err := json.Marshal(v)
	if err != nil && w.err == nil {
		w.err = err
	}
	w.b = append(w.b, encoded...)
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
