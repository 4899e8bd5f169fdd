package protocol

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/internal/jsontree"
)

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

// wait returns the wait that the endpoint requests. Google sends it in the body
// and not in a header.
func (d details) wait() (wait time.Duration) {
	for detail := range d.more.Elements() {
		for name, value := range detail.Members() {
			if string(name) != "retryDelay" {
				continue
			}
			if after, err := time.ParseDuration(Word(value)); err == nil {
				wait = max(wait, after)
			}
		}
	}
	return wait
}

// MaxComplaint is the maximum number of bytes of an error that are read.
const MaxComplaint = 1 << 20

// ParseComplaint parses the body of an error. Its texts are only shown, so
// invalid UTF-8 is accepted. The result for a body without JSON is a missing
// value.
func ParseComplaint(body []byte) jsontree.Value {
	v, _ := jsontree.Parse(context.Background(), body[:min(len(body), MaxComplaint)], jsontree.Options{InvalidUTF8: true})
	return v
}

// FailureOf returns the failure that a body with an HTTP status means. Status 0 is
// that of a body in a successful reply: without an error in the body, FailureOf
// returns nil.
func FailureOf(status int, body []byte) *model.Failure {
	c := complaintOf(ParseComplaint(body))
	if status == 0 && !c.hasError() {
		return nil
	}
	return c.failure(status, body)
}

// Reported returns the failure that v, an error in a successful reply, means. The
// text of v is data.
func Reported(v jsontree.Value, data []byte) *model.Failure {
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
	code := cmp.Or(Word(d.code), d.kind)
	if n, err := strconv.Atoi(code); status == 0 && err == nil && n >= 400 && n <= 599 {
		status = n
	}
	if status == 0 {
		status = statuses()[d.kind]
	}
	return classify(status, code, d, c.text(d, body))
}

// text returns the first readable text of a complaint.
func (c complaint) text(d details, body []byte) string {
	text := d.message
	for _, other := range []string{Word(c.message), string(c.detail.Raw()), string(c.err.Raw()), string(body)} {
		if text == "" || text == "null" {
			text = strings.TrimSpace(other)
		}
	}
	if d.param != "" && !strings.Contains(text, d.param) {
		text += " (" + d.param + ")"
	}
	return text
}

// The table has the statuses of error types, for an error in a reply that began with
// status 200. Its columns are the type, the status, a vendor's documentation, a type
// that matches and one that does not.
//
//go:embed tables/errors.tsv
var errorTable string

var statuses = sync.OnceValue(func() map[string]int {
	all := map[string]int{}
	for line := range strings.Lines(errorTable) {
		cells := strings.Split(line, "\t")
		if status, err := strconv.Atoi(cells[1]); err == nil {
			all[cells[0]] = status
		}
	}
	return all
})

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
	case status == 0 && slices.Contains(words, "rate_limit_exceeded"):
		f.Class = model.RateLimited
	case status == 0 && slices.Contains(words, "invalid_prompt"):
		f.Class = model.Rejected
	case status == 0:
		f.Class = model.Unavailable
	}
	return f
}

// ErrInvalid returns the failure of an answer with invalid UTF-8.
func ErrInvalid() *model.Failure {
	return &model.Failure{Class: model.Unavailable, Message: "the reply has invalid UTF-8"}
}

// ErrManyCalls returns the failure of an answer with more than [MaxCalls] tool calls.
func ErrManyCalls() *model.Failure {
	return &model.Failure{Class: model.Unusable, Message: fmt.Sprintf("the model wants more than %d tools called at once", MaxCalls)}
}
