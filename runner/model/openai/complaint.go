package openai

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/runner/internal/jsontree"
	"github.com/seed61713e19/capstan/runner/model"
)

// longMessage is how many bytes of what an endpoint says a failure carries.
const longMessage = 2000

// A complaint is an error that an endpoint reports, in one of the forms
// {"error": {"message", "code", "type", "param"}}, {"error": "…"}, {"message": "…"} and
// {"detail": …}. Some endpoints put it into a list.
type complaint struct {
	err, message, detail jsontree.Value
}

func complaintOf(v jsontree.Value) (c complaint) {
	for first := range v.Elements() {
		v = first
		break
	}
	for name, value := range v.Members() {
		switch string(name) {
		case "error":
			c.err = value
		case "message":
			c.message = value
		case "detail":
			c.detail = value
		}
	}
	return c
}

// hasError reports whether there is an error, not null or "".
func (c complaint) hasError() bool {
	raw := c.err.Raw()
	return len(raw) > 0 && string(raw) != "null" && string(raw) != `""`
}

type details struct {
	message, kind, param string
	code                 jsontree.Value // a word, a number or null
	more                 jsontree.Value // with Google a list
}

func detailsOf(v jsontree.Value) (d details) {
	d.message, _ = v.Text()
	for name, value := range v.Members() {
		switch string(name) {
		case "message":
			d.message, _ = value.Text()
		case "type":
			d.kind, _ = value.Text()
		case "param":
			d.param, _ = value.Text()
		case "code":
			d.code = value
		case "details":
			d.more = value
		}
	}
	return d
}

// wait returns how long the endpoint asks to wait. Google sends it here and in no
// header.
func (d details) wait() (wait time.Duration) {
	for detail := range d.more.Elements() {
		for name, value := range detail.Members() {
			if string(name) != "retryDelay" {
				continue
			}
			if after, err := time.ParseDuration(word(value)); err == nil {
				wait = max(wait, after)
			}
		}
	}
	return wait
}

// parseComplaint parses the body of an error. Its texts are only shown, so that
// invalid UTF-8 is accepted. A body that is no JSON gives a missing value.
func parseComplaint(body []byte) jsontree.Value {
	v, _ := jsontree.Parse(context.Background(), body[:min(len(body), maxComplaint)], jsontree.Options{InvalidUTF8: true})
	return v
}

// failureOf returns the failure that a body with an HTTP status means. Status 0 is
// that of a body in a successful reply: without an error in the body, failureOf
// returns nil.
func failureOf(status int, body []byte) *model.Failure {
	c := complaintOf(parseComplaint(body))
	if status == 0 && !c.hasError() {
		return nil
	}
	return c.failure(status, body)
}

// reported returns the failure that v, an error in a successful reply, means. The
// text of v is data.
func reported(v jsontree.Value, data []byte) *model.Failure {
	if c := complaintOf(v); c.hasError() {
		return c.failure(0, data)
	}
	return complaint{err: v}.failure(0, data)
}

// failure returns the failure that a complaint in a body means.
func (c complaint) failure(status int, body []byte) *model.Failure {
	var d details
	if c.hasError() {
		d = detailsOf(c.err)
	}
	code := cmp.Or(word(d.code), d.kind)
	if n, err := strconv.Atoi(code); status == 0 && err == nil && n >= 400 && n <= 599 {
		status = n
	}
	return classify(status, code, d, c.text(d, body))
}

// text returns the first readable text of a complaint.
func (c complaint) text(d details, body []byte) string {
	text := d.message
	for _, other := range []string{word(c.message), string(c.detail.Raw()), string(c.err.Raw()), string(body)} {
		if text == "" || text == "null" {
			text = strings.TrimSpace(other)
		}
	}
	if d.param != "" && !strings.Contains(text, d.param) {
		text += " (" + d.param + ")"
	}
	return text
}

// classify returns the failure of a status. The code or the type of the error decides
// where the status does not: for an empty account, and for refused content.
func classify(status int, code string, d details, text string) *model.Failure {
	f := model.FailureOf(status, text)
	f.RetryAfter = d.wait()
	switch words := []string{code, d.kind}; {
	case slices.Contains(words, "insufficient_quota"), slices.Contains(words, "billing_hard_limit_reached"),
		slices.Contains(words, "billing_not_active"):
		f.Class = model.Rejected
	case slices.Contains(words, "content_filter"), slices.Contains(words, "content_policy_violation"):
		f.Class = model.Refused
	case status == 0:
		f.Class = model.Unavailable
	}
	return f
}

// tidy makes a failure's message fit to be shown: without the key, in one
// piece, not too long.
func (c *Client) tidy(f *model.Failure) *model.Failure {
	text := c.redact(f.Message)
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	f.Message = cmp.Or(model.Cut(text, longMessage), http.StatusText(f.Status))
	return f
}

// redact takes the secrets out of a text.
func (c *Client) redact(text string) string {
	for _, secret := range c.secrets {
		text = strings.ReplaceAll(text, secret, "[key]")
	}
	return text
}

// retryAfter is how long an answer's headers ask to wait; 0 if they do not.
// Where only the rate limits stand there, it is until those that are used up
// are reset.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return seconds(ms / 1000)
	}
	after := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(after, 64); err == nil {
		return seconds(s)
	}
	if t, err := http.ParseTime(after); err == nil {
		return max(t.Sub(now), 0)
	}
	var most time.Duration
	for _, what := range []string{"Requests", "Tokens"} {
		if h.Get("X-Ratelimit-Remaining-"+what) == "0" {
			d, _ := time.ParseDuration(h.Get("X-Ratelimit-Reset-" + what))
			most = max(most, d)
		}
	}
	return most
}

// seconds is s as a duration, between none and a day.
func seconds(s float64) time.Duration {
	if !(s > 0) { // NaN too
		return 0
	}
	return time.Duration(min(s, 24*60*60) * float64(time.Second))
}
