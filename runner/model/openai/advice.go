package openai

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/runner/model/internal/protocol"
)

// advice returns the beginning of the message for an error that the user can
// correct: the address
// and the setting to change.
func (c *Client) advice(status int, name string) string {
	switch {
	case status < 400:
		return fmt.Sprintf("%s does not answer; set %s to where it is: the address ", c.shown, c.baseName())
	case status == http.StatusUnauthorized && c.keyless:
		return fmt.Sprintf("%s requires a key; set %s: ", c.shown, c.keyName())
	case status == http.StatusUnauthorized:
		return fmt.Sprintf("%s does not take the key; set %s to one of its own: ", c.shown, c.keyName())
	case status == http.StatusNotFound:
		return fmt.Sprintf("%s does not know model %s, or the address is wrong; check the model's name and %s: ", c.shown, name, c.baseName())
	}
	return ""
}

// unreachable returns the beginning of the message for a failed connection.
func (c *Client) unreachable(reached bool) string {
	if reached {
		return c.shown + ": "
	}
	return fmt.Sprintf("%s cannot be reached; is it running, and is %s right? ", c.shown, c.baseName())
}

func (c *Client) baseName() string {
	return cmp.Or(c.provider.BaseEnv, "the base URL of "+c.provider.Name)
}

func (c *Client) keyName() string { return cmp.Or(c.provider.KeyEnv, "the key of "+c.provider.Name) }

// suspects returns the end of the message for a 400 or 422 error that names no
// parameter. It lists the parameters that the endpoint may not support.
func (q *question) suspects(status int, text string) string {
	if q.r.Params == nil || status != http.StatusBadRequest && status != http.StatusUnprocessableEntity {
		return ""
	}
	asks := slices.DeleteFunc(q.r.Params.Asks(), func(name string) bool { return name == "no_format" || name == "extra" })
	asks = append(asks, protocol.Names(q.r.Params.Extra)...)
	named := func(name string) bool { return strings.Contains(text, name) }
	words := asks
	for _, m := range q.c.protocol.Optional(q.query()) {
		words = append(words, m.Words...)
	}
	if len(asks) == 0 || slices.ContainsFunc(words, named) {
		return ""
	}
	return "; the request asks for " + strings.Join(asks, ", ") + ", which the endpoint may not take"
}
