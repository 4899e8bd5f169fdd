package servetest

import (
	"bufio"
	"context"
	"net/http"
	"strings"
)

// A Listener reads a stream by lines or by events.
type Listener struct {
	*World
	*bufio.Scanner
	Resp *http.Response
	Stop context.CancelFunc
}

// Listen requests a stream, with additional headers in pairs.
func (w *World) Listen(path string, header ...string) *Listener {
	w.Helper()
	ctx, stop := context.WithCancel(context.Background())
	req, _ := http.NewRequestWithContext(ctx, "GET", w.HTTP.URL+path, nil)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { stop(); resp.Body.Close() })
	s := bufio.NewScanner(resp.Body)
	s.Buffer(nil, 16<<20)
	return &Listener{w, s, resp, stop}
}

// An Event is one server-sent event.
type Event struct{ ID, Name, Data string }

// Next reads one event. It returns false at the end.
func (l *Listener) Next() (e Event, ok bool) {
	for l.Scan() {
		field, value, _ := strings.Cut(l.Text(), ": ")
		switch field {
		case "id":
			e.ID = value
		case "event":
			e.Name = value
		case "data":
			e.Data += value + "\n"
		case "":
			if e.Data != "" {
				e.Data = strings.TrimSuffix(e.Data, "\n")
				return e, true
			}
		}
	}
	return e, false
}

// All reads all events to the end.
func (l *Listener) All() (list []Event) {
	for e, ok := l.Next(); ok; e, ok = l.Next() {
		list = append(list, e)
	}
	return list
}
