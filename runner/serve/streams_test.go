package serve_test

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner/serve/internal/api"
)

// A wire counts the bytes that are written under one deadline.
type wire struct {
	*httptest.ResponseRecorder
	since, most int
}

func (w *wire) SetReadDeadline(time.Time) error  { return nil }
func (w *wire) SetWriteDeadline(time.Time) error { w.since = 0; return nil }

func (w *wire) WriteString(text string) (int, error) {
	w.since += len(text)
	w.most = max(w.most, w.since)
	return w.ResponseRecorder.WriteString(text)
}

// TestStreamsOfLongPieces checks that each part of a long piece has its own deadline.
func TestStreamsOfLongPieces(t *testing.T) {
	for _, size := range []int{0, 1, 64 << 10, 64<<10 + 1, 1 << 20} {
		w, piece := &wire{ResponseRecorder: httptest.NewRecorder()}, strings.Repeat("é", size/2)+strings.Repeat("x", size%2)
		if err := api.NewStream(w, "text/event-stream").Write(piece); err != nil {
			t.Fatal(err)
		}
		if got := w.Body.String(); got != piece || w.most > 64<<10 {
			t.Errorf("received %[2]d of %[1]d bytes, and up to %[3]d had one deadline", size, len(got), w.most)
		}
	}
}

// TestStreamsAfter checks that the header of a reconnecting browser overrides the address.
func TestStreamsAfter(t *testing.T) {
	for _, c := range []struct {
		query, header string
		want          int64
		wrong         bool
	}{
		{"", "", 0, false}, {"7", "", 7, false}, {"", "9", 9, false}, {"7", "9", 9, false},
		{"-1", "", 0, true}, {"x", "9", 0, true}, {"7", "x", 0, true},
	} {
		r := httptest.NewRequest("GET", "/?after="+c.query, nil)
		if c.header != "" {
			r.Header.Set("Last-Event-ID", c.header)
		}
		if got, err := api.LastEvent(r); got != c.want || (err != nil) != c.wrong {
			t.Errorf("%+v: got %d (%v)", c, got, err)
		}
	}
}
