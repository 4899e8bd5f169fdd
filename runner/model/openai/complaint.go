package openai

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/runner/model"
)

// longMessage is how many bytes of what an endpoint says a failure carries.
const longMessage = 2000

// A complaint is what endpoints put in the body of an answer that is an error:
// {"error": {"message", "code", "type", "param"}} or {"error": "…"},
// {"message": "…"}, {"detail": …}; some put that into a list.
type complaint struct {
	Error   json.RawMessage `json:"error"`
	Message string          `json:"message"`
	Detail  json.RawMessage `json:"detail"`
}

type detailed struct {
	Message string          `json:"message"`
	Code    json.RawMessage `json:"code"` // a word, a number or null
	Type    string          `json:"type"`
	Param   string          `json:"param"`
	Details json.RawMessage `json:"details"` // with Google a list
}

// wait is how long a complaint asks to wait, where it does: with Google it stands
// there and in no header.
func (d detailed) wait() (wait time.Duration) {
	for _, detail := range elements(d.Details) {
		for name, value := range members(detail) {
			if after, err := time.ParseDuration(word(value)); string(name) == "retryDelay" && err == nil {
				wait = max(wait, after)
			}
		}
	}
	return wait
}

// failureOf is the failure that a body means; status 0 is for one that came
// in an answer that seemed well. nil if there is no complaint in it then.
func failureOf(status int, body []byte) *model.Failure {
	if text := strings.TrimSpace(string(body[:min(len(body), 1)])); text == "[" {
		var list []json.RawMessage
		if json.Unmarshal(body, &list) == nil && len(list) > 0 {
			body = list[0]
		}
	}
	var c complaint
	_ = json.Unmarshal(body, &c) // what does not fit leaves its field empty
	var d detailed
	said := len(c.Error) > 0 && string(c.Error) != "null" && string(c.Error) != `""`
	if said && json.Unmarshal(c.Error, &d.Message) != nil {
		_ = json.Unmarshal(c.Error, &d)
	}
	if status == 0 && !said {
		return nil
	}
	code := strings.Trim(string(c.code(d)), `"`)
	if n, err := strconv.Atoi(code); status == 0 && err == nil && n >= 400 && n <= 599 {
		status = n
	}
	return classify(status, code, d, c.text(d, body))
}

func (c complaint) code(d detailed) json.RawMessage {
	if len(d.Code) == 0 || string(d.Code) == "null" {
		return json.RawMessage(d.Type)
	}
	return d.Code
}

// text is the first thing in a complaint that can be read.
func (c complaint) text(d detailed, body []byte) string {
	text := d.Message
	for _, other := range []string{c.Message, string(c.Detail), string(c.Error), string(body)} {
		if text == "" || text == "null" {
			text = strings.TrimSpace(other)
		}
	}
	if d.Param != "" && !strings.Contains(text, d.Param) {
		text += " (" + d.Param + ")"
	}
	return text
}

// classify takes account of what the status does not tell: that an account is
// empty, or that it is the content that is not wanted.
func classify(status int, code string, d detailed, text string) *model.Failure {
	f := model.FailureOf(status, text)
	f.RetryAfter = d.wait()
	switch words := []string{code, d.Type}; {
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
