package codec

import (
	"errors"
	"fmt"
	"strings"

	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
)

// A Reply is the part of a model's effect that statistics need.
type Reply struct {
	Model     string    `json:"model"`
	Phase     string    `json:"phase"`
	Validator string    `json:"validator"`
	Role      string    `json:"role"`
	Attempt   int       `json:"attempt"`
	Response  *Response `json:"response"` // nil if the call gave none
}

// A Response is the part of a model's response that statistics need.
type Response struct {
	Text  string      `json:"text"` // its name; "" for a text that only a check or an evaluator reads
	Model string      `json:"model"`
	Usage model.Usage `json:"usage"`
}

// Reply decodes the effect of a model. The row of a dropped time limit has no response.
func (l *StoredRow) Reply() (r Reply, err error) {
	if raw := l.Peek(); len(raw) > 0 {
		err = schema.Unmarshal(raw, &r)
	}
	if r.Response != nil {
		if r.Validator != "" || r.Role != "" {
			r.Response.Text = ""
		}
		r.Response.Text = nameOf(r.Response.Text)
	}
	return r, err
}

// Verdict decodes a verdict. Long texts in it stay names.
func (l *StoredRow) Verdict() (*event.Verdict, error) {
	var b struct {
		Verdict *event.Verdict `json:"verdict"`
	}
	if err := schema.Unmarshal(l.Peek(), &b); err != nil {
		return nil, err
	}
	if b.Verdict == nil {
		return nil, errors.New("the row has no verdict")
	}
	b.Verdict.Path = l.Path
	return b.Verdict, nil
}

// An AttemptEnd is the end of an attempt or of a visit.
type AttemptEnd struct {
	Phase   string `json:"phase"`
	Status  string `json:"status"`
	Text    string `json:"text"` // its name
	Attempt int    `json:"attempt"`
}

// AttemptEnd decodes the end of an attempt or of a visit.
func (l *StoredRow) AttemptEnd() (e AttemptEnd, err error) {
	err = schema.Unmarshal(l.Peek(), &e)
	e.Text = nameOf(e.Text)
	return e, err
}

// nameOf returns the name of a stored text, which may be a name already.
func nameOf(text string) string {
	if name, ok := strings.CutPrefix(text, Reference[1:]); ok && len(name) == NameDigits || text == "" {
		return name
	}
	return fmt.Sprintf("%x", DigestOf([]byte(text)))
}
