package api

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/runner/redactions"
	"github.com/seed61713e19/capstan/runner/serve/orders"
)

// A Stream is an answer that goes on. Each piece, and each part of a long one, has to be
// taken within half a minute.
type Stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

// NewStream begins an answer of a content type; its status is still to be written.
func NewStream(w http.ResponseWriter, kind string) *Stream {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("X-Accel-Buffering", "no") // proxies are not to hold it back
	st := &Stream{w, http.NewResponseController(w)}
	st.control.SetReadDeadline(time.Time{})
	return st
}

// Write sends a piece of the answer, of whole lines. It may stay on the way until
// [Stream.Flush].
func (st *Stream) Write(piece string) error {
	piece = redactions.Piece(st.w, piece)
	for {
		part := piece[:min(len(piece), partSize)]
		st.control.SetWriteDeadline(time.Now().Add(30 * time.Second))
		if _, err := io.WriteString(st.w, part); err != nil {
			return err
		}
		if piece = piece[len(part):]; piece == "" {
			return nil
		}
	}
}

// partSize is how much of a piece has half a minute of its own, in bytes.
const partSize = 64 << 10

// Flush sends what is on the way.
func (st *Stream) Flush() error { return st.control.Flush() }

// Beat sends a sign of life, and what is there.
func (st *Stream) Beat() error {
	if err := st.Write(": \n\n"); err != nil {
		return err
	}
	return st.Flush()
}

// Send sends one server-sent event. Its data may have lines.
func (st *Stream) Send(id int64, name, data string) error {
	var b strings.Builder
	if id > 0 {
		fmt.Fprintf(&b, "id: %d\n", id)
	}
	if name != "" {
		fmt.Fprintf(&b, "event: %s\n", name)
	}
	for line := range strings.SplitSeq(strings.ReplaceAll(data, "\r", "\n"), "\n") {
		b.WriteString("data: " + line + "\n")
	}
	b.WriteString("\n")
	return st.Write(b.String())
}

// LastEvent is the number of the event that a reader has had last, by the query and, where
// a browser comes back, by its header.
func LastEvent(r *http.Request) (after int64, err error) {
	for _, text := range []string{r.URL.Query().Get("after"), r.Header.Get("Last-Event-ID")} {
		if text == "" {
			continue
		}
		if after, err = strconv.ParseInt(text, 10, 64); err != nil || after < 0 {
			return 0, orders.BadQuery("after and Last-Event-ID must be the number of an event")
		}
	}
	return after, nil
}
