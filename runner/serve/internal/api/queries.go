// Package api reads requests and writes answers for the HTTP API and the pages. It limits the
// size of bodies and forms, and the time of a client. Its errors are problems, see
// [orders.Problem].
package api

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/internal/nextsteps"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/serve/internal/orders"
)

// MaxList is the maximum number of runs in one answer.
const MaxList = 500

// RunFilter returns the filter of a query for runs.
func RunFilter(q url.Values, limit int) (journal.Filter, error) {
	f := journal.Filter{Status: q.Get("status"), Cascade: q.Get("cascade"), Text: q.Get("q"), Words: q.Get("words"), Before: q.Get("before"), Limit: limit}
	if f.Status != "" && !slices.Contains(nextsteps.Statuses, f.Status) {
		return f, orders.BadQuery("status must be one of %v", nextsteps.Statuses)
	}
	if text := q.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > MaxList {
			return f, orders.BadQuery("limit must be from 1 to %d", MaxList)
		}
		f.Limit = n
	}
	since, until, err := Between(q)
	f.Since, f.Until = since, until
	return f, err
}

// Between returns the parameters since and until, zero if a parameter is missing. The
// values are times or days. The range includes the day in until.
func Between(q url.Values) (since, until time.Time, err error) {
	read := func(name string, days int) (time.Time, error) {
		text := q.Get(name)
		if text == "" {
			return time.Time{}, nil
		}
		if t, err := time.Parse(time.DateOnly, text); err == nil {
			return t.AddDate(0, 0, days), nil
		}
		t, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return t, orders.BadQuery("%s must be a day such as 2006-01-02, or a time such as 2006-01-02T15:04:05Z", name)
		}
		return t, nil
	}
	if since, err = read("since", 0); err == nil {
		until, err = read("until", 1)
	}
	return since, until, err
}

// MaxBody is the maximum size of a body, in bytes.
const MaxBody = 16 << 20

// Body reads a body of at most limit bytes.
func Body(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	control := http.NewResponseController(w)
	control.SetReadDeadline(time.Now().Add(time.Minute))
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, orders.NewProblem(http.StatusRequestEntityTooLarge, "too_large", fmt.Sprintf("the body has more than %d KiB", limit>>10))
	case err != nil:
		return nil, orders.NewProblem(http.StatusBadRequest, "bad_body", "the body could not be read")
	}
	control.SetReadDeadline(time.Time{}) // keep the deadline after an error: the server would wait for the rest
	return text, nil
}

// Form reads a form of at most limit bytes. The returned function returns the value of a field.
// Browsers send line ends as CRLF, which Form replaces.
func Form(w http.ResponseWriter, r *http.Request, limit int64) (func(name string) string, error) {
	form, err := Values(w, r, limit)
	if err != nil {
		return nil, err
	}
	return func(name string) string { return strings.ReplaceAll(form.Get(name), "\r\n", "\n") }, nil
}

// Values returns all values of a posted form.
func Values(w http.ResponseWriter, r *http.Request, limit int64) (url.Values, error) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/x-www-form-urlencoded" {
		return nil, orders.NewProblem(http.StatusUnsupportedMediaType, "unsupported_media_type", "send application/x-www-form-urlencoded")
	}
	text, err := Body(w, r, limit)
	if err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(string(text))
	if err != nil {
		return nil, orders.NewProblem(http.StatusBadRequest, "bad_form", "the form could not be read")
	}
	return form, nil
}
