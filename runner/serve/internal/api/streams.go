package api

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/internal/redactions"
	"github.com/seed61713e19/capstan/runner/serve/internal/orders"
)

// A Stream is an answer without a fixed length. The client must receive each part within half
// a minute.
type Stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

// NewStream begins an answer of a content type. The caller must write the status.
func NewStream(w http.ResponseWriter, kind string) *Stream {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("X-Accel-Buffering", "no") // proxies must not buffer the stream
	st := &Stream{w, http.NewResponseController(w)}
	st.control.SetReadDeadline(time.Time{})
	return st
}

// Write writes a piece of whole lines. [Stream.Flush] sends it.
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

// partSize is the size of the parts of a piece, in bytes.
const partSize = 64 << 10

// Flush sends the written pieces.
func (st *Stream) Flush() error { return st.control.Flush() }

// Beat sends a comment as a sign of life.
func (st *Stream) Beat() error {
	if err := st.Write(": \n\n"); err != nil {
		return err
	}
	return st.Flush()
}

// Send writes one server-sent event. Its data may have several lines.
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

// LastEvent returns the number of the last event that the client has. The header, which a
// reconnecting browser sends, overrides the parameter after.
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
