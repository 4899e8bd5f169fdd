package openai

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/internal/clips"
	"github.com/seed61713e19/capstan/runner/model"
)

// longMessage is the maximum length of an endpoint's message in a failure, in
// bytes.
const longMessage = 2000

// tidy removes the key, line breaks and the end of a long text from the message
// of a failure.
func (c *Client) tidy(f *model.Failure) *model.Failure {
	text := c.redact(f.Message)
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	f.Message = cmp.Or(clips.Sized(text, longMessage), http.StatusText(f.Status))
	return f
}

// redact replaces the secrets in a text.
func (c *Client) redact(text string) string {
	for _, secret := range c.secrets {
		text = strings.ReplaceAll(text, secret, "[key]")
	}
	return text
}

// retryAfter returns the time that the headers ask to wait, or 0. Without
// Retry-After, it is the
// time until the exhausted rate limits are reset.
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

// seconds returns a duration of at most one day. The minimum is 0.
func seconds(s float64) time.Duration {
	if !(s > 0) { // also NaN
		return 0
	}
	return time.Duration(min(s, 24*60*60) * float64(time.Second))
}
